/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cell from 2 s to 10 s whose recorder is killed at 5 s; the next one samples from 7 s on. One
 * core is busy all the time.
 */
#include "run.h"

#include "analyze/series.h"
#include "analyze/totals.h"

#include "base/mem.h"

static int64_t at(double s)
{
	return RUN_T0 + (int64_t)llround(s * 1e9);
}

static struct tg_writer *begin(const char *path, double s, int entity)
{
	struct tg_column column[RUN_COLUMNS] = { 0 };
	struct tg_buf e = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_writer *w;

	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	tg_buf_addf(&e, "{\"ev\":\"interval\",\"t\":%lld,\"ns\":100000000}", (long long)at(s));
	run_event(w, e.data);
	tg_buf_clear(&e);
	tg_buf_addf(&e, "{\"ev\":\"birth\",\"t\":%lld,\"entity\":%d,\"pid\":4711,\"comm\":\"py\"}",
		(long long)at(s), entity);
	run_event(w, e.data);
	tg_buf_release(&e);
	run_columns(column);
	tg_writer_table(w, tg_writer_next_table(w), "main", column, 2);
	return w;
}

/* Ten rows a second from `from` to `to`, the CPU counter at `cpu_s` when it begins. */
static void rows(struct tg_writer *w, double from, double to, double cpu_s)
{
	struct tg_block *b = tg_block_new(tg_writer_next_table(w) - 1, 2, 4096);
	long n = lround((to - from) * 10);

	for (long i = 0; i <= n; i++) {
		double s = from + (double)i / 10;

		tg_block_add(b, at(s),
			(int64_t[]){ (int64_t)llround((cpu_s + s - from) * 1e9),
				s > 3.95 && s < 4.05 ? 5000000000 : 1000000000 });
	}
	tg_writer_block(w, b);
	tg_block_free(b);
}

static void peaks(
	struct tg_writer *w, uint32_t entity, double s0, int64_t v0, double s1, int64_t v1)
{
	struct tg_process_block *b = tg_process_block_new();

	tg_process_block_add(
		b, &(struct tg_process_cell){ at(s0), entity, TG_PROCESS_HWM_BYTES, v0 });
	tg_process_block_add(
		b, &(struct tg_process_cell){ at(s1), entity, TG_PROCESS_HWM_BYTES, v1 });
	tg_writer_processes(w, b);
	tg_process_block_free(b);
}

/* The second recorder's first row has `cpu_s`; it tells of peaks `v0` at once and `v1` at 9 s. */
static struct tg_totals totals_of(double cpu_s, int64_t v0, int64_t v1)
{
	const char *path = run_path("resumed.tacho");
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_totals t;
	struct tg_writer *w;

	unlink(path);
	w = begin(path, 0, 1);
	run_event(w,
		"{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"id\":\"r\",\"kind\":\"run\"}");
	run_begin(w, 2, 2, "\"count\":1");
	peaks(w, 1, 0, 1000000000, 4.1, 6000000000);
	rows(w, 0, 5, 98);
	tg_writer_abandon(w);
	w = begin(path, 7, 2);
	run_event(w,
		"{\"ev\":\"begin\",\"t\":1000000000000,\"span\":3,\"id\":\"r\",\"kind\":\"run\","
		"\"attrs\":{\"resumed\":true}}");
	run_event(w, "{\"ev\":\"begin\",\"t\":1002000000000,\"span\":4,\"id\":\"k-2\","
		     "\"kind\":\"cell\",\"parent\":3,\"attrs\":{\"resumed\":true}}");
	peaks(w, 2, 7, v0, 9, v1);
	rows(w, 7, 10, cpu_s);
	run_end(w, 4, 10, "ok");
	run_event(w, "{\"ev\":\"missed\",\"t\":1008000000000,\"n\":3}");
	tg_writer_finish(w);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	T_EQ_I(r->n_spans, 2);
	T_EQ_I(r->span[1].number, 4);
	T_OK(!r->span[1].open && r->span[1].since_session == 1 && r->span[1].session == 2);
	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_NEAR(t.wall_s, 8, 1e-9);
	T_NEAR(t.cores_max, 1, 1e-6);
	T_NEAR(t.rss_begin_bytes, 1e9, 0);
	T_NEAR(t.mem_retained_bytes, 0, 0);
	T_EQ_I(t.samples, 31 + 31);
	T_EQ_I(t.missed, 19 + 3); /* what was due between 5 s and 7 s, and what was late */
	T_OK(!t.exact && !t.peak_exact);
	tg_recording_close(r);
	unlink(path);
	return t;
}

static void test_cpu(void)
{
	/* the counters of the processes went on while nobody looked */
	T_NEAR(totals_of(105, 1, 1).cpu_s, 8, 1e-6);
	/* processes that ended are in the first recorder's sums only: what both saw */
	T_NEAR(totals_of(40, 1, 1).cpu_s, 6, 1e-6);
}

static void test_peak(void)
{
	/* risen while the first recorder looked */
	T_NEAR(totals_of(105, 1, 1).rss_peak_bytes, 6e9, 0);
	/* the second one was told of a peak that may be older than the cell */
	T_NEAR(totals_of(105, 9000000000, 9000000000).rss_peak_bytes, 6e9, 0);
	T_NEAR(totals_of(105, 9000000000, 9500000000).rss_peak_bytes, 9.5e9, 0);
}

static void far_rows(struct tg_writer *w, int64_t t0, int64_t t1)
{
	struct tg_block *b = tg_block_new(tg_writer_next_table(w) - 1, 2, 2);

	tg_block_add(b, t0, (int64_t[]){ 1, 1 });
	tg_block_add(b, t1, (int64_t[]){ 2, 2 });
	tg_writer_block(w, b);
	tg_block_free(b);
}

/* Stamps that no clock shows are damage: what is reckoned with times cannot overflow. */
static void test_far_times(void)
{
	const char *path = run_path("far.tacho");
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_points p = { 0 };
	struct tg_damage d;
	struct tg_totals t;
	struct tg_writer *w;

	unlink(path);
	w = begin(path, 0, 1);
	run_begin(w, 2, 2, "\"count\":1");
	rows(w, 0, 5, 98);
	far_rows(w, INT64_MIN + 1, -1);
	tg_writer_abandon(w);
	w = begin(path, 7, 2);
	run_event(w, "{\"ev\":\"begin\",\"t\":1002000000000,\"span\":4,\"id\":\"k-2\","
		     "\"kind\":\"cell\",\"attrs\":{\"resumed\":true}}");
	peaks(w, 2, -1e10, 1, 9e9, 2);
	far_rows(w, 1, INT64_MAX);
	far_rows(w, INT64_MAX - 1, INT64_MAX);
	run_end(w, 4, 10, "ok");
	tg_writer_finish(w);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	T_OK(tg_recording_damage(r, &d));
	T_EQ_I(d.lost_chunks, 5); /* three of samples, one of a process, the summary of these */
	T_EQ_I(d.chunks, tg_reader_damage(r->reader)->chunks - 5); /* which are not good */
	T_EQ_I(r->n_spans, 1);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_EQ_I(t.missed, 0);
	T_NEAR(t.cpu_s, 3, 1e-6);
	T_EQ_I(tg_series_load(r, "tree.rss_bytes", NULL, 0, INT64_C(1) << 61, 10, &p), 0);
	T_EQ_I(p.n, 51);
	tg_points_release(&p);
	T_EQ_I(truncate(path, 0), 0); /* it was read whole for that, and is not read again */
	T_OK(tg_recording_damage(r, &d));
	T_EQ_I(d.lost_chunks, 5);
	T_EQ_I(d.chunks, tg_reader_damage(r->reader)->chunks - 5);
	tg_recording_close(r);
	unlink(path);
}

int main(void)
{
	test_far_times();
	test_cpu();
	test_peak();
	rmdir(run_dir());
	return t_done();
}
