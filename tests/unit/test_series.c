/* SPDX-License-Identifier: BSD-3-Clause */
/* Points, rates and bins: what is conserved, what is kept, and where nothing is drawn. */
#include "run.h"

#include <errno.h>

#include "analyze/window.h"

#include "base/mem.h"

#define MS TG_NS_PER_MS

/* A counter with ticks, edge rows, decreases and gaps; all from the seed. */
static void random_counter(struct tg_points *p, uint64_t *seed, double *rises)
{
	int64_t t = 1000 * MS, v = 5;

	*rises = 0;
	for (int i = 0; i < 400; i++) {
		uint64_t u = t_random(seed);
		bool cut = u % 37 == 0, down = u % 41 == 0;
		int64_t step = (int64_t)(u >> 20 & 0xffffff);

		t += u % 5 == 0 ? MS / 3 : (int64_t)(10 + u % 90) * MS;
		if (down)
			v = step / 2 < v ? step / 2 : v - 1;
		else
			v += step;
		if (!cut && !down && i)
			*rises += (double)step;
		tg_points_add(p, t, v, cut);
	}
	p->kind = TG_COUNTER;
}

/* The sum of rate * time is the sum of the increases; bins share it out without loss. */
static void test_rates_conserve(void)
{
	for (uint64_t k = 1; k <= 50; k++) {
		uint64_t seed = k * 7919;
		struct tg_points p = { 0 };
		struct tg_rates rates = { 0 };
		struct tg_bin bin[97];
		double rises, sum = 0, binned = 0;
		int64_t last = 0;
		bool in_order = true, proper = true;

		random_counter(&p, &seed, &rises);
		tg_rates_from(&p, &rates);
		for (size_t i = 0; i < rates.n; i++) {
			const struct tg_rate *r = &rates.rate[i];

			sum += r->per_s * (double)(r->t1_ns - r->t0_ns) / 1e9;
			in_order &= r->t0_ns >= last && r->t1_ns > r->t0_ns && r->per_s >= 0;
			in_order &= r->cut == (i == 0 || r->t0_ns != last);
			last = r->t1_ns;
		}
		tg_bins_rate(&rates, p.point[0].t_ns, p.point[p.n - 1].t_ns, bin, 97);
		for (size_t j = 0; j < 97; j++) {
			double known = 0;

			for (size_t i = 0; i < rates.n; i++) {
				int64_t a = TG_MAX(rates.rate[i].t0_ns, bin[j].t0_ns);
				int64_t b = TG_MIN(rates.rate[i].t1_ns, bin[j].t1_ns);

				known += b > a ? (double)(b - a) / 1e9 : 0;
			}
			if (known > 0)
				binned += bin[j].mean * known;
			proper &= known > 0 ? bin[j].min <= bin[j].mean && bin[j].mean <= bin[j].max
					    : isnan(bin[j].mean) && isnan(bin[j].min);
		}
		if (!T_NEAR(sum, rises, 1e-9 * rises + 1e-6) || !T_OK(in_order) ||
			!T_NEAR(binned, rises, 1e-9 * rises + 1e-6) || !T_OK(proper))
			fprintf(stderr, "# seed %llu\n", (unsigned long long)k);
		tg_points_release(&p);
		tg_rates_release(&rates);
	}
}

/* Whatever the number of bins: the smallest and the largest sample are in some bin. */
static void test_bins_keep_extremes(void)
{
	for (uint64_t k = 1; k <= 60; k++) {
		uint64_t seed = k * 104729;
		size_t n = 1 + (size_t)(t_random(&seed) % 300);
		struct tg_bin *bin = tg_xcalloc(n, sizeof(*bin));
		struct tg_points p = { 0 };
		int64_t t = 0, low = INT64_MAX, high = INT64_MIN;
		double min = INFINITY, max = -INFINITY;
		bool proper = true, edges = true;

		for (int i = 0; i < 500; i++) {
			int64_t v = (int64_t)(t_random(&seed) % 1000);

			if (t_random(&seed) % 100 == 0)
				v = 100000; /* a spike of one sample */
			t += 1 + (int64_t)(t_random(&seed) % 100) * MS;
			tg_points_add(&p, t, v, t_random(&seed) % 29 == 0);
			low = TG_MIN(low, v);
			high = TG_MAX(high, v);
		}
		tg_bins_gauge(&p, p.point[0].t_ns, t, bin, n);
		for (size_t j = 0; j < n; j++) {
			if (!isnan(bin[j].mean)) {
				min = fmin(min, bin[j].min);
				max = fmax(max, bin[j].max);
				proper &= bin[j].min <= bin[j].mean && bin[j].mean <= bin[j].max;
			}
			edges &= !j || bin[j].t0_ns == bin[j - 1].t1_ns;
		}
		edges &= bin[0].t0_ns == p.point[0].t_ns && bin[n - 1].t1_ns == t;
		if (!T_NEAR(min, (double)low, 0) || !T_NEAR(max, (double)high, 0) ||
			!T_OK(proper) || !T_OK(edges))
			fprintf(stderr, "# seed %llu, %zu bins\n", (unsigned long long)k, n);
		tg_points_release(&p);
		free(bin);
	}
}

/* A tick-fresh CPU clock read twice within 0.3 ms must not show 13 cores. */
static void test_close_points(void)
{
	struct tg_points p = { .kind = TG_COUNTER };
	struct tg_rates rates = { 0 };

	tg_points_add(&p, 0, 0, false);
	tg_points_add(&p, 100 * MS, 96 * MS, false);
	tg_points_add(&p, 100 * MS + MS / 3, 100 * MS, false);
	tg_points_add(&p, 200 * MS, 200 * MS, false);
	tg_points_add(&p, 201 * MS, 204 * MS, false);
	tg_rates_from(&p, &rates);
	T_EQ_I(rates.n, 2);
	for (size_t i = 0; i < rates.n; i++)
		T_OK(rates.rate[i].per_s < 1.1e9);
	tg_points_release(&p);
	tg_rates_release(&rates);
}

static double most_of(const struct tg_points *p, double *sum)
{
	struct tg_rates rates = { 0 };
	double most = 0;

	*sum = 0;
	tg_rates_from(p, &rates);
	for (size_t i = 0; i < rates.n; i++) {
		most = fmax(most, rates.rate[i].per_s);
		*sum += rates.rate[i].per_s / 1e9 *
			(double)(rates.rate[i].t1_ns - rates.rate[i].t0_ns);
	}
	tg_rates_release(&rates);
	return most / 1e9;
}

/*
 * pitfall 3, reports 1 and 2: two cores that are told in ticks of 10 ms each, at moments that are
 * exact, are never more than two, and nothing of what they did is lost but what a stretch between
 * two cuts has no room for: two ticks.
 */
static void test_no_more_than_cores(void)
{
	int over = 0;

	for (uint64_t k = 1; k <= 50; k++) {
		uint64_t seed = k * 15485863;
		struct tg_points p = { .kind = TG_COUNTER };
		double used[2] = { 0 }, sum, bounded, most;
		int64_t t = 0;
		int cuts = 0;

		for (int i = 0; i < 300; i++) {
			int64_t dt = (int64_t)(5 + t_random(&seed) % 150) * MS, v = 0;
			bool cut = i && t_random(&seed) % 20 == 0;

			t += dt;
			for (int c = 0; c < 2; c++) {
				used[c] += (double)dt * (t_random(&seed) % 4 ? 1 : 0.3);
				v += (int64_t)(used[c] / 1e7) * 10 * MS;
			}
			cuts += cut;
			tg_points_add(&p, t, v, cut);
		}
		over += most_of(&p, &sum) > 2;
		p.most_per_s = 2e9;
		most = most_of(&p, &bounded);
		if (!T_OK(most <= 2) || !T_OK(bounded <= sum * (1 + 1e-9)) ||
			!T_OK(bounded >= sum - (double)(cuts + 1) * 20e6 - 1))
			fprintf(stderr, "# seed %llu: %.9f cores, %.0f of %.0f\n",
				(unsigned long long)k, most, bounded, sum);
		tg_points_release(&p);
	}
	T_OK(over > 40);
}

/* What is above the allowed by more than ticks explain is shown; and the first is moved. */
static void test_allowed(void)
{
	struct tg_points p = { .kind = TG_COUNTER, .most_per_s = 4e9, .allowed_per_s = 1e9 };
	double sum;

	tg_points_add(&p, 0, 0, false);
	tg_points_add(&p, 100 * MS, 96 * MS, false);
	tg_points_add(&p, 200 * MS, 200 * MS, false);
	T_NEAR(most_of(&p, &sum), 1, 1e-9);
	T_NEAR(sum, 200 * MS, 1);
	tg_points_add(&p, 300 * MS, 500 * MS, false);
	tg_points_add(&p, 400 * MS, 500 * MS, false);
	T_NEAR(most_of(&p, &sum), 2.8, 0.21);
	T_NEAR(sum, 500 * MS, 1);
	tg_points_release(&p);
}

/* Reports 3 and 5: the first reading is a base only; a decrease gives no rate, neither negative nor
 * huge. */
static void test_bases(void)
{
	struct tg_points p = { .kind = TG_COUNTER };
	struct tg_rates rates = { 0 };

	tg_points_add(&p, 0, INT64_C(100000000000), false);
	tg_rates_from(&p, &rates);
	T_EQ_I(rates.n, 0);
	tg_points_add(&p, 100 * MS, 5, false);
	tg_points_add(&p, 200 * MS, 105, false);
	tg_rates_from(&p, &rates);
	T_EQ_I(rates.n, 1);
	T_NEAR(rates.rate[0].per_s, 1000, 1e-9);
	T_OK(rates.rate[0].cut);
	tg_points_release(&p);
	tg_rates_release(&rates);
}

static void test_gap_stays(void)
{
	struct tg_points p = { 0 };
	struct tg_bin bin[10];

	tg_points_add(&p, 0, 7, false);
	tg_points_add(&p, 100 * MS, 7, false);
	tg_points_add(&p, 900 * MS, 9, true);
	tg_points_add(&p, 1000 * MS, 9, false);
	tg_bins_gauge(&p, 0, 1000 * MS, bin, 10);
	T_NEAR(bin[0].mean, 7, 0);
	T_NEAR(bin[1].mean, 7, 0);
	for (int j = 2; j < 9; j++)
		T_OK(isnan(bin[j].mean) && isnan(bin[j].min) && isnan(bin[j].max));
	T_NEAR(bin[9].mean, 9, 0);
	tg_points_release(&p);
}

/* More bins than samples: between joined samples there is the line, not a gap. */
static void test_line_between(void)
{
	struct tg_points p = { 0 };
	struct tg_bin bin[100];
	bool all = true;

	tg_points_add(&p, 0, 0, false);
	tg_points_add(&p, 1000 * MS, 1000, false);
	tg_bins_gauge(&p, 0, 1000 * MS, bin, 100);
	for (int j = 0; j < 100; j++)
		all &= !isnan(bin[j].mean);
	T_OK(all);
	T_NEAR(bin[50].mean, 505, 1);
	tg_points_release(&p);
}

/* From a file: idle at 1 Hz is no gap, neither are rows without the node's columns. */
static void test_load(void)
{
	const char *path = run_path("series.tacho");
	struct tg_recording *r = NULL;
	struct tg_points p = { 0 };
	size_t cuts = 0;
	char **name;

	run_write(path, 0);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_series_load(r, "tree.cpu_ns", NULL, RUN_REAL, RUN_REAL + 11 * TG_NS_PER_S, 0, &p),
		0);
	for (size_t i = 0; i < p.n; i++)
		cuts += p.point[i].cut;
	T_EQ_I(cuts, 1);
	T_EQ_I(p.n, 6 + 11 + 20 - 2 + 30 - 3);
	T_EQ_I(p.point[0].t_ns, RUN_REAL + 20 * MS);
	tg_points_release(&p);
	/* a window gets its neighbours on both sides */
	T_EQ_I(tg_series_load(r, "node.cpu_busy_ns", NULL, RUN_REAL + 3 * TG_NS_PER_S,
		       RUN_REAL + 3 * TG_NS_PER_S + 50 * MS, 0, &p),
		0);
	T_EQ_I(p.n, 3);
	T_EQ_I(p.point[0].t_ns, RUN_REAL + 2920 * MS);
	T_EQ_I(p.point[2].t_ns, RUN_REAL + 3120 * MS);
	tg_points_release(&p);
	/* instances are added up row by row */
	T_EQ_I(tg_series_load(
		       r, "core.busy_ns", NULL, RUN_REAL, RUN_REAL + 10 * TG_NS_PER_S, 0, &p),
		0);
	T_NEAR((double)p.point[p.n - 1].value, 2e9 + 4 * 0.8 * 3e9, 1000);
	tg_points_release(&p);
	T_EQ_I(tg_series_load(r, "no.such", NULL, RUN_REAL, RUN_REAL + 1, 0, &p), -ENOENT);
	T_EQ_I(tg_series_instances(r, "core.busy_ns", &name), 4);
	T_EQ_S(name[3], "cpu3");
	for (int i = 0; i < 4; i++)
		free(name[i]);
	free(name);
	tg_recording_close(r);
	unlink(path);
}

/* The pace was slow for a while between two samples at the fast one: no gap. */
static void test_pace(void)
{
	const char *path = run_path("pace.tacho");
	struct tg_column column = { &run_metric[0], "" };
	struct tg_block *b = tg_block_new(0, 1, 40);
	struct tg_recording *r = NULL;
	struct tg_points p = { 0 };
	struct tg_writer *w;
	size_t cuts = 0;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"interval\",\"t\":1000000000000,\"ns\":100000000}");
	run_event(w, "{\"ev\":\"interval\",\"t\":1001000000000,\"ns\":1000000000}");
	run_event(w, "{\"ev\":\"interval\",\"t\":1001500000000,\"ns\":100000000}");
	b->table = tg_writer_next_table(w);
	tg_writer_table(w, b->table, "main", &column, 1);
	for (int i = 0; i < 20; i++) /* 0 to 0.9 s, 1.6 to 2.1 s, 2.6 to 2.9 s */
		tg_block_add(b,
			RUN_T0 + (i < 10          ? i
					 : i < 16 ? i + 6
						  : i + 10) *
					 100 * MS,
			&(int64_t){ i });
	tg_writer_block(w, b);
	tg_writer_finish(w);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_series_load(r, "tree.cpu_ns", NULL, RUN_REAL, RUN_REAL + 3 * TG_NS_PER_S, 0, &p),
		0);
	for (size_t i = 0; i < p.n; i++)
		cuts += p.point[i].cut;
	T_EQ_I(cuts, 2);
	T_OK(!p.point[10].cut);
	T_OK(p.point[16].cut); /* 0.5 s at 10 Hz: that is one */
	tg_points_release(&p);
	tg_recording_close(r);
	tg_block_free(b);
	unlink(path);
}

/* Two tables follow each other: the same column goes on; a sum over more devices does not. */
static void test_restart(void)
{
	const char *path = run_path("restart.tacho");
	struct tg_column column[3] = {
		{ &run_metric[0], "" },
		{ &run_metric[11], "eth0" },
		{ &run_metric[11], "eth1" },
	};
	struct tg_block *b = tg_block_new(0, 2, 20), *c = tg_block_new(1, 3, 20);
	struct tg_recording *r = NULL;
	struct tg_points p = { 0 };
	struct tg_writer *w;
	size_t cuts = 0;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	b->table = tg_writer_next_table(w);
	tg_writer_table(w, b->table, "main", column, 2);
	for (int i = 0; i < 10; i++)
		tg_block_add(b, RUN_T0 + i * 100 * MS, (int64_t[]){ i * 10, i * 100 });
	tg_writer_block(w, b);
	c->table = tg_writer_next_table(w);
	tg_writer_table(w, c->table, "main", column, 3);
	for (int i = 10; i < 20; i++)
		tg_block_add(c, RUN_T0 + i * 100 * MS, (int64_t[]){ i * 10, i * 100, 5000000 });
	tg_writer_block(w, c);
	tg_writer_finish(w);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_series_load(r, "tree.cpu_ns", NULL, RUN_REAL, RUN_REAL + 2 * TG_NS_PER_S, 0, &p),
		0);
	for (size_t i = 0; i < p.n; i++)
		cuts += p.point[i].cut;
	T_EQ_I(p.n, 20);
	T_EQ_I(cuts, 1);
	tg_points_release(&p);
	T_EQ_I(tg_series_load(r, "net.rx_bytes", NULL, RUN_REAL, RUN_REAL + 2 * TG_NS_PER_S, 0, &p),
		0);
	T_EQ_I(p.n, 20);
	T_OK(p.point[10].cut);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_block_free(b);
	tg_block_free(c);
	unlink(path);
}

/*
 * From a file with missed ticks, missing values, silence, counters that begin anew and another
 * table in the middle: rates times time are what the counter rose while it was watched.
 */
static void test_file_conserves(void)
{
	const char *path = run_path("conserve.tacho");
	struct tg_column column[2] = { { &run_metric[0], "", 0 }, { &run_metric[3], "", 0 } };

	for (uint64_t k = 1; k <= 20; k++) {
		uint64_t seed = k * 32452843;
		struct tg_block *b = tg_block_new(0, 2, 100);
		struct tg_recording *r = NULL;
		struct tg_points p = { 0 };
		struct tg_writer *w;
		int64_t t = RUN_T0, v = 0, last = TG_MISSING;
		double rises = 0, sum;

		unlink(path);
		T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
		run_event(w, "{\"ev\":\"interval\",\"t\":1000000000000,\"ns\":100000000}");
		for (int part = 0; part < 3; part++) {
			b->table = tg_writer_next_table(w);
			tg_writer_table(w, b->table, "main", column, 2);
			b->n_rows = 0;
			for (int i = 0; i < 100; i++) {
				bool silent = t_random(&seed) % 25 == 0;
				bool anew = t_random(&seed) % 25 == 0;
				bool missing =
					i % 2 && !silent && !anew && t_random(&seed) % 5 == 0;

				t += silent                     ? 5 * TG_NS_PER_S
				     : t_random(&seed) % 8 == 0 ? 140 * MS
								: 100 * MS;
				v = anew ? v / 2 - 1 : v + (int64_t)(t_random(&seed) % 1000000);
				if (!silent && !anew && !missing && last != TG_MISSING)
					rises += (double)(v - last);
				if (!missing)
					last = v;
				tg_block_add(b, t, (int64_t[]){ i, missing ? TG_MISSING : v });
			}
			tg_writer_block(w, b);
		}
		tg_writer_finish(w);
		T_EQ_I(tg_recording_open(&r, path, NULL), 0);
		T_EQ_I(tg_series_load(r, "tree.read_bytes", NULL, RUN_REAL,
			       RUN_REAL + 1000 * TG_NS_PER_S, 0, &p),
			0);
		most_of(&p, &sum);
		if (!T_NEAR(sum, rises, 1e-9 * rises + 1))
			fprintf(stderr, "# seed %llu\n", (unsigned long long)k);
		tg_points_release(&p);
		tg_recording_close(r);
		tg_block_free(b);
	}
	unlink(path);
}

/* From a file the machine's cores are the bound, for all of it and for a part. */
static void test_bound_of_file(void)
{
	const char *path = run_path("bound.tacho");
	struct tg_column column = { &run_metric[13], "", 0 };
	struct tg_block *b = tg_block_new(0, 1, 20);
	struct tg_recording *r = NULL;
	struct tg_points p = { 0 };
	struct tg_writer *w;
	double sum;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	b->table = tg_writer_next_table(w);
	tg_writer_table(w, b->table, "main", &column, 1);
	for (int i = 0; i < 20; i++) /* 4.4 and 3 cores by turns */
		tg_block_add(b, RUN_T0 + i * 100 * MS, &(int64_t){ (i * 370 + i % 2 * 70) * MS });
	tg_writer_block(w, b);
	tg_writer_finish(w);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_series_load(
		       r, "node.cpu_busy_ns", NULL, RUN_REAL, RUN_REAL + 3 * TG_NS_PER_S, 0, &p),
		0);
	T_NEAR(most_of(&p, &sum), 4, 0);
	T_NEAR(sum / MS, 19 * 370 + 70, 1);
	tg_points_window(&p, RUN_REAL, RUN_REAL + 500 * MS);
	T_NEAR(most_of(&p, &sum), 4, 0);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_block_free(b);
	unlink(path);
}

/* What is read each 100 ms, and at edges besides, has no gap between rows that come each ms. */
static void test_seldom(void)
{
	const char *path = run_path("seldom.tacho");
	const char *pace = "{\"ev\":\"interval\",\"t\":1000000000000,\"ns\":1000000}\n";
	struct tg_column column[2] = { { &run_metric[0], "", 0 },
		{ &run_metric[11], "eth0", 100 * MS } };
	struct tg_block *b = tg_block_new(0, 2, 1000);
	struct tg_recording *r = NULL;
	struct tg_points p = { 0 };
	struct tg_writer *w;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	b->table = tg_writer_next_table(w);
	tg_writer_table(w, b->table, "main", column, 2);
	tg_writer_events(w, pace, strlen(pace));
	for (int i = 0; i < 1000; i++)
		tg_block_add(b, RUN_T0 + i * MS,
			(int64_t[]){ i, i % 100 == 0 || i % 100 < 40 ? i * 100 : TG_MISSING });
	tg_writer_block(w, b);
	tg_writer_finish(w);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_series_load(r, "net.rx_bytes", NULL, RUN_REAL, RUN_REAL + TG_NS_PER_S, 0, &p), 0);
	T_EQ_I(p.n, 400);
	for (size_t i = 1; i < p.n; i++)
		T_OK(!p.point[i].cut);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_block_free(b);
	unlink(path);
}

/* Pitfall 35: on a suspended machine the monotonic clock stood still, the date did not. */
static void test_clock_jump(void)
{
	struct tg_step step[] = { { 1000, 50000, NULL }, { 2000, 90000, NULL } };
	struct tg_span_session s = { .clock = { step, 2, 2 } };

	T_EQ_I(tg_session_utc(&s, 500), 50500);
	T_EQ_I(tg_session_utc(&s, 1999), 51999);
	T_EQ_I(tg_session_utc(&s, 2000), 92000);
	T_EQ_I(tg_session_mono(&s, 51500), 1500);
	T_EQ_I(tg_session_mono(&s, 92500), 2500);
	T_EQ_I(tg_session_mono(&s, 70000), 2000); /* while it slept */
}

int main(void)
{
	test_rates_conserve();
	test_bins_keep_extremes();
	test_close_points();
	test_no_more_than_cores();
	test_allowed();
	test_bases();
	test_gap_stays();
	test_line_between();
	test_load();
	test_pace();
	test_restart();
	test_seldom();
	test_file_conserves();
	test_bound_of_file();
	test_clock_jump();
	rmdir(run_dir());
	return t_done();
}
