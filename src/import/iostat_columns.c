/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/iostat.h"

#include <math.h>

#include "import/csv.h"
#include "import/scan.h"

#include "base/mem.h"

static const struct tg_quantity columns[TG_IO_COLUMNS] = {
	[TG_IO_RRQM] = { "rrqm/s", NULL, 2 },
	[TG_IO_WRQM] = { "wrqm/s", NULL, 2 },
	[TG_IO_R] = { "r/s", "r/s", 2 },
	[TG_IO_W] = { "w/s", "w/s", 2 },
	[TG_IO_RKB] = { "rkB/s", "rkB/s", 2 },
	[TG_IO_WKB] = { "wkB/s", "wkB/s", 2 },
	[TG_IO_AVGRQ] = { "avgrq-sz [sectors]", NULL, 2 },
	[TG_IO_QUEUE] = { "avgqu-sz", NULL, 2 },
	[TG_IO_AWAIT] = { "await [ms]", NULL, 2 },
	[TG_IO_R_AWAIT] = { "r_await [ms]", NULL, 2 },
	[TG_IO_W_AWAIT] = { "w_await [ms]", NULL, 2 },
	[TG_IO_SVCTM] = { "svctm [ms]", NULL, 2 },
	[TG_IO_UTIL] = { "%util", "%util", 2 },
	[TG_IO_RRQM_PCT] = { "%rrqm", NULL, 2 },
	[TG_IO_WRQM_PCT] = { "%wrqm", NULL, 2 },
	[TG_IO_RAREQ] = { "rareq-sz [kB]", NULL, 2 },
	[TG_IO_WAREQ] = { "wareq-sz [kB]", NULL, 2 },
	[TG_IO_D] = { "d/s", NULL, 2 },
	[TG_IO_DKB] = { "dkB/s", NULL, 2 },
	[TG_IO_DRQM] = { "drqm/s", NULL, 2 },
	[TG_IO_DRQM_PCT] = { "%drqm", NULL, 2 },
	[TG_IO_D_AWAIT] = { "d_await [ms]", NULL, 2 },
	[TG_IO_DAREQ] = { "dareq-sz [kB]", NULL, 2 },
	[TG_IO_F] = { "f/s", NULL, 2 },
	[TG_IO_F_AWAIT] = { "f_await [ms]", NULL, 2 },
	[TG_IO_TPS] = { "tps", NULL, 2 },
	[TG_IO_KB] = { "kB/s", NULL, 2 },
	[TG_IO_RQM] = { "rqm/s", NULL, 2 },
	[TG_IO_AREQ] = { "areq-sz [kB]", NULL, 2 },
};

/* All names of a column, in text and in JSON. Sizes come in the unit that was asked for. */
static const struct {
	const char *name;
	enum tg_iostat_column column;
	double factor;
} names[] = {
	{ "rrqm/s", TG_IO_RRQM, 1 },
	{ "wrqm/s", TG_IO_WRQM, 1 },
	{ "r/s", TG_IO_R, 1 },
	{ "w/s", TG_IO_W, 1 },
	{ "rkB/s", TG_IO_RKB, 1 },
	{ "rMB/s", TG_IO_RKB, 1024 },
	{ "rsec/s", TG_IO_RKB, 0.5 },
	{ "wkB/s", TG_IO_WKB, 1 },
	{ "wMB/s", TG_IO_WKB, 1024 },
	{ "wsec/s", TG_IO_WKB, 0.5 },
	{ "avgrq-sz", TG_IO_AVGRQ, 1 },
	{ "avgqu-sz", TG_IO_QUEUE, 1 },
	{ "aqu-sz", TG_IO_QUEUE, 1 },
	{ "await", TG_IO_AWAIT, 1 },
	{ "r_await", TG_IO_R_AWAIT, 1 },
	{ "w_await", TG_IO_W_AWAIT, 1 },
	{ "svctm", TG_IO_SVCTM, 1 },
	{ "%util", TG_IO_UTIL, 1 },
	{ "util", TG_IO_UTIL, 1 },
	{ "%rrqm", TG_IO_RRQM_PCT, 1 },
	{ "rrqm", TG_IO_RRQM_PCT, 1 },
	{ "%wrqm", TG_IO_WRQM_PCT, 1 },
	{ "wrqm", TG_IO_WRQM_PCT, 1 },
	{ "rareq-sz", TG_IO_RAREQ, 1 },
	{ "wareq-sz", TG_IO_WAREQ, 1 },
	{ "d/s", TG_IO_D, 1 },
	{ "dkB/s", TG_IO_DKB, 1 },
	{ "dMB/s", TG_IO_DKB, 1024 },
	{ "dsec/s", TG_IO_DKB, 0.5 },
	{ "drqm/s", TG_IO_DRQM, 1 },
	{ "%drqm", TG_IO_DRQM_PCT, 1 },
	{ "drqm", TG_IO_DRQM_PCT, 1 },
	{ "d_await", TG_IO_D_AWAIT, 1 },
	{ "dareq-sz", TG_IO_DAREQ, 1 },
	{ "f/s", TG_IO_F, 1 },
	{ "f_await", TG_IO_F_AWAIT, 1 },
	{ "tps", TG_IO_TPS, 1 },
	{ "kB_read/s", TG_IO_RKB, 1 },
	{ "MB_read/s", TG_IO_RKB, 1024 },
	{ "Blk_read/s", TG_IO_RKB, 0.5 },
	{ "kB_wrtn/s", TG_IO_WKB, 1 },
	{ "MB_wrtn/s", TG_IO_WKB, 1024 },
	{ "Blk_wrtn/s", TG_IO_WKB, 0.5 },
	{ "kB_dscd/s", TG_IO_DKB, 1 },
	{ "MB_dscd/s", TG_IO_DKB, 1024 },
	{ "Blk_dscd/s", TG_IO_DKB, 0.5 },
	{ "kB/s", TG_IO_KB, 1 },
	{ "MB/s", TG_IO_KB, 1024 },
	{ "sec/s", TG_IO_KB, 0.5 },
	{ "rqm/s", TG_IO_RQM, 1 },
	{ "areq-sz", TG_IO_AREQ, 1 },
};

#define BIT(column) (UINT64_C(1) << (column))
#define NODE        TG_SCOPE_NODE
#define WHOLE(name, unit, meaning, factor, column)                                                 \
	{                                                                                          \
		{ name, unit, TG_COUNTER, NODE, 0, NULL }, meaning, factor, BIT(column), 0, true   \
	}
#define RATE(name, unit, factor, column, help)                                                     \
	{                                                                                          \
		{ name, unit, TG_COUNTER, NODE, 0, help }, TG_PER_SECOND, factor, BIT(column)      \
	}
#define LEVEL(name, unit, scale, factor, column, help)                                             \
	{                                                                                          \
		{ name, unit, TG_GAUGE, NODE, scale, help }, TG_LEVEL, factor, BIT(column)         \
	}

static const struct tg_derived outputs[] = {
	WHOLE("disk.read_bytes", "bytes", TG_PER_SECOND, 1024, TG_IO_RKB),
	WHOLE("disk.write_bytes", "bytes", TG_PER_SECOND, 1024, TG_IO_WKB),
	WHOLE("disk.read_ops", "ops", TG_PER_SECOND, 1, TG_IO_R),
	WHOLE("disk.write_ops", "ops", TG_PER_SECOND, 1, TG_IO_W),
	WHOLE("disk.busy_ns", "ns", TG_PERCENT_OF_TIME, 1, TG_IO_UTIL),
	RATE("iostat.read_bytes", "bytes", 1024, TG_IO_RKB,
		"bytes read from a device, also from one that stands on others"),
	RATE("iostat.write_bytes", "bytes", 1024, TG_IO_WKB, "bytes written to such a device"),
	RATE("iostat.read_ops", "ops", 1, TG_IO_R, "reads that such a device has completed"),
	RATE("iostat.write_ops", "ops", 1, TG_IO_W, "writes that such a device has completed"),
	RATE("iostat.discard_bytes", "bytes", 1024, TG_IO_DKB, "bytes that were discarded"),
	RATE("iostat.discard_ops", "ops", 1, TG_IO_D, "discards that are completed"),
	RATE("iostat.flush_ops", "ops", 1, TG_IO_F, "flushes that are completed"),
	RATE("iostat.all_ops", "ops", 1, TG_IO_TPS, "requests of all kinds that are completed"),
	RATE("iostat.all_bytes", "bytes", 1024, TG_IO_KB, "bytes of requests of all kinds"),
	RATE("iostat.read_merges", "ops", 1, TG_IO_RRQM, "reads that were merged into others"),
	RATE("iostat.write_merges", "ops", 1, TG_IO_WRQM, "writes that were merged into others"),
	RATE("iostat.discard_merges", "ops", 1, TG_IO_DRQM,
		"discards that were merged into others"),
	RATE("iostat.all_merges", "ops", 1, TG_IO_RQM, "requests that were merged into others"),
	LEVEL("iostat.util_pct", "pct", -2, 1, TG_IO_UTIL,
		"time in which the device had something to do"),
	LEVEL("iostat.queue_mean", "count", -2, 1, TG_IO_QUEUE,
		"requests that waited or were served"),
	LEVEL("iostat.await_ms", "ms", -2, 1, TG_IO_AWAIT, "time that a request took"),
	LEVEL("iostat.read_await_ms", "ms", -2, 1, TG_IO_R_AWAIT, "time that a read took"),
	LEVEL("iostat.write_await_ms", "ms", -2, 1, TG_IO_W_AWAIT, "time that a write took"),
	LEVEL("iostat.discard_await_ms", "ms", -2, 1, TG_IO_D_AWAIT, "time that a discard took"),
	LEVEL("iostat.flush_await_ms", "ms", -2, 1, TG_IO_F_AWAIT, "time that a flush took"),
	LEVEL("iostat.service_ms", "ms", -2, 1, TG_IO_SVCTM,
		"busy time for each request, as old versions have it"),
	LEVEL("iostat.request_bytes", "bytes", 0, 512, TG_IO_AVGRQ, "mean size of a request"),
	LEVEL("iostat.any_request_bytes", "bytes", 0, 1024, TG_IO_AREQ,
		"the same, as iostat -s has it"),
	LEVEL("iostat.read_request_bytes", "bytes", 0, 1024, TG_IO_RAREQ, "mean size of a read"),
	LEVEL("iostat.write_request_bytes", "bytes", 0, 1024, TG_IO_WAREQ, "mean size of a write"),
	LEVEL("iostat.discard_request_bytes", "bytes", 0, 1024, TG_IO_DAREQ,
		"mean size of a discard"),
	LEVEL("iostat.read_merged_pct", "pct", -2, 1, TG_IO_RRQM_PCT, "reads that were merged"),
	LEVEL("iostat.write_merged_pct", "pct", -2, 1, TG_IO_WRQM_PCT, "writes that were merged"),
	LEVEL("iostat.discard_merged_pct", "pct", -2, 1, TG_IO_DRQM_PCT,
		"discards that were merged"),
};

const struct tg_log_layout tg_iostat_layout = { columns, TG_IO_COLUMNS, outputs,
	TG_ARRAY_SIZE(outputs) };

static const struct tg_quantity cpu_columns[TG_IO_CPUS] = { { 0 } };

#define CORES(name, bits)                                                                          \
	{                                                                                          \
		{ name, "ns", TG_COUNTER, NODE, 0, NULL }, TG_PERCENT_OF_CORES, 1, bits            \
	}

static const struct tg_derived cpu_outputs[] = {
	CORES("node.cpu_busy_ns",
		BIT(TG_IO_USER) | BIT(TG_IO_NICE) | BIT(TG_IO_SYSTEM) | BIT(TG_IO_STEAL)),
	CORES("node.cpu_user_ns", BIT(TG_IO_USER) | BIT(TG_IO_NICE)),
	CORES("node.cpu_system_ns", BIT(TG_IO_SYSTEM)),
	CORES("node.cpu_iowait_ns", BIT(TG_IO_IOWAIT)),
	CORES("node.cpu_steal_ns", BIT(TG_IO_STEAL)),
	LEVEL("iostat.cpu_user_pct", "pct", -2, 1, TG_IO_USER, "time of all cores in programs"),
	LEVEL("iostat.cpu_nice_pct", "pct", -2, 1, TG_IO_NICE, "in programs of low priority"),
	LEVEL("iostat.cpu_system_pct", "pct", -2, 1, TG_IO_SYSTEM, "in the kernel"),
	LEVEL("iostat.cpu_iowait_pct", "pct", -2, 1, TG_IO_IOWAIT,
		"idle while a process waited for storage"),
	LEVEL("iostat.cpu_steal_pct", "pct", -2, 1, TG_IO_STEAL, "taken by the hypervisor"),
	LEVEL("iostat.cpu_idle_pct", "pct", -2, 1, TG_IO_IDLE, "with nothing to do"),
};

const struct tg_log_layout tg_iostat_cpu_layout = { cpu_columns, TG_IO_CPUS, cpu_outputs,
	TG_ARRAY_SIZE(cpu_outputs) };

void tg_iostat_begin(struct tg_iostat *io, struct tg_logfile *log)
{
	*io = (struct tg_iostat){ .log = log, .next_is_first = true };
	io->disks = &log->part[0].grid;
	io->cpu = &log->part[1].grid;
	log->since = "boot";
}

/* What was cut has a stamp at its end, and no row. */
static void drop_empty(struct tg_iostat *io)
{
	struct tg_readings *g = io->disks->n_items ? io->disks : io->cpu;

	if (!g->n_ticks || g->n_rows)
		return;
	tg_readings_drop(io->disks);
	tg_readings_drop(io->cpu);
	io->n_reports--;
}

void tg_iostat_end(struct tg_iostat *io)
{
	drop_empty(io);
	io->log->n_samples = io->n_reports;
}

void tg_iostat_run(struct tg_iostat *io, const char *host, size_t host_len, int64_t cpus)
{
	struct tg_logfile *log = io->log;

	io->next_is_first = true;
	if (!log->host[0])
		snprintf(log->host, sizeof(log->host), "%.*s", (int)TG_MIN(host_len, (size_t)255),
			host);
	if (!log->cpus && cpus > 0 && cpus <= 65536)
		log->cpus = cpus;
}

void tg_iostat_report(struct tg_iostat *io, const struct tg_stamp *stamp)
{
	struct tg_readings *grid[] = { io->disks, io->cpu };
	int64_t step = io->log->interval_ns ? io->log->interval_ns : TG_NS_PER_S;
	int64_t ns = stamp ? stamp->civil_ns : (int64_t)io->n_reports * step;

	io->n_reports++;
	io->since_boot = io->next_is_first;
	io->next_is_first = false;
	io->log->n_averages += io->since_boot;
	if (stamp && stamp->has_offset)
		ns -= stamp->offset_s * TG_NS_PER_S;
	for (size_t i = 0; i < TG_ARRAY_SIZE(grid); i++) {
		if (!stamp)
			grid[i]->times = io->log->interval_ns ? TG_RELATIVE : TG_NUMBERED;
		grid[i]->in_utc |= stamp && stamp->has_offset;
		if (io->since_boot)
			grid[i]->next_begin_ns = ns;
		else
			tg_readings_tick(grid[i], ns);
	}
}

int tg_iostat_column(const char *name, size_t len, double *factor)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++)
		if (tg_scan_is(name, name + len, names[i].name)) {
			*factor = names[i].factor;
			return (int)names[i].column;
		}
	return -1;
}

int tg_iostat_cpu_column(const char *name, size_t len)
{
	static const char *const known[TG_IO_CPUS] = { "user", "nice", "system", "iowait", "steal",
		"idle" };

	if (len && *name == '%') {
		name++;
		len--;
	}
	for (int i = 0; i < TG_IO_CPUS; i++)
		if (tg_scan_is(name, name + len, known[i]))
			return i;
	return -1;
}

static void put(
	struct tg_iostat *io, struct tg_readings *grid, const char *name, const double *value)
{
	ptrdiff_t at;

	if (!io->n_reports || io->since_boot || !grid->n_ticks)
		return;
	at = tg_readings_item(grid, name);
	if (at >= 0)
		tg_readings_row(grid, (size_t)at, value);
}

void tg_iostat_disk(struct tg_iostat *io, const char *name, const double *value)
{
	put(io, io->disks, name, value);
}

void tg_iostat_cpu_row(struct tg_iostat *io, const double *value)
{
	put(io, io->cpu, "", value);
}

void tg_iostat_version(struct tg_logfile *log, uint64_t c)
{
	const char *version = "";

	if (log->version[0])
		return;
	if (c & BIT(TG_IO_F))
		version = "sysstat 12.5.2 or later";
	else if ((c & BIT(TG_IO_D)) && (c & BIT(TG_IO_UTIL)))
		version = "sysstat 12.1 to 12.5";
	else if (c & BIT(TG_IO_AVGRQ))
		version = "sysstat 11.5 or before";
	else if (c & BIT(TG_IO_SVCTM))
		version = "sysstat 11.6 to 12.0";
	else if (c & BIT(TG_IO_DKB))
		version = "sysstat 12.1 or later";
	else if (c & BIT(TG_IO_AREQ))
		version = "sysstat 11.6 or later";
	tg_logfile_version(log, version);
}
