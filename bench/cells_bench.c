/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the list of cells of a long notebook costs. `write` makes a recording of SECONDS at 10 Hz
 * with CELLS short cells, 100 columns, rows and a peak of RSS at both edges of each cell, a child
 * process in every fourth; it is a function of its arguments. `totals` loads it, works out the
 * totals of every cell, one after the other, and prints one JSON object.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/totals.h"
#include "base/clock.h"
#include "base/file.h"
#include "record/format.h"
#include "record/writer.h"

#include "base/mem.h"

#define T0      (INT64_C(1000) * TG_NS_PER_S)
#define TICK    (TG_NS_PER_S / 10)
#define COLUMNS 100
#define EDGES   14 /* columns that rows at edges have */

#define SESSION                                                                                    \
	"{\"host\":\"bench\",\"boot_id\":\"b\",\"time_zone\":\"UTC\",\"clock\":"                   \
	"{\"mono_ns\":1000000000000,\"real_ns\":1767225600000000000,\"boot_ns\":1000000000000}}"

static const struct tg_metric metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	{ "tree.vms_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	{ "tree.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.rchar_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.wchar_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.write_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "cgroup.throttled_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "disk.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "disk.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "net.rx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "net.tx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "core.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
};

struct bench {
	struct tg_writer *w;
	struct tg_block *rows;
	struct tg_process_block *peaks;
	struct tg_buf events;
	uint64_t seed;
	int64_t value[COLUMNS];
	int64_t hwm;
};

static uint64_t rnd(struct bench *b)
{
	b->seed ^= b->seed >> 12;
	b->seed ^= b->seed << 25;
	b->seed ^= b->seed >> 27;
	return b->seed * UINT64_C(2685821657736338717) >> 11;
}

static void row(struct bench *b, int64_t t, bool edge)
{
	int64_t v[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		b->value[i] += (int64_t)(rnd(b) % (i == 0 ? 20000000 : 5000));
	b->value[1] = 300000000 + (int64_t)(rnd(b) % 65536) * 4096;
	memcpy(v, b->value, sizeof(v));
	for (int i = EDGES; edge && i < COLUMNS; i++)
		v[i] = TG_MISSING;
	tg_block_add(b->rows, t, v);
}

static void flush(struct bench *b)
{
	if (b->rows->n_rows)
		tg_writer_block(b->w, b->rows);
	if (b->events.len)
		tg_writer_events(b->w, b->events.data, b->events.len);
	if (b->peaks->n)
		tg_writer_processes(b->w, b->peaks);
	b->rows->n_rows = 0;
	b->peaks->n = 0;
	tg_buf_clear(&b->events);
}

static void edge(struct bench *b, int64_t t)
{
	row(b, t + 100000, true);
	b->hwm += (int64_t)(rnd(b) % 2) * 4096;
	tg_process_block_add(
		b->peaks, &(struct tg_process_cell){ t + 100000, 1, TG_PROCESS_HWM_BYTES, b->hwm });
}

static void cell(struct bench *b, int64_t i, int64_t begin, int64_t end)
{
	tg_buf_addf(&b->events,
		"{\"ev\":\"begin\",\"t\":%lld,\"span\":%lld,\"id\":\"k-%lld\",\"kind\":\"cell\","
		"\"name\":\"x = f(%lld)\",\"parent\":1,\"count\":%lld,\"code\":\"x = f(%lld)\"}\n",
		(long long)begin, (long long)i + 2, (long long)i, (long long)i, (long long)i + 1,
		(long long)i);
	if (i % 4 == 0)
		tg_buf_addf(&b->events,
			"{\"ev\":\"birth\",\"t\":%lld,\"entity\":%lld,\"pid\":%lld,\"ppid\":9,"
			"\"comm\":\"true\"}\n{\"ev\":\"death\",\"t\":%lld,\"entity\":%lld,"
			"\"pid\":%lld,\"cpu_ns\":1000}\n",
			(long long)begin + 1000, (long long)i + 2, (long long)i + 100,
			(long long)end - 1000, (long long)i + 2, (long long)i + 100);
	tg_buf_addf(&b->events, "{\"ev\":\"end\",\"t\":%lld,\"span\":%lld,\"status\":\"ok\"}\n",
		(long long)end, (long long)i + 2);
}

static int write_cells(const char *path, int64_t seconds, int64_t cells)
{
	struct bench b = { .seed = 1, .events = TG_BUF_INIT, .hwm = 300000000 };
	struct tg_column column[COLUMNS] = { 0 };
	struct tg_err err = { 0 };
	int64_t i = 0, step = seconds * TG_NS_PER_S / TG_MAX(cells, 1);
	int rc;

	unlink(path);
	rc = tg_writer_open(&b.w, path, SESSION, &err);
	if (rc < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	b.rows = tg_block_new(1, COLUMNS, 4096);
	b.peaks = tg_process_block_new();
	for (size_t k = 0; k < COLUMNS; k++) {
		size_t m = TG_MIN(k, TG_ARRAY_SIZE(metric) - 1);

		column[k] = (struct tg_column){ .metric = &metric[m] };
		if (k >= 10)
			snprintf(column[k].instance, sizeof(column[k].instance), "i%zu", k);
	}
	tg_writer_table(b.w, 1, "main", column, COLUMNS);
	tg_buf_adds(&b.events,
		"{\"ev\":\"birth\",\"t\":1000000000000,\"entity\":1,\"pid\":9,\"comm\":\"python3\"}"
		"\n"
		"{\"ev\":\"interval\",\"t\":1000000000000,\"ns\":100000000}\n"
		"{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}\n");
	for (int64_t tick = 0; tick < seconds * 10; tick++) {
		int64_t t = T0 + tick * TICK;

		row(&b, t, false);
		/* cells last from a tenth to a half of their distance, between ticks */
		for (; i < cells && T0 + i * step < t + TICK; i++) {
			int64_t begin = T0 + i * step + 1000000;
			int64_t end = begin + step / 10 + (int64_t)(rnd(&b) % 5) * step / 12;

			begin = TG_MAX(begin, b.rows->t_ns[b.rows->n_rows - 1]);
			end = TG_MIN(TG_MAX(end, begin + 200000), t + TICK - 200000);
			if (end <= begin)
				end = begin + 1;
			edge(&b, begin);
			edge(&b, end);
			cell(&b, i, begin, end);
		}
		if (tick % 10 == 9)
			flush(&b);
	}
	tg_buf_addf(&b.events, "{\"ev\":\"end\",\"t\":%lld,\"span\":1,\"status\":\"ok\"}\n",
		(long long)(T0 + seconds * TG_NS_PER_S));
	flush(&b);
	tg_block_free(b.rows);
	tg_process_block_free(b.peaks);
	tg_buf_release(&b.events);
	return tg_writer_finish(b.w) < 0;
}

/* Peak of resident memory. getrusage would tell that of the program that started this one. */
static double peak_mb(void)
{
	struct tg_buf status = TG_BUF_INIT;
	double mb = -1;
	char *at;

	if (tg_file_read(AT_FDCWD, "/proc/self/status", 65536, &status, NULL) >= 0 &&
		(at = strstr(status.data, "VmHWM:")))
		mb = (double)strtol(at + 6, NULL, 10) / 1024;
	tg_buf_release(&status);
	return mb;
}

static int read_cells(const char *path)
{
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	int64_t start = tg_mono_ns(), loaded_ns, totals_ns;
	double cpu_s = 0;
	size_t exact = 0;

	if (tg_recording_open(&r, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	loaded_ns = tg_mono_ns() - start;
	for (size_t i = 0; i < r->n_spans; i++) {
		struct tg_totals t;

		if (!strcmp(r->span[i].kind, "run"))
			continue;
		if (tg_totals_of(r, &r->span[i], &t) < 0)
			return 1;
		cpu_s += t.cpu_s;
		exact += t.exact;
	}
	totals_ns = tg_mono_ns() - start - loaded_ns;
	printf("{\"cells\":%zu,\"exact\":%zu,\"cpu_s\":%.6f,\"load_ms\":%.1f,\"totals_ms\":%.1f,"
	       "\"peak_rss_mb\":%.1f}\n",
		r->n_spans - 1, exact, cpu_s, (double)loaded_ns / 1e6, (double)totals_ns / 1e6,
		peak_mb());
	tg_recording_close(r);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_cells(argv[2], strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "totals"))
		return read_cells(argv[2]);
	fprintf(stderr, "usage: cells_bench write FILE SECONDS CELLS\n"
			"       cells_bench totals FILE\n");
	return 2;
}
