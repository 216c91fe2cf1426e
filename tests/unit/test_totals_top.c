/* SPDX-License-Identifier: BSD-3-Clause */
/* The most memory of a span is that of one moment, and no span has less than one within it; PSS is
 * drawn where it is known. */
#include "run.h"

#include "analyze/totals.h"
#include "report/picture.h"

#include "base/mem.h"

#define MS     INT64_C(1000000)
#define MB     INT64_C(1000000)
#define ROUNDS 400

enum { RSS, PSS, AGE, CPU, COLUMNS };

static const struct tg_metric metric[COLUMNS] = {
	[RSS] = { "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[PSS] = { "tree.pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[AGE] = { "tree.pss_age_ns", "ns", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[CPU] = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
};

/* A recording that is being written; times are ms from its beginning. */
struct made {
	struct tg_writer *w;
	struct tg_block *rows;
	struct tg_process_block *peaks;
	int spans;
};

static struct made begin(void)
{
	struct made m = { .rows = tg_block_new(1, COLUMNS, 1024), .peaks = tg_process_block_new() };
	struct tg_column column[COLUMNS] = { 0 };
	struct tg_err err = { 0 };

	unlink(run_path("run.tacho"));
	if (tg_writer_open(&m.w, run_path("run.tacho"), RUN_SESSION, &err) < 0)
		exit(1);
	for (size_t i = 0; i < COLUMNS; i++)
		column[i].metric = &metric[i];
	tg_writer_table(m.w, 1, "main", column, COLUMNS);
	return m;
}

static void event(const struct made *m, const char *ev, double ms, const char *more)
{
	struct tg_buf e = TG_BUF_INIT;

	tg_buf_addf(&e, "{\"ev\":\"%s\",\"t\":%lld,%s}", ev,
		(long long)(RUN_T0 + (int64_t)(ms * 1e6)), more);
	run_event(m->w, e.data);
	tg_buf_release(&e);
}

static void span(struct made *m, const char *kind, double from_ms, double to_ms)
{
	char more[128];

	m->spans++;
	snprintf(more, sizeof(more), "\"span\":%d,\"id\":\"s-%d\",\"kind\":\"%s\"", m->spans,
		m->spans, kind);
	event(m, "begin", from_ms, more);
	snprintf(more, sizeof(more), "\"span\":%d,\"status\":\"ok\"", m->spans);
	event(m, "end", to_ms, more);
}

static void process(const struct made *m, int entity, double from_ms, double to_ms)
{
	char more[128];

	snprintf(more, sizeof(more), "\"entity\":%d,\"pid\":%d,\"comm\":\"fit\"", entity,
		4711 + entity);
	event(m, "birth", from_ms, more);
	if (to_ms >= 0)
		event(m, "death", to_ms, more);
}

/* pss_mb below 0: none */
static void row(struct made *m, double ms, int64_t rss_mb, int64_t pss_mb, double found_ms)
{
	const int64_t v[COLUMNS] = { rss_mb * MB, pss_mb < 0 ? TG_MISSING : pss_mb * MB,
		pss_mb < 0 ? TG_MISSING : (int64_t)((ms - found_ms) * 1e6), (int64_t)(ms * 1e6) };

	tg_block_add(m->rows, RUN_T0 + (int64_t)(ms * 1e6), v);
}

static void hwm(struct made *m, double ms, uint32_t entity, int64_t mb)
{
	tg_process_block_add(m->peaks, &(struct tg_process_cell){ RUN_T0 + (int64_t)(ms * 1e6),
					       entity, TG_PROCESS_HWM_BYTES, mb * MB });
}

static struct tg_recording *load(struct made *m)
{
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };

	tg_writer_block(m->w, m->rows);
	tg_writer_processes(m->w, m->peaks);
	tg_writer_finish(m->w);
	tg_block_free(m->rows);
	tg_process_block_free(m->peaks);
	if (tg_recording_open(&r, run_path("run.tacho"), &err) < 0)
		exit(1);
	return r;
}

/* The peak of the n-th span: what it is, in `mb`. */
static const char *peak(struct tg_recording *r, size_t n, double *mb)
{
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[n], &t), 0);
	*mb = t.mem_peak_bytes / 1e6;
	return t.mem_peak_is;
}

/*
 * pitfall 14: one process alone has 710 MB half a second after PSS was found, when it had 629;
 * others live at another time
 */
static void test_alone(void)
{
	struct made m = begin();
	struct tg_recording *r;
	double mb;

	process(&m, 1, 0, -1);
	process(&m, 2, 0, 1200);
	span(&m, "run", 0, 4000);
	span(&m, "cell", 100, 1000);
	span(&m, "cell", 1500, 3500);
	row(&m, 100, 600, 300, 50);
	row(&m, 500, 600, 300, 500);
	row(&m, 1000, 600, 300, 500);
	row(&m, 1300, 300, 290, 1300);
	row(&m, 1500, 300, 290, 1300);
	row(&m, 1800, 632, 629, 1800);
	row(&m, 2200, 690, 629, 1800); /* within a tenth: it stands */
	row(&m, 2300, 710, -1, -1);
	row(&m, 2500, 410, -1, -1);
	row(&m, 3500, 410, 399, 3500);
	row(&m, 4000, 410, 399, 3500);
	r = load(&m);
	T_EQ_S(peak(r, 1, &mb), "PSS");
	T_NEAR(mb, 300, 0);
	T_EQ_S(peak(r, 2, &mb), "RSS");
	T_NEAR(mb, 710, 0);
	T_EQ_S(peak(r, 0, &mb), "RSS");
	T_NEAR(mb, 710, 0);
	tg_recording_close(r);
}

/*
 * Workers come one after the other and go so, while PSS is found once: it tells of them all. What
 * was loaded and freed before they came it does not tell of.
 */
static void test_tells(void)
{
	for (int freed = 0; freed < 2; freed++) {
		struct made m = begin();
		struct tg_recording *r;
		double mb;

		process(&m, 1, 0, -1);
		process(&m, 2, 0, -1);
		span(&m, "cell", 100, 2000);
		row(&m, 100, 200, -1, -1);
		row(&m, 200, freed ? 1000 : 200, -1, -1);
		row(&m, 300, 200, -1, -1);
		row(&m, 400, 900, -1, -1);
		row(&m, 500, 1800, -1, -1);
		row(&m, 600, 1800, 300, 600);
		row(&m, 1500, 1200, -1, -1);
		row(&m, 2000, 200, -1, -1);
		r = load(&m);
		T_EQ_S(peak(r, 0, &mb), freed ? "RSS" : "PSS");
		T_NEAR(mb, freed ? 1000 : 300, 0);
		tg_recording_close(r);
	}
}

/* Rows at edges, mostly; else ten or so a second; memory that comes and goes, and is looked at. */
static struct tg_recording *random_one(uint64_t *seed)
{
	struct made m = begin();
	double t = 0, edge[256], end = 4000, found = -1, next_look = 300;
	int64_t rss = 200, pss = -1, looked = 0, risen[4] = { 0 };
	size_t n = 0, k = 0;

	for (double at = 50; at < end && n < TG_ARRAY_SIZE(edge) - 8;) {
		double length = (double)(t_random(seed) % 9 ? t_random(seed) % 900 : 0) + 0.2;
		double to = at + length, a = at + length / 3, b = at + length / 2;

		if (to >= end)
			break;
		span(&m, "cell", at, to);
		edge[n++] = at;
		if (t_random(seed) % 3 == 0) {
			span(&m, "block", a, b);
			edge[n++] = a;
			edge[n++] = b;
		}
		edge[n++] = to;
		at = to + (double)(t_random(seed) % 4 ? t_random(seed) % 3 : t_random(seed) % 800) +
		     0.05;
	}
	span(&m, "run", 0, end);
	process(&m, 1, 0, -1);
	for (int i = 2; i < 5; i++) {
		double from = (double)(t_random(seed) % 4000);

		process(&m, i, from, from + (double)(t_random(seed) % 2000));
	}
	while (t < end) {
		double next = t + 20 + (double)(t_random(seed) % 150);

		if (k < n && edge[k] < next) {
			double late = (double)(t_random(seed) % 6) / 10 - 0.1;

			next = fmax(edge[k++] + late, t + 0.01);
			if (t_random(seed) % 5 == 0)
				continue; /* no row was taken at it */
		}
		t = next;
		if (t_random(seed) % 8 == 0)
			rss = 100 + (int64_t)(t_random(seed) % 1900);
		else
			rss += (int64_t)(t_random(seed) % 40) - 20;
		rss = TG_MAX(rss, 50);
		if (t > next_look) {
			pss = rss - (int64_t)(t_random(seed) % (uint64_t)rss) * 9 / 10;
			looked = rss;
			found = t - (double)(t_random(seed) % 30);
			next_look = t + 100 + (double)(t_random(seed) % 1000);
		}
		if (llabs(rss - looked) * 10 > looked || t_random(seed) % 3 == 0)
			row(&m, t, rss, -1, -1);
		else
			row(&m, t, rss, pss, found);
		if (t_random(seed) % 8 == 0) {
			size_t who = t_random(seed) % TG_ARRAY_SIZE(risen);

			risen[who] = TG_MAX(risen[who], rss / 4 + (int64_t)(t_random(seed) % 300));
			hwm(&m, t, (uint32_t)who + 1, risen[who]);
		}
	}
	return load(&m);
}

/* pitfall 14: no cell has more than its run, and no block more than its cell */
static void test_nested(void)
{
	uint64_t seed = 14;
	size_t wrong = 0, pairs = 0, of_pss = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct tg_recording *r = random_one(&seed);
		double *mb = tg_xcalloc(r->n_spans, sizeof(*mb));

		for (size_t i = 0; i < r->n_spans; i++) {
			struct tg_totals t;

			if (tg_totals_of(r, &r->span[i], &t) < 0)
				exit(1);
			mb[i] = t.mem_peak_bytes;
			of_pss += t.mem_peak_is && !strcmp(t.mem_peak_is, "PSS");
			wrong += t.mem_peak_bytes > t.rss_peak_bytes;
			/* between two rows it is a guess, which may be of what was behind a cell */
			if (!t.samples && strcmp(r->span[i].kind, "run") != 0)
				mb[i] = NAN;
		}
		for (size_t i = 0; i < r->n_spans; i++) {
			for (size_t k = 0; k < r->n_spans; k++) {
				const struct tg_span *out = &r->span[i], *in = &r->span[k];

				if (in->begin_ns < out->begin_ns || in->end_ns > out->end_ns)
					continue;
				pairs++;
				if (mb[k] > mb[i] && !wrong++)
					printf("# round %d: %s %zu %g < %s %zu %g\n", round,
						out->kind, i, mb[i], in->kind, k, mb[k]);
			}
		}
		free(mb);
		tg_recording_close(r);
	}
	T_EQ_I(wrong, 0);
	T_OK(pairs > ROUNDS);
	T_OK(of_pss > ROUNDS / 4);
	printf("# %zu pairs, %zu of PSS\n", pairs, of_pss);
}

/* pitfall 14: PSS is drawn where it is known, and nowhere above RSS */
static void check_lines(const struct tg_panel *panel, size_t *drawn)
{
	const struct tg_series *rss = &panel->series[0], *pss = &panel->series[1];
	size_t wrong = 0;

	if (panel->n_series < 2)
		return;
	T_EQ_S(pss->name, "PSS");
	T_EQ_I(pss->n_buckets, rss->n_buckets);
	for (size_t j = 0; j < pss->n_buckets; j++) {
		const struct tg_bucket *a = &pss->bucket[j], *b = &rss->bucket[j];

		if (a->mean > b->mean || a->max > b->max || a->min > b->min)
			wrong++;
		*drawn += isnan(a->mean) ? 0U : 1U;
	}
	T_EQ_I(wrong, 0);
}

static void test_lines(void)
{
	uint64_t seed = 4;
	size_t drawn = 0;

	for (int round = 0; round < ROUNDS / 10; round++) {
		struct tg_recording *r = random_one(&seed);

		for (size_t i = 0; i < r->n_spans; i++) {
			const struct tg_span *span[] = { &r->span[i] };
			struct tg_chart chart;
			struct tg_err err = { 0 };

			if (tg_picture_draw(
				    &(struct tg_picture){ r, span, 1, "memory", false, 700 },
				    &chart, &err) == 0)
				check_lines(&chart.panel[0], &drawn);
			tg_chart_free(&chart);
		}
		tg_recording_close(r);
	}
	T_OK(drawn > 1000);
}

/* The line between two readings of PSS ends where RSS has fallen below it. */
static void test_fall(void)
{
	struct made m = begin();
	const struct tg_span *all[1];
	struct tg_recording *r;
	struct tg_chart chart;
	struct tg_err err = { 0 };
	size_t n = 0;

	process(&m, 1, 0, -1);
	span(&m, "cell", 0, 4000);
	for (int ms = 0; ms <= 4000; ms += 100) {
		bool read = ms % 1000 == 0 || ms == 1900, high = ms < 2600;

		row(&m, ms,
			ms == 2400 || ms == 2500 ? 710
			: high                   ? 640
						 : 410,
			!read || ms == 2000 ? -1
			: ms < 1000         ? 500
			: high              ? 629
					    : 399,
			ms);
	}
	r = load(&m);
	all[0] = &r->span[0];
	T_EQ_I(tg_picture_draw(
		       &(struct tg_picture){ r, all, 1, "memory", false, 700 }, &chart, &err),
		0);
	for (size_t j = 0; j < chart.panel[0].series[1].n_buckets; j++) {
		const struct tg_bucket *b = &chart.panel[0].series[1].bucket[j];

		if (b->t0 > 1.95 && b->t1 < 2.95) {
			T_OK(isnan(b->mean));
			n++;
		}
	}
	T_OK(n > 10);
	tg_chart_free(&chart);
	tg_recording_close(r);
}

int main(void)
{
	test_alone();
	test_tells();
	test_nested();
	test_lines();
	test_fall();
	unlink(run_path("run.tacho"));
	rmdir(run_dir());
	return t_done();
}
