/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A made recording as the recorder would have written it, for what is read back: HOURS at 1 Hz of a
 * job of PROCESSES on CORES cores, with stages. Everything follows from the clock and one seed.
 * Usage: long_recording FILE HOURS PROCESSES CORES
 */
#include <stdarg.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "record/format.h"
#include "record/writer.h"

#include "base/mem.h"

#define ROWS_A_CHUNK 2
#define STAGES       24
#define BUSY         5 /* every n-th process works at a time */

static const struct tg_metric metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
	{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	{ "tree.vms_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	{ "tree.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
	{ "tree.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
	{ "tree.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
	{ "tree.write_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
	{ "tree.processes", "count", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	{ "node.cpu_busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "node.cpu_user_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "node.cpu_system_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "node.cpu_iowait_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "node.cpu_steal_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "node.mem_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "" },
	{ "node.mem_total_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "" },
	{ "node.swap_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "" },
	{ "disk.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "disk.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "disk.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "net.rx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "net.tx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "psi.cpu_some_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "psi.io_some_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
	{ "tree.pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	{ "core.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
};

#define SINGLE (TG_ARRAY_SIZE(metric) - 1) /* the last one has an instance for each core */

struct made {
	struct tg_writer *w;
	struct tg_block *block;
	struct tg_process_block *cells;
	int64_t value[SINGLE + 1024], *cpu_ns, *rss_bytes;
	size_t processes, cores, columns;
	uint64_t seed;
};

static uint64_t rnd(struct made *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	return m->seed ^= m->seed << 17;
}

static void line(struct made *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(struct made *m, const char *fmt, ...)
{
	struct tg_buf b = TG_BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	tg_buf_vaddf(&b, fmt, ap);
	va_end(ap);
	tg_buf_addc(&b, '\n');
	tg_writer_events(m->w, b.data, b.len);
	tg_buf_release(&b);
}

static void cell(struct made *m, int64_t t, size_t i, uint32_t field, int64_t value)
{
	struct tg_process_cell c = {
		.t_ns = t, .entity = (uint32_t)i + 1, .field = field, .value = value
	};

	tg_process_block_add(m->cells, &c);
}

static void processes(struct made *m, int64_t t, int64_t second)
{
	for (size_t i = 0; i < m->processes; i++) {
		if ((size_t)(second / 600 + (int64_t)i) % BUSY)
			continue;
		m->cpu_ns[i] += TG_NS_PER_S - (int64_t)(rnd(m) % 200000000);
		cell(m, t, i, TG_PROCESS_CPU_NS, m->cpu_ns[i]);
		if (rnd(m) % 3 == 0) {
			m->rss_bytes[i] += (int64_t)(rnd(m) % 3000000) - 1400000;
			m->rss_bytes[i] = TG_MAX(m->rss_bytes[i], 1 << 20);
			cell(m, t, i, TG_PROCESS_RSS_BYTES, m->rss_bytes[i]);
		}
	}
}

static void row(struct made *m, int64_t t, int64_t second)
{
	for (size_t c = 0; c < m->columns; c++) {
		const struct tg_metric *k = &metric[TG_MIN(c, SINGLE)];

		if (k->kind == TG_COUNTER)
			m->value[c] += rnd(m) % 4 ? (int64_t)(rnd(m) % 900000000) : 0;
		else
			m->value[c] = (INT64_C(8) << 30) + (int64_t)(rnd(m) % 1000) * 40960;
	}
	tg_block_add(m->block, t, m->value);
	processes(m, t, second);
}

static void births(struct made *m, int64_t t)
{
	for (size_t i = 0; i < m->processes; i++)
		line(m,
			"{\"ev\":\"birth\",\"t\":%lld,\"entity\":%zu,\"pid\":%zu,\"ppid\":%d,"
			"\"start_ns\":%lld,\"comm\":\"worker%zu\",\"args\":\"worker --part=%zu\"}",
			(long long)t, i + 1, 1000 + i, i ? 1000 : 1, (long long)t, i % 7, i);
}

static void stage(struct made *m, const char *ev, size_t k, int64_t t)
{
	if (!strcmp(ev, "begin"))
		line(m,
			"{\"ev\":\"begin\",\"t\":%lld,\"span\":%zu,\"id\":\"s%zu\","
			"\"kind\":\"stage\",\"name\":\"stage %zu\",\"parent\":1}",
			(long long)t, k + 2, k, k);
	else
		line(m, "{\"ev\":\"end\",\"t\":%lld,\"span\":%zu,\"status\":\"ok\"}", (long long)t,
			k + 2);
}

static void write_all(struct made *m, int64_t seconds)
{
	const int64_t base = 1000 * TG_NS_PER_S;
	size_t next = 0;

	line(m, "{\"ev\":\"clock\",\"t\":%lld,\"mono_ns\":%lld,\"real_ns\":%lld,\"boot_ns\":%lld}",
		(long long)base, (long long)base, 1796000000000000000LL, (long long)base);
	line(m,
		"{\"ev\":\"limit\",\"t\":%lld,\"what\":\"cores\",\"value\":%zu,\"why\":"
		"\"machine\"}",
		(long long)base, m->cores);
	line(m,
		"{\"ev\":\"begin\",\"t\":%lld,\"span\":1,\"id\":\"r\",\"kind\":\"run\","
		"\"name\":\"made\",\"attrs\":{\"command\":\"made --for long\"}}",
		(long long)base);
	births(m, base);
	for (int64_t s = 0; s <= seconds; s++) {
		int64_t t = base + s * TG_NS_PER_S;

		if (next <= STAGES && s >= (int64_t)next * seconds / STAGES) {
			if (next)
				stage(m, "end", next - 1, t);
			if (next < STAGES)
				stage(m, "begin", next, t);
			next++;
		}
		row(m, t, s);
		if (m->block->n_rows == ROWS_A_CHUNK || s == seconds) {
			tg_writer_block(m->w, m->block);
			tg_writer_processes(m->w, m->cells);
			m->block->n_rows = 0;
			m->cells->n = 0;
		}
	}
	line(m, "{\"ev\":\"end\",\"t\":%lld,\"span\":1,\"status\":\"ok\"}",
		(long long)(base + seconds * TG_NS_PER_S));
}

int main(int argc, char **argv)
{
	struct made m = { .seed = 88172645463325252u };
	struct tg_column *column;
	struct tg_err err;
	double hours = argc == 5 ? strtod(argv[2], NULL) : 0;

	m.processes = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
	m.cores = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
	if (!(hours > 0) || !m.processes || !m.cores || m.cores > 1024) {
		fprintf(stderr, "usage: long_recording FILE HOURS PROCESSES CORES\n");
		return 2;
	}
	unlink(argv[1]);
	if (tg_writer_open(&m.w, argv[1],
		    "{\"host\":\"made\",\"boot_id\":\"b\",\"cpus\":16,\"machine\":{\"cpus\":16}}",
		    &err) < 0) {
		fprintf(stderr, "long_recording: %s\n", err.text);
		return 1;
	}
	m.columns = SINGLE + m.cores;
	column = tg_xcalloc(m.columns, sizeof(*column));
	for (size_t c = 0; c < m.columns; c++) {
		column[c].metric = &metric[TG_MIN(c, SINGLE)];
		if (c >= SINGLE)
			snprintf(column[c].instance, sizeof(column[c].instance), "cpu%zu",
				c - SINGLE);
	}
	tg_writer_table(m.w, 1, "main", column, m.columns);
	m.block = tg_block_new(1, (uint32_t)m.columns, ROWS_A_CHUNK);
	m.cells = tg_process_block_new();
	m.cpu_ns = tg_xcalloc(m.processes, sizeof(*m.cpu_ns));
	m.rss_bytes = tg_xcalloc(m.processes, sizeof(*m.rss_bytes));
	for (size_t i = 0; i < m.processes; i++)
		m.rss_bytes[i] = INT64_C(50) << 20;
	write_all(&m, (int64_t)(hours * 3600));
	tg_block_free(m.block);
	tg_process_block_free(m.cells);
	free(m.cpu_ns);
	free(m.rss_bytes);
	free(column);
	return tg_writer_finish(m.w) < 0;
}
