/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording whose numbers are known, for the tests of everything that reads one. A kernel on a
 * machine of four cores and 8 GB ran three cells:
 *   0  2.0 s to 4.0 s     one core, 100 MB grow to 300 MB and stay; reads 20 MB in 200 operations
 *   1  5.0 s to 5.003 s   3 ms of CPU, nothing else
 *   2  6.0 s to 9.0 s     3.2 cores; 7 GB at most in samples, 7.6 GB by VmHWM; writes 600 MB; fails
 * Samples: 1 Hz between cells, 10 Hz within, rows at all edges, 0.1 ms after them.
 */
#ifndef TG_TESTS_RUN_H
#define TG_TESTS_RUN_H

#include "tap.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "record/format.h"
#include "record/reader.h"
#include "record/writer.h"

#include "base/mem.h"

#define RUN_T0   (INT64_C(1000) * TG_NS_PER_S) /* monotonic, at its beginning */
#define RUN_REAL (INT64_C(1767225600) * TG_NS_PER_S) /* 2026-01-01T00:00:00Z, the same moment */
#define RUN_EDGE INT64_C(100000)

#define RUN_SESSION                                                                                \
	"{\"host\":\"node7\",\"boot_id\":\"b-1\",\"time_zone\":\"UTC\","                           \
	"\"machine\":\"x86_64\",\"cpus\":4,"                                                       \
	"\"clock\":{\"mono_ns\":1000000000000,\"real_ns\":1767225600000000000,"                    \
	"\"boot_ns\":1000000000000}}"

enum run_flags {
	RUN_NO_CELLS = 1 << 0, /* samples, but no cell */
	RUN_NO_END = 1 << 1, /* killed in the last cell */
	RUN_NO_EDGES = 1 << 2, /* no rows at edges */
	RUN_NO_ROWS = 1 << 3, /* cells, but no sample */
	RUN_TWO_CPUS = 1 << 4, /* allowed, of four: cpu1 and cpu3 */
};

static const struct tg_metric run_metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "CPU time" },
	{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "resident memory" },
	{ "tree.vms_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "address space" },
	{ "tree.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, "read from storage" },
	{ "tree.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, "written to storage" },
	{ "tree.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "read calls" },
	{ "tree.write_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "write calls" },
	{ "root.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, "read by the root" },
	{ "root.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, "written by the root" },
	{ "root.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "read calls of the root" },
	{ "root.write_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "write calls of the root" },
	{ "net.rx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "received" },
	{ "net.tx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "sent" },
	{ "node.cpu_busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "busy time of all CPUs" },
	{ "node.mem_total_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "memory" },
	{ "node.mem_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "memory in use" },
	{ "core.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "busy time of a CPU" },
};

#define RUN_NODE_METRICS 13 /* from this one on rows at edges have none */
#define RUN_COLUMNS      20

static inline void run_columns(struct tg_column *c)
{
	for (size_t i = 0; i < RUN_COLUMNS; i++) {
		c[i] = (struct tg_column){ .metric = &run_metric[TG_MIN(i, (size_t)16)] };
		if (i == 11 || i == 12)
			snprintf(c[i].instance, sizeof(c[i].instance), "eth0");
		if (i >= 16)
			snprintf(c[i].instance, sizeof(c[i].instance), "cpu%zu", i - 16);
	}
}

/* How much of [a, b] seconds lies before `s`. */
static inline double run_part(double s, double a, double b)
{
	return s <= a ? 0 : s >= b ? b - a : s - a;
}

/* The row at `s` seconds after the beginning. */
static inline void run_row(double s, bool edge, int64_t *v)
{
	double cell0 = run_part(s, 2, 4), cell2 = run_part(s, 6, 9);
	double cpu = 5 + cell0 + run_part(s, 5, 5.003) + 3.2 * cell2;

	v[0] = (int64_t)llround(cpu * 1e9);
	v[1] = s < 6 ? 100000000 + (int64_t)(cell0 * 100e6)
		     : 300000000 + (int64_t)(run_part(s, 6, 7.5) / 1.5 * 6.7e9);
	v[2] = v[1] * 2;
	v[3] = 1000000 + (int64_t)(cell0 * 10e6);
	v[4] = 2000000 + (int64_t)(cell2 * 200e6);
	v[5] = 10 + (int64_t)(cell0 * 100);
	v[6] = 20 + (int64_t)(cell2 * 1000);
	for (int i = 0; i < 4; i++)
		v[7 + i] = v[3 + i];
	v[11] = (int64_t)(s * 1000);
	v[12] = (int64_t)(s * 500);
	v[13] = v[0] + (int64_t)(s * 0.1e9);
	v[14] = INT64_C(16000000000);
	v[15] = INT64_C(2000000000) + v[1];
	for (int i = 0; i < 4; i++) /* cell 0 keeps CPU 0 busy, cell 2 each to 80 % */
		v[16 + i] = (int64_t)(((i == 0 ? cell0 : 0) + 0.8 * cell2) * 1e9);
	if (edge)
		for (int i = RUN_NODE_METRICS; i < RUN_COLUMNS; i++)
			v[i] = TG_MISSING;
}

static inline void run_event(struct tg_writer *w, const char *json)
{
	struct tg_buf line = TG_BUF_INIT;

	tg_buf_addf(&line, "%s\n", json);
	tg_writer_events(w, line.data, line.len);
	tg_buf_release(&line);
}

static inline void run_rows(struct tg_writer *w, uint32_t table, unsigned flags)
{
	static const double edge[] = { 2, 4, 5, 5.003, 6, 9 };
	struct tg_block *b = tg_block_new(table, RUN_COLUMNS, 4096);
	int64_t row[RUN_COLUMNS];

	for (int tick = 0; tick <= 100; tick++) { /* tenths of a second, with a little delay */
		double s = tick / 10.0 + 0.02;
		bool in_cell = (s > 2 && s < 4) || (s > 6 && s < 9);

		for (size_t e = 0; e < TG_ARRAY_SIZE(edge); e++) {
			double at = edge[e] + (double)RUN_EDGE / 1e9;

			if (!(flags & RUN_NO_EDGES) && at <= s && at > s - 0.1) {
				run_row(at, true, row);
				tg_block_add(b, RUN_T0 + (int64_t)llround(edge[e] * 1e9) + RUN_EDGE,
					row);
			}
		}
		if (in_cell || tick % 10 == 0) {
			run_row(s, false, row);
			tg_block_add(b, RUN_T0 + (int64_t)llround(s * 1e9), row);
		}
		if (tick % 10 == 9 && b->n_rows) {
			tg_writer_block(w, b);
			b->n_rows = 0;
		}
	}
	if (b->n_rows)
		tg_writer_block(w, b);
	tg_block_free(b);
}

static inline void run_begin(struct tg_writer *w, int span, double s, const char *more)
{
	struct tg_buf e = TG_BUF_INIT;

	tg_buf_addf(&e,
		"{\"ev\":\"begin\",\"t\":%lld,\"span\":%d,\"id\":\"k-%d\",\"kind\":\"cell\","
		"\"parent\":1,%s}",
		(long long)(RUN_T0 + (int64_t)llround(s * 1e9)), span, span, more);
	run_event(w, e.data);
	tg_buf_release(&e);
}

static inline void run_end(struct tg_writer *w, int span, double s, const char *status)
{
	struct tg_buf e = TG_BUF_INIT;

	tg_buf_addf(&e, "{\"ev\":\"end\",\"t\":%lld,\"span\":%d,\"status\":\"%s\"}",
		(long long)(RUN_T0 + (int64_t)llround(s * 1e9)), span, status);
	run_event(w, e.data);
	tg_buf_release(&e);
}

/* VmHWM as the recorder notes it: at first, and when it rose. */
static inline void run_peaks(struct tg_writer *w)
{
	struct tg_process_block *b = tg_process_block_new();
	static const struct {
		double s;
		int64_t value;
	} peak[] = { { 0.02, 100000000 }, { 2.12, 150000000 }, { 4, 300000000 },
		{ 9, INT64_C(7600000000) } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(peak); i++)
		tg_process_block_add(b,
			&(struct tg_process_cell){ RUN_T0 + (int64_t)(peak[i].s * 1e9) + RUN_EDGE,
				1, TG_PROCESS_HWM_BYTES, peak[i].value });
	tg_writer_processes(w, b);
	tg_process_block_free(b);
}

static inline void run_cells(struct tg_writer *w, unsigned flags)
{
	run_begin(w, 2, 2, "\"count\":1,\"code\":\"import numpy as np\\nx = np.ones(9)\"");
	run_end(w, 2, 4, "ok");
	run_begin(w, 3, 5, "\"count\":2,\"code\":\"pass\"");
	run_end(w, 3, 5.003, "ok");
	run_begin(w, 4, 6,
		"\"count\":3,\"code\":\"# <b>bold</b> & \\u001b[31mred\\u001b[0m\\nfit(x)\"");
	if (!(flags & RUN_NO_END))
		run_end(w, 4, 9, "error");
}

/* Write it to `path`, which must not exist. */
static inline void run_write(const char *path, unsigned flags)
{
	struct tg_column column[RUN_COLUMNS] = { 0 };
	struct tg_err err = { 0 };
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	run_event(w, "{\"ev\":\"interval\",\"t\":1000000000000,\"ns\":1000000000}");
	run_event(
		w, flags & RUN_TWO_CPUS
			   ? "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"cores\",\"value\":2,"
			     "\"why\":\"affinity\",\"cpus\":\"1,3\"}"
			   : "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"cores\",\"value\":4,"
			     "\"why\":\"affinity\",\"cpus\":\"0-3\"}");
	run_event(w, "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"memory_bytes\","
		     "\"value\":8000000000,\"why\":\"cgroup limit\"}");
	run_event(w, "{\"ev\":\"birth\",\"t\":1000020000000,\"entity\":1,\"pid\":4711,\"ppid\":1,"
		     "\"start_ns\":1,\"comm\":\"python3\",\"args\":\"python3 -m ipykernel\"}");
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\","
		     "\"name\":\"kernel\"}");
	run_columns(column);
	tg_writer_table(w, tg_writer_next_table(w), "main", column, RUN_COLUMNS);
	if (!(flags & RUN_NO_CELLS))
		run_cells(w, flags);
	run_event(w, "{\"ev\":\"missed\",\"t\":1007000000000,\"n\":2}");
	run_event(w, "{\"ev\":\"mark\",\"t\":1008000000000,\"name\":\"half\",\"attrs\":{\"rows\":"
		     "\"4000\"}}");
	if (!(flags & RUN_NO_ROWS)) {
		run_rows(w, tg_writer_next_table(w) - 1, flags);
		run_peaks(w);
	}
	if (flags & RUN_NO_END) {
		tg_writer_abandon(w);
		return;
	}
	run_event(w, "{\"ev\":\"end\",\"t\":1010000000000,\"span\":1,\"status\":\"ok\"}");
	tg_writer_finish(w);
}

/* A folder of the test's own, made at the first call. */
static inline const char *run_dir(void)
{
	static char dir[64];

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/tacho-test-XXXXXX");
		if (!mkdtemp(dir))
			exit(1);
	}
	return dir;
}

/* A path in it; valid until the next call but three. */
static inline const char *run_path(const char *name)
{
	static char path[4][160];
	static int at;

	at = (at + 1) % 4;
	snprintf(path[at], sizeof(path[at]), "%s/%s", run_dir(), name);
	return path[at];
}

#endif
