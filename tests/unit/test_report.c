/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report is made of: averages, statistics, tables in memory, processes, and the page. */
#include "run.h"

#include <math.h>

#include "analyze/activity.h"
#include "analyze/describe.h"
#include "analyze/smooth.h"
#include "base/err.h"
#include "report/panels.h"
#include "report/report.h"

#include "base/mem.h"

#define S TG_NS_PER_S

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void set_bins(struct tg_bin *bin, size_t n, int64_t from, int64_t to)
{
	for (size_t i = 0; i < n; i++)
		bin[i] = (struct tg_bin){ .t0_ns = from + (to - from) * (int64_t)i / (int64_t)n,
			.t1_ns = from + (to - from) * (int64_t)(i + 1) / (int64_t)n };
}

static void test_smooth_gauge(void)
{
	struct tg_points p = { .kind = TG_GAUGE };
	struct tg_bin bin[10];

	/* 0 until 50 s, then 100; samples at uneven times say the same */
	tg_points_add(&p, 0, 0, false);
	tg_points_add(&p, 7 * S, 0, false);
	tg_points_add(&p, 50 * S, 0, false);
	tg_points_add(&p, 50 * S + 1, 100, false);
	tg_points_add(&p, 100 * S, 100, false);
	set_bins(bin, 10, 0, 100 * S);
	tg_smooth(&p, 20 * S, bin, 10);
	T_OK(near(bin[0].mean, 0) && near(bin[3].mean, 0));
	T_OK(fabs(bin[4].mean - 25) < 1e-6); /* 35 to 55 s: a quarter of it is 100 */
	T_OK(fabs(bin[5].mean - 75) < 1e-6 && near(bin[9].mean, 100));
	tg_points_release(&p);
}

static void test_smooth_gap(void)
{
	struct tg_points p = { .kind = TG_GAUGE, .scale = 1 };
	struct tg_bin bin[10];

	tg_points_add(&p, 0, 4, false);
	tg_points_add(&p, 40 * S, 4, false);
	tg_points_add(&p, 60 * S, 8, true); /* nothing is known between */
	tg_points_add(&p, 100 * S, 8, false);
	set_bins(bin, 10, 0, 100 * S);
	tg_smooth(&p, 10 * S, bin, 10);
	T_OK(near(bin[3].mean, 40) && isnan(bin[4].mean) && isnan(bin[5].mean) &&
		near(bin[6].mean, 80));
	tg_smooth(&p, 1000 * S, bin, 10); /* of all there is, where there is something */
	T_OK(near(bin[0].mean, 60) && isnan(bin[4].mean) && near(bin[9].mean, 60));
	tg_points_release(&p);
	set_bins(bin, 10, 0, 100 * S);
	tg_smooth(&p, 10 * S, bin, 10);
	T_OK(isnan(bin[0].mean));
}

static void test_smooth_counter(void)
{
	struct tg_points p = { .kind = TG_COUNTER };
	struct tg_bin bin[4];

	tg_points_add(&p, 0, 0, false);
	tg_points_add(&p, 10 * S, 100, false); /* 10 a second */
	tg_points_add(&p, 40 * S, 100, false); /* then nothing */
	set_bins(bin, 4, 0, 40 * S);
	tg_smooth(&p, 20 * S, bin, 4);
	T_OK(near(bin[0].mean, 100 / 15.0)); /* 0 to 15 s */
	T_OK(near(bin[1].mean, 5 * 10 / 20.0) && near(bin[2].mean, 0));
	tg_points_release(&p);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_describe(void)
{
	double few[] = { 4, 1, 3, 2 }, many[1000], sorted[1000];
	struct tg_description d;
	uint64_t seed = 7;

	tg_describe(few, 4, &d);
	T_OK(d.count == 4 && near(d.mean, 2.5) && near(d.std, sqrt(5 / 3.0)) && near(d.min, 1) &&
		near(d.q25, 1.75) && near(d.q50, 2.5) && near(d.q75, 3.25) && near(d.max, 4));
	tg_describe(few, 1, &d);
	T_OK(d.count == 1 && isnan(d.std) && d.q25 == d.max);
	tg_describe(few, 0, &d);
	T_OK(d.count == 0 && isnan(d.mean) && isnan(d.max));
	for (size_t n = 2; n <= 1000; n += n < 20 ? 1 : 49) {
		bool right = true;

		for (size_t i = 0; i < n; i++) /* with many that are the same */
			sorted[i] = many[i] = (double)(t_random(&seed) % (n / 2 + 1));
		qsort(sorted, n, sizeof(*sorted), compare);
		tg_describe(many, n, &d);
		for (int q = 1; q < 4; q++) {
			double at = 0.25 * q * (double)(n - 1);
			size_t k = (size_t)at;
			double want = sorted[k];

			if (k + 1 < n)
				want += (sorted[k + 1] - sorted[k]) * (at - (double)k);
			right &= near(q == 1 ? d.q25 : q == 2 ? d.q50 : d.q75, want);
		}
		T_OK(right && d.min == sorted[0] && d.max == sorted[n - 1]);
	}
}

/* ---- tables in memory ---- */

static int hash_block(void *ctx, const struct tg_block *block)
{
	uint64_t *sum = ctx;

	for (uint32_t i = 0; i < block->n_rows; i++)
		for (uint32_t c = 0; c < block->n_columns; c++)
			if (block->t_ns[i] >= RUN_T0 + 3 * S && block->t_ns[i] <= RUN_T0 + 7 * S)
				*sum = *sum * 31 + (uint64_t)block->values[c * block->cap + i] +
				       (uint64_t)block->t_ns[i];
	return 0;
}

static uint64_t sum_of(struct tg_reader *r, const uint32_t *column, size_t n)
{
	size_t n_tables;
	const struct tg_table *table = tg_reader_tables(r, &n_tables);
	uint64_t sum = 0;

	T_EQ_I(tg_reader_blocks(
		       r, &table[0], column, n, RUN_T0 + 3 * S, RUN_T0 + 7 * S, hash_block, &sum),
		0);
	return sum;
}

static void test_held(void)
{
	static const uint32_t list[][3] = { { 0 }, { 4 }, { 5, 1, 3 } };
	static const size_t n[] = { 1, 1, 3 };
	struct tg_reader *plain, *held, *small;

	run_write(run_path("held.tacho"), 0);
	T_EQ_I(tg_reader_open(&plain, run_path("held.tacho"), NULL), 0);
	T_EQ_I(tg_reader_open(&held, run_path("held.tacho"), NULL), 0);
	T_EQ_I(tg_reader_open(&small, run_path("held.tacho"), NULL), 0);
	tg_reader_hold(held, 1 << 20);
	tg_reader_hold(small, 100); /* does not fit: read as ever */
	for (int twice = 0; twice < 2; twice++)
		for (size_t i = 0; i < TG_ARRAY_SIZE(list); i++) {
			uint64_t want = sum_of(plain, list[i], n[i]);

			T_OK(want != 0);
			T_OK(sum_of(held, list[i], n[i]) == want);
			T_OK(sum_of(small, list[i], n[i]) == want);
		}
	tg_reader_close(plain);
	tg_reader_close(held);
	tg_reader_close(small);
}

/* ---- processes ---- */

static void event(struct tg_writer *w, const char *line)
{
	T_EQ_I(tg_writer_events(w, line, strlen(line)), 0);
}

/*
 * Ten seconds: "work" (entity 2) uses a core from 2 to 4 s and has 100 MB until it dies at 5 s;
 * "keep" (entity 1), there from the start with 9 s on its clock, uses half a core to the end.
 */
static void write_processes(const char *path)
{
	struct tg_process_block *cells = tg_process_block_new();
	struct tg_writer *w;

	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\",\"name\":\"x\"}"
		 "\n"
		 "{\"ev\":\"birth\",\"t\":1000000000000,\"entity\":1,\"pid\":10,\"ppid\":1,"
		 "\"comm\":\"keep\",\"args\":\"keep --on\"}\n"
		 "{\"ev\":\"birth\",\"t\":1002000000000,\"entity\":2,\"pid\":11,\"ppid\":10,"
		 "\"comm\":\"work\"}\n"
		 "{\"ev\":\"death\",\"t\":1005000000000,\"entity\":2,\"pid\":11,\"cpu_ns\":"
		 "2100000000}\n"
		 "{\"ev\":\"crowd\",\"t\":1006000000000,\"comm\":\"cc1\",\"births\":40,\"deaths\":"
		 "40,"
		 "\"cpu_ns\":500000000}\n"
		 "{\"ev\":\"crowd\",\"t\":1007000000000,\"comm\":\"cc1\",\"births\":2,\"deaths\":2,"
		 "\"cpu_ns\":100000000}\n");
	for (int64_t s = 0; s <= 10; s++) {
		int64_t t = RUN_T0 + s * S;
		struct tg_process_cell keep = { t, 1, TG_PROCESS_CPU_NS, 9 * S + s * S / 2 };
		struct tg_process_cell work = { t, 2, TG_PROCESS_CPU_NS, (s - 2) * S };
		struct tg_process_cell rss = { t, 2, TG_PROCESS_RSS_BYTES, 100000000 };

		tg_process_block_add(cells, &keep);
		if (s > 2 && s <= 4)
			tg_process_block_add(cells, &work);
		if (s == 3)
			tg_process_block_add(cells, &rss);
	}
	T_EQ_I(tg_writer_processes(w, cells), 0);
	event(w, "{\"ev\":\"end\",\"t\":1010000000000,\"span\":1,\"status\":\"ok\"}\n");
	tg_process_block_free(cells);
	T_EQ_I(tg_writer_finish(w), 0);
}

static void test_activity(void)
{
	struct tg_recording *r;
	struct tg_activity a;
	double cores = 0, area = 0;

	write_processes(run_path("processes.tacho"));
	T_EQ_I(tg_recording_open(&r, run_path("processes.tacho"), NULL), 0);
	T_EQ_I(tg_activity_of(r, RUN_REAL, RUN_REAL + 10 * S, 40, 3, &a), 0);
	T_EQ_I(a.n_commands, 2);
	T_EQ_S(a.command[0].name, "keep");
	T_OK(near(a.command[0].cpu_s, 5)); /* what was on its clock before is not of this */
	T_OK(near(a.command[1].cpu_s, 2.1) && near(a.command[1].rss_peak_bytes, 1e8));
	for (size_t i = 0; i < 40; i++) {
		cores += a.command[1].cores[i].mean * 0.25;
		area += a.command[1].rss[i].mean * 0.25;
		T_OK(near(a.command[0].cores[i].mean, 0.5));
	}
	T_OK(near(cores, 2.1)); /* with what was told at its death */
	T_OK(near(area, 2e8)); /* from 3 s, where it was seen, to 5 s */
	T_OK(near(a.command[1].cores[10].mean, 1) && near(a.command[1].cores[20].mean, 0));
	T_EQ_I(a.n_processes, 2);
	T_EQ_S(a.process[0].name, "work 11"); /* the memory of the other is unknown */
	T_OK(near(a.process[0].cpu_s, 2.1) && near(a.process[1].cores[9].mean, 0.5));
	T_EQ_I(r->n_lives, 2);
	T_OK(a.life[1].cpu_ns == 2100000000 && a.life[1].rss_peak_bytes == 100000000);
	T_EQ_I(a.n_crowds, 1);
	T_OK(a.crowd[0].births == 42 && near(a.crowd[0].cpu_s, 0.6));
	tg_activity_release(&a);
	T_EQ_I(tg_activity_of(r, RUN_REAL, RUN_REAL + 10 * S, 10, 0, &a), 0);
	T_OK(a.n_commands == 1 && !a.command[0].name && near(a.command[0].cpu_s, 7.1));
	tg_activity_release(&a);
	tg_recording_close(r);
}

#define MANY 1500

/* One comes last of very many, and has the most. */
static void test_activity_of_many(void)
{
	const char *path = run_path("many.tacho");
	struct tg_process_block *cells = tg_process_block_new();
	struct tg_recording *r;
	struct tg_activity a;
	struct tg_writer *w;

	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\",\"name\":\"x\"}"
		 "\n");
	for (int i = 1; i <= MANY; i++) {
		struct tg_process_cell cell = { RUN_T0 + 2 * S, (uint32_t)i, TG_PROCESS_CPU_NS,
			i < MANY ? 1000000 : 500000000 };
		char birth[160];

		snprintf(birth, sizeof(birth),
			"{\"ev\":\"birth\",\"t\":%lld,\"entity\":%d,\"pid\":%d,\"comm\":\"c%d\"}\n",
			(long long)RUN_T0 + S, i, 100 + i, i);
		event(w, birth);
		tg_process_block_add(cells, &cell);
		cell.field = TG_PROCESS_RSS_BYTES;
		cell.value *= 2;
		tg_process_block_add(cells, &cell);
	}
	T_EQ_I(tg_writer_processes(w, cells), 0);
	tg_process_block_free(cells);
	T_EQ_I(tg_writer_finish(w), 0);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_activity_of(r, RUN_REAL, RUN_REAL + 10 * S, 10, 3, &a), 0);
	T_EQ_I(a.n_commands, 4);
	T_EQ_S(a.command[0].name, "c1500");
	T_OK(near(a.command[0].cpu_s, 0.5));
	T_EQ_S(a.process[0].name, "c1500 1600");
	T_OK(near(a.process[0].rss_peak_bytes, 1e9));
	for (size_t i = 1; i < 3; i++)
		T_OK(a.command[i].name && near(a.command[i].cpu_s, 0.001));
	T_OK(!a.command[3].name && !a.process[3].name);
	T_EQ_I(a.command[3].n, MANY - 3);
	T_OK(near(a.command[3].cpu_s, (MANY - 3) * 0.001));
	T_EQ_I(a.life[MANY - 1].rss_peak_bytes, 1000000000);
	tg_activity_release(&a);
	tg_recording_close(r);
	unlink(path);
}

/* ---- the page ---- */

static void page(const char *path, const struct tg_report_options *o, struct tg_buf *out)
{
	struct tg_recording *r;
	struct tg_report report;
	struct tg_err err = { 0 };

	T_EQ_I(tg_recording_open(&r, path, &err), 0);
	T_EQ_I(tg_report_build(&report, &r, 1, o, &err), 0);
	tg_report_html(&report, out);
	tg_report_release(&report);
	tg_recording_close(r);
}

static void test_page(void)
{
	static const unsigned flags[] = { 0, RUN_NO_CELLS, RUN_NO_END, RUN_NO_EDGES, RUN_NO_ROWS,
		RUN_TWO_CPUS };
	struct tg_report_options o = { .smooth_s = TG_SMOOTH_USUAL };

	for (size_t i = 0; i < TG_ARRAY_SIZE(flags); i++) {
		struct tg_buf out = TG_BUF_INIT;

		run_write(run_path("page.tacho"), flags[i]);
		page(run_path("page.tacho"), &o, &out);
		T_OK(strstr(out.data, "<h2 id=\"where\">What ran where</h2>") != NULL);
		T_OK(!strstr(out.data, "src=") && !strstr(out.data, "@import"));
		if (flags[i] == 0) {
			T_OK(strstr(out.data, "<h2 id=\"stages\">Cells</h2>") != NULL);
			/* cell 2 wrote 600 MB and used 3.2 cores */
			T_OK(strstr(out.data, "\">600 MB</td>") != NULL);
			T_OK(strstr(out.data, ">3.2</td>") != NULL);
		}
		tg_buf_release(&out);
	}
	unlink(run_path("page.tacho"));
}

/* Names are anybody's: none becomes a tag, ends a script or reaches the page when unwanted. */
static void test_hostile(void)
{
	static const char evil[] = "</script><img src=x onerror=alert(1)>'\\\"\\u0007\\u2028&lt;";
	struct tg_report_options o = { .smooth_s = 0 },
				 quiet = { .no_code = true, .no_args = true };
	struct tg_buf line = TG_BUF_INIT, out = TG_BUF_INIT;
	struct tg_writer *w;

	unlink(run_path("evil.tacho"));
	T_EQ_I(tg_writer_open(&w, run_path("evil.tacho"), RUN_SESSION, NULL), 0);
	tg_buf_addf(&line,
		"{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\",\"name\":\"%s\","
		"\"attrs\":{\"command\":\"secret %s\",\"%s\":\"%s\"}}\n"
		"{\"ev\":\"begin\",\"t\":1000000000001,\"span\":2,\"kind\":\"stage\",\"name\":\"%"
		"s\","
		"\"parent\":1}\n"
		"{\"ev\":\"birth\",\"t\":1000000000000,\"entity\":1,\"pid\":10,\"ppid\":10,"
		"\"comm\":\"%s\",\"args\":\"secret %s\"}\n"
		"{\"ev\":\"mark\",\"t\":1002000000000,\"name\":\"%s\"}\n"
		"{\"ev\":\"note\",\"t\":1002000000000,\"text\":\"%s\"}\n"
		"{\"ev\":\"end\",\"t\":1004000000000,\"span\":2,\"status\":\"%s\"}\n"
		"{\"ev\":\"end\",\"t\":1004000000000,\"span\":1,\"status\":\"ok\"}\n",
		evil, evil, evil, evil, evil, evil, evil, evil, evil, evil);
	event(w, line.data);
	T_EQ_I(tg_writer_finish(w), 0);
	page(run_path("evil.tacho"), &o, &out);
	T_OK(strstr(out.data, "&lt;/script&gt;&lt;img") != NULL);
	T_OK(!strstr(out.data, "<img") && !strstr(out.data, "\a"));
	T_OK(strstr(out.data, "secret") != NULL);
	tg_buf_clear(&out);
	page(run_path("evil.tacho"), &quiet, &out);
	T_OK(!strstr(out.data, "secret"));
	tg_buf_release(&line);
	tg_buf_release(&out);
}

int main(void)
{
	test_smooth_gauge();
	test_smooth_gap();
	test_smooth_counter();
	test_describe();
	test_held();
	test_activity();
	test_activity_of_many();
	test_page();
	test_hostile();
	unlink(run_path("held.tacho"));
	unlink(run_path("processes.tacho"));
	unlink(run_path("evil.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
