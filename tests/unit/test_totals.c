/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans, their selection and their sums, against numbers that were worked out by hand. */
#include "run.h"

#include "analyze/select.h"
#include "analyze/totals.h"
#include "analyze/verdicts.h"
#include "export/export.h"

#include "base/mem.h"

static struct tg_recording *load(unsigned flags)
{
	const char *path = run_path("run.tacho");
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };

	run_write(path, flags);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0)) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return r;
}

static void test_spans(void)
{
	struct tg_recording *r = load(0);

	T_EQ_I(r->n_spans, 4);
	T_EQ_I(r->n_bad, 0);
	T_EQ_S(r->span[0].kind, "run");
	T_EQ_I(r->span[0].index, TG_NO_NUMBER);
	for (int i = 1; i < 4; i++) {
		T_EQ_I(r->span[i].index, i - 1);
		T_EQ_I(r->span[i].run, 1);
		T_OK(!r->span[i].open);
	}
	T_EQ_S(r->span[3].status, "error");
	T_EQ_I(r->span[1].begin_utc_ns, RUN_REAL + 2 * TG_NS_PER_S);
	T_EQ_S(r->machine, "{\"host\":\"node7\",\"machine\":\"x86_64\",\"cpus\":4}");
	tg_recording_close(r);
}

static void test_cell0(void)
{
	struct tg_recording *r = load(0);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_NEAR(t.wall_s, 2, 1e-9);
	T_NEAR(t.cpu_s, 1.9999, 1e-6); /* from 0.1 ms after one edge to 0.1 ms after the other */
	T_NEAR(t.cores_mean, 1, 1e-4);
	T_NEAR(t.cores_max, 1, 0.01);
	T_NEAR(t.cores_allowed, 4, 0);
	T_NEAR(t.memory_limit_bytes, 8e9, 0);
	T_NEAR(t.mem_retained_bytes, 200e6, 1e4 + 10);
	T_NEAR(t.read_bytes, 20e6, 1000);
	T_NEAR(t.read_ops, 200, 1);
	T_NEAR(t.write_bytes, 0, 0);
	T_NEAR(t.net_rx_bytes, 2000, 1);
	T_NEAR(t.net_tx_bytes, 1000, 1);
	T_OK(isnan(t.pss_peak_bytes) && isnan(t.energy_j) && isnan(t.throttled_s));
	T_OK(t.exact);
	T_OK(t.peak_exact);
	T_NEAR(t.rss_peak_bytes, 300e6, 0);
	T_EQ_I(t.samples, 20 + 2); /* the row at the end lies behind it */
	T_EQ_I(t.missed, 0);
	T_EQ_I(t.n_verdicts, 1);
	T_EQ_S(t.verdict[0], "one core busy");
	tg_recording_close(r);
}

static void test_short_cell(void)
{
	struct tg_recording *r = load(0);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0);
	T_NEAR(t.wall_s, 0.003, 1e-9);
	T_NEAR(t.cpu_s, 0.0029, 1e-6);
	T_NEAR(t.cores_mean, 0.0029 / 0.003, 1e-3);
	T_OK(t.exact);
	T_OK(!t.peak_exact);
	T_NEAR(t.rss_peak_bytes, 300e6, 0);
	T_NEAR(t.mem_retained_bytes, 0, 0);
	T_EQ_I(t.n_verdicts, 0);
	tg_recording_close(r);
}

static void test_cell2(void)
{
	struct tg_recording *r = load(0);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[3], &t), 0);
	T_NEAR(t.cpu_s, 9.6, 1e-3);
	T_NEAR(t.cores_max, 3.2, 0.02);
	T_NEAR(t.rss_peak_bytes, 7.6e9, 0); /* between two samples: only VmHWM knows */
	T_OK(t.peak_exact);
	T_NEAR(t.write_bytes, 600e6, 21000);
	T_EQ_I(t.missed, 2);
	T_EQ_I(t.n_verdicts, 1);
	T_EQ_S(t.verdict[0], "memory near limit");
	tg_recording_close(r);
}

/* Without rows at the edges the sums are interpolated and say so. */
static void test_no_edges(void)
{
	struct tg_recording *r = load(RUN_NO_EDGES);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0);
	T_OK(!t.exact);
	T_NEAR(t.cpu_s, 0.003 * 0.003, 1e-6); /* 3 ms of CPU were spread over the second around */
	tg_recording_close(r);
}

/* A cell whose end never came lasts to the last sample, and nothing of it is called exact. */
static void test_killed(void)
{
	struct tg_recording *r = load(RUN_NO_END);
	struct tg_totals t;

	T_OK(r->span[3].open && r->span[0].open);
	T_EQ_S(r->span[3].status, "unknown");
	T_EQ_I(r->span[3].end_ns, RUN_T0 + 10020 * TG_NS_PER_MS);
	T_EQ_I(tg_totals_of(r, &r->span[3], &t), 0);
	T_OK(!t.exact);
	T_NEAR(t.cpu_s, 9.6, 1e-3);
	tg_recording_close(r);
}

/* Unknown is not 0. */
static void test_no_rows(void)
{
	struct tg_recording *r = load(RUN_NO_ROWS);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_NEAR(t.wall_s, 2, 1e-9);
	T_OK(isnan(t.cpu_s) && isnan(t.cores_mean) && isnan(t.rss_peak_bytes));
	T_OK(isnan(t.read_bytes) && isnan(t.mem_retained_bytes));
	T_OK(!t.exact && !t.peak_exact);
	T_EQ_I(t.samples, 0);
	tg_recording_close(r);
}

static void chosen(struct tg_recording *r, const char *text, const char *want)
{
	const struct tg_span **span = NULL;
	struct tg_buf got = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_select s;
	int64_t n = -1;

	if (tg_select_parse(&s, text, &err) == 0)
		n = tg_select_spans(&s, r, &span, &err);
	for (int64_t i = 0; i < n; i++)
		tg_buf_addf(&got, "%llu ", (unsigned long long)span[i]->number);
	if (n < 0)
		tg_buf_adds(&got, err.text);
	T_EQ_S(got.data, want);
	tg_buf_release(&got);
	tg_select_release(&s);
	free(span);
}

#define HOW "; say for example 3, 2:5, -1, last or all"

static void test_select(void)
{
	struct tg_recording *r = load(0);

	chosen(r, "0", "2 ");
	chosen(r, "2", "4 ");
	chosen(r, "-1", "4 ");
	chosen(r, "last", "4 ");
	chosen(r, "all", "2 3 4 ");
	chosen(r, "0:1", "2 3 ");
	chosen(r, ":1", "2 3 ");
	chosen(r, "1:", "3 4 ");
	chosen(r, "-2:", "3 4 ");
	chosen(r, ":", "2 3 4 ");
	chosen(r, "2, 0", "2 4 ");
	chosen(r, "0,0,:0", "2 ");
	chosen(r, "kind=run", "1 ");
	chosen(r, "kind=cell", "2 3 4 ");
	chosen(r, "name=ker*", "1 ");
	chosen(r, "7", "This selects none of the 3 cells; they count from 0");
	chosen(r, "2:1", "This selects none of the 3 cells; they count from 0");
	chosen(r, "name=nix", "This selects none of the 3 cells; they count from 0");
	chosen(r, "", "\"\" selects no spans" HOW);
	chosen(r, "a", "\"a\" selects no spans" HOW);
	chosen(r, "1,", "\"\" selects no spans" HOW);
	chosen(r, "1:2:3", "\"1:2:3\" selects no spans" HOW);
	chosen(r, "--1", "\"--1\" selects no spans" HOW);
	chosen(r, "99999999999999999999", "\"99999999999999999999\" selects no spans" HOW);
	chosen(r, "1\x1b[31m", "\"1 [31m\" selects no spans" HOW);
	chosen(r, "name=", "\"name=\" selects no spans" HOW);
	tg_recording_close(r);
	r = load(RUN_NO_CELLS);
	chosen(r, "last", "There are no cells or stages in this recording");
	tg_recording_close(r);
}

static void test_glob(void)
{
	T_OK(tg_glob("align*", "align_reads"));
	T_OK(tg_glob("*", ""));
	T_OK(tg_glob("a?c*e", "abcdde"));
	T_OK(!tg_glob("a?c", "ac"));
	T_OK(!tg_glob("align", "align2"));
	/* what takes exponential time when stars are tried in all ways */
	T_OK(!tg_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void test_only_run(void)
{
	struct tg_recording *r = load(0);

	tg_recording_only_run(r, 1);
	T_EQ_I(r->n_spans, 4);
	tg_recording_only_run(r, 99);
	T_EQ_I(r->n_spans, 0);
	tg_recording_close(r);
}

/* ---- recordings of a few rows ---- */

struct few_row {
	double s;
	double cpu_s, rss_gb;
};

struct few_peak {
	double s, gb;
};

#define FEW_CELLS 4

static int64_t few_ns(double s)
{
	return RUN_T0 + (int64_t)llround(s * 1e9);
}

/* Cells from cell[i][0] to cell[i][1] seconds; lists end with a time of 0. */
static struct tg_recording *few(
	const double cell[][2], const struct few_row *row, const struct few_peak *peak)
{
	const char *path = run_path("run.tacho");
	struct tg_process_block *hwm = tg_process_block_new();
	struct tg_block *b = tg_block_new(1, 2, 4096);
	struct tg_recording *r = NULL;
	struct tg_column column[RUN_COLUMNS] = { 0 };
	struct tg_err err = { 0 };
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	run_event(w, "{\"ev\":\"birth\",\"t\":1000000000000,\"entity\":1,\"pid\":4711,"
		     "\"comm\":\"sh\"}");
	run_event(w, "{\"ev\":\"birth\",\"t\":1000100000000,\"entity\":1,\"pid\":4711,"
		     "\"comm\":\"fit\",\"args\":\"fit -n 9\"}");
	run_columns(column);
	tg_writer_table(w, 1, "main", column, 2);
	for (int i = 0; i < FEW_CELLS && cell[i][1] > 0; i++) {
		run_begin(w, i + 2, cell[i][0], "\"count\":1");
		run_end(w, i + 2, cell[i][1], "ok");
	}
	for (; row->s > 0; row++)
		tg_block_add(b, few_ns(row->s),
			(int64_t[]){ (int64_t)llround(row->cpu_s * 1e9),
				(int64_t)llround(row->rss_gb * 1e9) });
	tg_writer_block(w, b);
	for (; peak && peak->s > 0; peak++)
		tg_process_block_add(
			hwm, &(struct tg_process_cell){ few_ns(peak->s), 1, TG_PROCESS_HWM_BYTES,
				     (int64_t)llround(peak->gb * 1e9) });
	if (peak)
		tg_writer_processes(w, hwm);
	run_event(w, "{\"ev\":\"death\",\"t\":1300000000000,\"entity\":1,\"pid\":4711}");
	tg_writer_finish(w);
	tg_block_free(b);
	tg_process_block_free(hwm);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	return r;
}

/* What a neighbour did in the twentieth of a long cell around it is the neighbour's. */
static void test_neighbours(void)
{
	static const double cell[FEW_CELLS][2] = { { 1, 101 }, { 102, 104 }, { 105, 205 } };
	static const struct few_row row[] = { { 1.0001, 0, 1 }, { 50, 1, 1 }, { 101.0001, 1, 1 },
		{ 102.0001, 1, 1 }, { 103, 4, 50 }, { 104.0001, 7, 1 }, { 105.0001, 7, 1 },
		{ 150, 8, 1 }, { 205.0001, 8, 1 }, { 206, 8, 1 }, { 0 } };
	static const struct few_peak peak[] = { { 1.0001, 1 }, { 103, 50 }, { 0 } };
	struct tg_recording *r = few(cell, row, peak);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.rss_peak_bytes, 1e9, 0);
	T_OK(t.exact && t.cores_max < 0.1);
	T_EQ_I(t.samples, 3);
	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_NEAR(t.rss_peak_bytes, 50e9, 0);
	T_OK(t.exact && t.peak_exact);
	T_NEAR(t.cores_max, 3, 0.01);
	T_EQ_I(t.samples, 3);
	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0);
	T_NEAR(t.rss_peak_bytes, 1e9, 0);
	T_OK(t.exact && t.cores_max < 0.1);
	T_EQ_I(t.samples, 3);
	tg_recording_close(r);
}

/* After a restart the counters begin anew: what the kernel before had used is not this one's. */
static void test_restart(void)
{
	static const double cell[FEW_CELLS][2] = { { 10, 20 }, { 1, 9.9 }, { 5, 15 },
		{ 9.93, 12 } };
	static const struct few_row row[] = { { 1, 100, 1 }, { 5, 104, 1 }, { 9.9, 108, 1 },
		{ 10.002, 0.1, 1 }, { 12, 1, 1 }, { 15, 2, 1 }, { 20, 3, 1 }, { 0 } };
	struct tg_recording *r = few(cell, row, NULL);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.cpu_s, 2.9, 1e-6);
	T_OK(t.exact);
	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_NEAR(t.cpu_s, 8, 1e-6);
	T_OK(t.exact);
	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0); /* across it: a sum of both sides */
	T_NEAR(t.cpu_s, 4 + 1.9, 1e-6);
	T_OK(!t.exact);
	T_EQ_I(tg_totals_of(r, &r->span[3], &t), 0); /* begins somewhere on the way down */
	T_NEAR(t.cpu_s, 0.9, 1e-6);
	tg_recording_close(r);
}

/* A process that took another name, or whose arguments came late, is one process still. */
static void test_renamed(void)
{
	static const double cell[FEW_CELLS][2] = { { 1, 2 } };
	static const struct few_row row[] = { { 1, 1, 1 }, { 2, 2, 1 }, { 0 } };
	static const struct few_peak peak[] = { { 1, 1 }, { 2, 3 }, { 0 } };
	struct tg_recording *r = few(cell, row, peak);
	struct tg_totals t;

	T_EQ_I(r->n_lives, 1);
	T_EQ_I(r->life[0].birth_ns, RUN_T0);
	T_EQ_I(r->life[0].death_ns, RUN_T0 + 300 * TG_NS_PER_S);
	T_EQ_S(r->life[0].comm, "fit");
	T_EQ_S(r->life[0].args, "fit -n 9");
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.rss_peak_bytes, 3e9, 0);
	T_OK(t.peak_exact);
	tg_recording_close(r);
}

/* No row within the pad of an edge, or one row for both: nothing is known. */
static void test_far_rows(void)
{
	static const double cell[FEW_CELLS][2] = { { 10, 20 }, { 26, 27 }, { 29.5, 31 },
		{ 36, 37 } };
	static const struct few_row row[] = { { 17, 5, 1 }, { 20, 6, 2 }, { 30, 7, 3 }, { 0 } };
	struct tg_recording *r = few(cell, row, NULL);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0); /* rows begin 7 s after it */
	T_OK(isnan(t.cpu_s) && isnan(t.mem_retained_bytes) && !t.exact);
	T_NEAR(t.rss_peak_bytes, 2e9, 0);
	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0); /* between two rows */
	T_NEAR(t.cpu_s, 0.1, 1e-6);
	T_OK(!t.exact);
	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0); /* the last row lies in it */
	T_NEAR(t.cpu_s, 0.05, 1e-6);
	T_OK(!t.exact);
	T_EQ_I(tg_totals_of(r, &r->span[3], &t), 0); /* after all of them */
	T_OK(isnan(t.cpu_s) && isnan(t.rss_peak_bytes) && !t.exact);
	tg_recording_close(r);
}

/* pitfall 1: of one core, of what is allowed, of the machine: three figures that each have their
 * name */
static void test_percent(struct tg_recording *r)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &out);
	T_EQ_I(tg_export_span(&(struct tg_export){ .recording = r }, &r->span[0], false, &w), 0);
	T_OK(strstr(out.data, "\"cores_mean\":1,") != NULL);
	T_OK(strstr(out.data, "\"cores_allowed\":4,") != NULL);
	T_OK(strstr(out.data, "\"cpu_pct_of_allowed\":25,\"cpu_pct_of_node\":12.5,") != NULL);
	tg_buf_release(&out);
}

/*
 * One of eight cores, of which the others are another's: that says nothing about this cell. And of
 * a file that lost its last rows, but not the end of the cell, figures are the least.
 */
static void test_shared_machine(void)
{
	static const struct tg_metric metric[] = {
		{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "CPU time" },
		{ "tree.cpu_unattributed_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "unexplained" },
		{ "node.cpu_busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "busy" },
		{ "node.cores", "count", TG_GAUGE, TG_SCOPE_NODE, 0, "cores" },
		{ "cgroup.oom_kills", "count", TG_COUNTER, TG_SCOPE_JOB, 0, "kills" },
		{ "root.runqueue_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "waiting for a core" },
	};
	static const char limit[] = "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"cores\","
				    "\"value\":4,\"why\":\"affinity\"}\n";
	static const char begin[] = "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":"
				    "\"cell\",\"index\":0}\n";
	static const char end[] = "{\"ev\":\"end\",\"t\":1002000000000,\"span\":1,\"status\":"
				  "\"ok\"}\n";
	static const char *const verdict[] = { "one core busy", "others hold the other cores",
		"its last samples are missing", "a process was killed for want of memory" };
	struct tg_column column[TG_ARRAY_SIZE(metric)] = { 0 };

	for (int k = 0; k < 4; k++) {
		int others = k == 1 ? 7 : 0, rows = k == 2 ? 10 : 20;
		const char *path = run_path("shared.tacho");
		struct tg_block *b = tg_block_new(0, TG_ARRAY_SIZE(metric), 64);
		struct tg_recording *r = NULL;
		struct tg_totals t;
		struct tg_writer *w;

		for (size_t i = 0; i < TG_ARRAY_SIZE(metric); i++)
			column[i].metric = &metric[i];
		T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
		b->table = tg_writer_next_table(w);
		tg_writer_table(w, b->table, "main", column, TG_ARRAY_SIZE(metric));
		tg_writer_events(w, limit, strlen(limit));
		tg_writer_events(w, begin, strlen(begin));
		for (int64_t i = 0; i <= rows; i++)
			tg_block_add(b, RUN_T0 + i * 100 * TG_NS_PER_MS,
				(int64_t[]){ i * 100000000, i * 20000000,
					i * 100000000 * (1 + others), 8, 3 + (k == 3 && i > 5),
					i * 1000000 });
		tg_writer_block(w, b);
		tg_writer_events(w, end, strlen(end));
		tg_writer_finish(w);
		T_EQ_I(tg_recording_open(&r, path, NULL), 0);
		T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
		T_NEAR(t.cpu_s, rows * 0.1, 1e-9);
		T_NEAR(t.unattributed_cpu_s, rows * 0.02, 1e-9);
		T_EQ_I(t.exact, k != 2);
		T_EQ_I(t.n_verdicts, k == 3 ? 2 : 1);
		T_EQ_S(t.verdict[0], verdict[k]);
		T_NEAR(t.oom_kills, k == 3, 1e-9);
		T_NEAR(t.runqueue_s, rows * 0.001, 1e-9);
		if (k == 0)
			test_percent(r);
		tg_recording_close(r);
		tg_block_free(b);
		T_EQ_I(unlink(path), 0);
	}
}

/* On a machine that is full: who sleeps is not crowded out, who has less than a core has no other
 * ones. */
static void test_crowded(void)
{
	static const struct {
		double cores, runqueue_s, node_cpu_s;
		const char *want;
	} t[] = { { 0.53, 4.6, 20, "others hold the cores" },
		{ 0.27, 7.2, 20, "others hold the cores" },
		{ 0.02, 3, 20, "others hold the cores" }, { 0.02, 0.1, 20, "waits" },
		{ 0.53, 0.1, 20, NULL }, { 0.53, NAN, 20, "others hold the cores" },
		{ 0.27, NAN, 20, NULL }, { 1, 0.1, 20, "others hold the other cores" },
		{ 0.53, 4.6, 12, NULL } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(t); i++) {
		struct tg_totals totals = { .wall_s = 10,
			.cores_mean = t[i].cores,
			.cores_max = 1,
			.cores_allowed = 2,
			.throttled_s = NAN,
			.runqueue_s = t[i].runqueue_s,
			.node_cpu_s = t[i].node_cpu_s,
			.node_cores = 2 };

		tg_verdicts_add_spending(&totals);
		T_EQ_I(totals.n_verdicts, t[i].want != NULL);
		if (totals.n_verdicts)
			T_EQ_S(totals.verdict[0], t[i].want);
	}
}

int main(void)
{
	test_crowded();
	test_shared_machine();
	test_spans();
	test_cell0();
	test_short_cell();
	test_cell2();
	test_no_edges();
	test_killed();
	test_no_rows();
	test_select();
	test_glob();
	test_only_run();
	test_neighbours();
	test_restart();
	test_renamed();
	test_far_rows();
	unlink(run_path("run.tacho"));
	rmdir(run_dir());
	return t_done();
}
