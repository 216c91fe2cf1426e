/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of spans: peaks are those of one moment, and what is shared or cache is told apart. */
#include "run.h"

#include "analyze/shares.h"
#include "analyze/totals.h"
#include "base/clock.h"

#include "base/mem.h"

enum { CPU, RSS, PSS, FILES, COLUMNS };

static const struct tg_metric metric[COLUMNS] = {
	[CPU] = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	[RSS] = { "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[PSS] = { "tree.pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[FILES] = { "tree.file_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
};

/*
 * Ten rows a second of ten seconds, of two processes: each has 3 GB for two seconds, one after the
 * other, and 1 GB else. Shares and kinds come once a second; at the 8th second a file is mapped.
 */
static struct tg_recording *load(void)
{
	static const int from_ms[] = { 2000, 5000 };
	const char *path = run_path("run.tacho");
	struct tg_block *b = tg_block_new(1, COLUMNS, 128);
	struct tg_process_block *hwm = tg_process_block_new();
	struct tg_column column[COLUMNS] = { 0 };
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	for (uint32_t i = 0; i < 2; i++) {
		char birth[128];

		snprintf(birth, sizeof(birth),
			"{\"ev\":\"birth\",\"t\":1000000000000,\"entity\":%u,\"pid\":%u,"
			"\"comm\":\"fit\"}",
			i + 1, 4711 + i);
		run_event(w, birth);
	}
	for (size_t i = 0; i < COLUMNS; i++)
		column[i].metric = &metric[i];
	tg_writer_table(w, 1, "main", column, COLUMNS);
	for (int64_t ms = 0; ms <= 10000; ms += 100) {
		const int64_t t_ns = RUN_T0 + ms * 1000000, gb = 1000000000;
		int64_t row[COLUMNS] = { ms * 1000000, 2 * gb, gb, gb / 10 };

		for (uint32_t i = 0; i < 2; i++) {
			bool high = ms >= from_ms[i] && ms < from_ms[i] + 2000;

			if (high || !ms)
				tg_process_block_add(
					hwm, &(struct tg_process_cell){ t_ns, i + 1,
						     TG_PROCESS_HWM_BYTES, high ? 3 * gb : gb });
			row[RSS] += high ? 2 * gb : 0;
			row[PSS] += high ? 2 * gb : 0;
		}
		row[RSS] += ms >= 8000 ? gb : 0;
		row[FILES] += ms >= 8000 ? gb : 0;
		if (ms % 1000)
			row[PSS] = TG_MISSING;
		if (ms % 1000 && ms != 7500 && ms != 7600 && ms != 9600)
			row[FILES] = TG_MISSING; /* edges have it */
		tg_block_add(b, t_ns, row);
	}
	tg_writer_block(w, b);
	tg_writer_processes(w, hwm);
	run_begin(w, 1, 1, "\"count\":1");
	run_end(w, 1, 7.5, "ok");
	run_begin(w, 2, 7.6, "\"count\":2");
	run_end(w, 2, 9.6, "ok");
	run_begin(w, 3, 9.62, "\"count\":3");
	run_end(w, 3, 9.68, "ok");
	tg_writer_finish(w);
	tg_block_free(b);
	tg_process_block_free(hwm);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	return r;
}

/*
 * pitfall 14: 4 GB at one moment; the peaks of the two are 6 GB together, and never were.
 * pitfall 15: of what the second cell has more at its end, all are a file's pages.
 * pitfall 18: no time for shares in a short one: unknown, and not 0
 */
static void test_peaks(void)
{
	struct tg_recording *r = load();
	struct tg_totals t;

	T_EQ_I(r->n_spans, 3);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.rss_peak_bytes, 4e9, 0);
	T_NEAR(t.pss_peak_bytes, 3e9, 0);
	T_NEAR(t.pss_age_s, 0.5, 1e-9);
	T_NEAR(t.mem_peak_bytes, 3e9, 0);
	T_EQ_S(t.mem_peak_is, "PSS");
	T_NEAR(t.file_retained_bytes, 0, 0);
	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_NEAR(t.mem_retained_bytes, 1e9, 0);
	T_NEAR(t.file_retained_bytes, 1e9, 0);
	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0);
	T_OK(isnan(t.pss_peak_bytes) && isnan(t.pss_age_s));
	T_NEAR(t.mem_peak_bytes, 3e9, 0);
	T_EQ_S(t.mem_peak_is, "RSS");
	T_OK(isnan(t.file_retained_bytes)); /* no row was taken at its edges */
	tg_recording_close(r);
}

/* A row of a recording; below 0: missing. */
struct row {
	int ms, rss_mb, pss_mb, age_ms;
};

/* A recording of `processes` with these rows, and a span from 1 s to 3 s; the limit is 2 GB. */
static struct tg_totals of_rows(size_t processes, const struct row *row, size_t n)
{
	static const struct tg_metric age = { "tree.pss_age_ns", "ns", TG_GAUGE, TG_SCOPE_JOB, 0,
		NULL };
	const struct tg_column column[] = { { .metric = &metric[CPU] }, { .metric = &metric[RSS] },
		{ .metric = &metric[PSS] }, { .metric = &age } };
	const char *path = run_path("run.tacho");
	struct tg_block *b = tg_block_new(1, TG_ARRAY_SIZE(column), 128);
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_totals t;
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	run_event(w, "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"memory_bytes\","
		     "\"value\":2e9,\"why\":\"machine\"}");
	for (size_t i = 0; i < processes; i++) {
		char birth[128];

		snprintf(birth, sizeof(birth),
			"{\"ev\":\"birth\",\"t\":1000000000000,\"entity\":%zu,\"pid\":%zu,"
			"\"comm\":\"fit\"}",
			i + 1, 4711 + i);
		run_event(w, birth);
	}
	tg_writer_table(w, 1, "main", column, TG_ARRAY_SIZE(column));
	for (size_t i = 0; i < n; i++) {
		const int64_t v[] = { row[i].ms * INT64_C(1000000),
			row[i].rss_mb * INT64_C(1000000),
			row[i].pss_mb < 0 ? TG_MISSING : row[i].pss_mb * INT64_C(1000000),
			row[i].age_ms < 0 ? TG_MISSING : row[i].age_ms * INT64_C(1000000) };

		tg_block_add(b, RUN_T0 + row[i].ms * INT64_C(1000000), v);
	}
	tg_writer_block(w, b);
	run_begin(w, 1, 1, "\"count\":1");
	run_end(w, 1, 3, "ok");
	tg_writer_finish(w);
	tg_block_free(b);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0) || !T_EQ_I(r->n_spans, 1))
		exit(1);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	tg_recording_close(r);
	return t;
}

static bool is_near_limit(const struct tg_totals *t)
{
	for (size_t i = 0; i < t->n_verdicts; i++)
		if (!strcmp(t->verdict[i], "memory near limit"))
			return true;
	return false;
}

/*
 * pitfall 14, report 13: where workers share memory the peak is PSS, and near no limit
 * pitfall 18: as long as it was found in the cell, and while as much was resident as ever in it;
 * else the peak is RSS, and is called that
 */
static void test_peak_is(void)
{
	static const struct row shared[] = { { 900, 1800, 250, 900 }, { 1000, 1800, 250, 1000 },
		{ 2000, 1800, 300, 0 }, { 2900, 1800, 300, 900 }, { 3000, 1850, 300, 1000 } };
	static const struct row stale[] = { { 900, 1800, 250, 0 }, { 1000, 1800, 250, 100 },
		{ 2000, 1800, 250, 1100 }, { 3000, 1800, 250, 2100 }, { 3100, 1800, 1700, 0 } };
	static const struct row missed[] = { { 1000, 500, -1, -1 }, { 1500, 500, 300, 0 },
		{ 2000, 1900, -1, 500 }, { 3000, 500, 300, 1500 } };
	static const struct row more[] = { { 1000, 2500, -1, -1 }, { 2000, 2500, -1, -1 },
		{ 3000, 2500, -1, -1 } };
	struct tg_totals t = of_rows(9, shared, TG_ARRAY_SIZE(shared));

	T_EQ_S(t.mem_peak_is, "PSS");
	T_NEAR(t.mem_peak_bytes, 300e6, 0);
	T_NEAR(t.rss_peak_bytes, 1850e6, 0);
	T_NEAR(t.pss_age_s, 1, 1e-9);
	T_OK(!is_near_limit(&t));
	t = of_rows(1, shared, TG_ARRAY_SIZE(shared)); /* of one alone RSS has no page twice */
	T_EQ_S(t.mem_peak_is, "RSS");
	T_NEAR(t.mem_peak_bytes, 1850e6, 0);
	T_OK(is_near_limit(&t));
	t = of_rows(9, stale, TG_ARRAY_SIZE(stale));
	T_EQ_S(t.mem_peak_is, "RSS");
	T_NEAR(t.mem_peak_bytes, 1800e6, 0);
	T_OK(isnan(t.pss_peak_bytes) && isnan(t.pss_age_s));
	t = of_rows(9, missed, TG_ARRAY_SIZE(missed));
	T_EQ_S(t.mem_peak_is, "RSS");
	T_NEAR(t.mem_peak_bytes, 1900e6, 0);
	T_NEAR(t.pss_peak_bytes, 300e6, 0);
	T_OK(is_near_limit(&t));
	t = of_rows(9, more, TG_ARRAY_SIZE(more));
	T_NEAR(t.mem_peak_bytes, 2500e6, 0);
	T_OK(!is_near_limit(&t)); /* more than there is: pages are in it twice */
}

static struct tg_points points(const int64_t *value, size_t n, size_t every)
{
	struct tg_points p = { .kind = TG_GAUGE };

	for (size_t i = 0; i < n; i += every)
		tg_points_add(&p, (int64_t)i * TG_NS_PER_S, value[i], false);
	return p;
}

/* pitfall 14: a peak between two looks at shares is not crossed by a line that knows nothing of it,
 * and none goes above RSS */
static void test_cut(void)
{
	static const int64_t rss[] = { 100, 100, 200, 400, 600, 800, 600, 300, 600, 640, 600 };
	static const int64_t pss[] = { 95, 0, 190, 0, 580, 0, 560, 0, 560, 0, 550 };
	static const bool cut[] = { true, true, false, true, true, false };
	struct tg_points p = points(pss, TG_ARRAY_SIZE(pss), 2);
	struct tg_points r = points(rss, TG_ARRAY_SIZE(rss), 1);

	T_OK(!tg_shares_cut(&p, &r));
	for (size_t i = 0; i < p.n; i++)
		T_EQ_I(p.point[i].cut, cut[i]);
	p.point[3].value = 530; /* of 600: lower by more than a tenth */
	T_OK(tg_shares_cut(&p, &r));
	tg_points_release(&p);
	tg_points_release(&r);
}

int main(void)
{
	test_peak_is();
	test_peaks();
	unlink(run_path("run.tacho"));
	rmdir(run_dir());
	test_cut();
	return t_done();
}
