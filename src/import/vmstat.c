/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmstat, wide or not, with -t or without, of procps 3.3 and 4.0: columns by their known order,
 * since their heads are in the user's language.
 *
 *  --procs-- -----------------------memory---------------------- ---swap-- …   -----timestamp-----
 *     r    b         swpd         free         buff        cache   si   so …                  UTC
 *    26    0            0     16034672       110784      5445324    0    0 …  2026-12-01 20:53:39
 */
#include <math.h>

#include "import/civil.h"
#include "import/csv.h"
#include "import/logfile.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

enum {
	RUNNING,
	BLOCKED,
	SWPD,
	FREE,
	BUFF,
	CACHE,
	SI,
	SO,
	BI,
	BO,
	INTERRUPTS,
	SWITCHES,
	US,
	SY,
	ID,
	WA,
	ST,
	GU,
	INACTIVE, /* with -a in place of BUFF and CACHE */
	ACTIVE,
	COLUMNS
};
enum { PRINTED_MIN = WA + 1, PRINTED_MAX = GU + 1 }; /* columns of old and new versions */

static const struct tg_quantity columns[COLUMNS] = {
	[RUNNING] = { "procs-r", NULL, 0 },
	[BLOCKED] = { "procs-b", NULL, 0 },
	[SWPD] = { "mem-swpd [KiB]", NULL, 0 },
	[FREE] = { "mem-free [KiB]", NULL, 0 },
	[BUFF] = { "mem-buff [KiB]", NULL, 0 },
	[CACHE] = { "mem-cache [KiB]", NULL, 0 },
	[SI] = { "swap-si [KiB/s]", NULL, 0 },
	[SO] = { "swap-so [KiB/s]", NULL, 0 },
	[BI] = { "io-bi [KiB/s]", "bi", 0 },
	[BO] = { "io-bo [KiB/s]", "bo", 0 },
	[INTERRUPTS] = { "sys-in [1/s]", NULL, 0 },
	[SWITCHES] = { "sys-cs [1/s]", NULL, 0 },
	[US] = { "cpu-us [%]", "us", 0 },
	[SY] = { "cpu-sy [%]", "sy", 0 },
	[ID] = { "cpu-id [%]", "id", 0 },
	[WA] = { "cpu-wa [%]", "wa", 0 },
	[ST] = { "cpu-st [%]", "st", 0 },
};

#define BIT(column) (UINT64_C(1) << (column))
#define NODE        TG_SCOPE_NODE
#define KIB(name, column, help)                                                                    \
	{                                                                                          \
		{ name, "bytes", TG_GAUGE, NODE, 0, help }, TG_LEVEL, 1024, BIT(column)            \
	}
#define COUNT(name, column, help)                                                                  \
	{                                                                                          \
		{ name, "count", TG_GAUGE, NODE, 0, help }, TG_LEVEL, 1, BIT(column)               \
	}
#define PCT(name, column, help)                                                                    \
	{                                                                                          \
		{ name, "pct", TG_GAUGE, NODE, 0, help }, TG_LEVEL, 1, BIT(column)                 \
	}
#define RATE(name, unit, factor, column, help)                                                     \
	{                                                                                          \
		{ name, unit, TG_COUNTER, NODE, 0, help }, TG_PER_SECOND, factor, BIT(column)      \
	}
#define CORES(name, bits)                                                                          \
	{                                                                                          \
		{ name, "ns", TG_COUNTER, NODE, 0, NULL }, TG_PERCENT_OF_CORES, 1, bits            \
	}

static const struct tg_derived outputs[] = {
	COUNT("node.procs_running", RUNNING, NULL),
	CORES("node.cpu_busy_ns", BIT(US) | BIT(SY) | BIT(ST) | BIT(GU)),
	CORES("node.cpu_user_ns", BIT(US) | BIT(GU)),
	CORES("node.cpu_system_ns", BIT(SY)),
	CORES("node.cpu_iowait_ns", BIT(WA)),
	CORES("node.cpu_steal_ns", BIT(ST)),
	KIB("node.swap_used_bytes", SWPD, NULL),
	COUNT("vmstat.procs_blocked", BLOCKED, "processes that waited for storage"),
	KIB("vmstat.mem_free_bytes", FREE, "memory that nothing is in"),
	KIB("vmstat.mem_buffers_bytes", BUFF, "buffers of block devices"),
	KIB("vmstat.mem_cache_bytes", CACHE, "file cache and reclaimable slab"),
	KIB("vmstat.mem_inactive_bytes", INACTIVE, "memory that was not used lately"),
	KIB("vmstat.mem_active_bytes", ACTIVE, "memory that was used lately"),
	RATE("vmstat.swap_in_bytes", "bytes", 1024, SI, "memory that came back from swap"),
	RATE("vmstat.swap_out_bytes", "bytes", 1024, SO, "memory that went to swap"),
	RATE("vmstat.block_in_bytes", "bytes", 1024, BI, "bytes read from block devices"),
	RATE("vmstat.block_out_bytes", "bytes", 1024, BO, "bytes written to block devices"),
	RATE("vmstat.interrupts_all", "count", 1, INTERRUPTS, "interrupts"),
	RATE("vmstat.context_switches", "count", 1, SWITCHES, "changes from one thread to another"),
	PCT("vmstat.cpu_user_pct", US, "time of all cores in programs"),
	PCT("vmstat.cpu_system_pct", SY, "in the kernel"),
	PCT("vmstat.cpu_idle_pct", ID, "with nothing to do"),
	PCT("vmstat.cpu_iowait_pct", WA, "idle while a process waited for storage"),
	PCT("vmstat.cpu_steal_pct", ST, "taken by the hypervisor"),
	PCT("vmstat.cpu_guest_pct", GU, "in virtual machines of this one"),
};

static const struct tg_log_layout layout = { columns, COLUMNS, outputs, TG_ARRAY_SIZE(outputs) };

struct vmstat {
	struct tg_logfile *log;
	struct tg_readings *grid;
	uint64_t n_rows;
	bool heads_come; /* the line of groups was seen: that of heads comes next */
	bool new_groups; /* "--procs--" in it */
	bool active; /* -a */
};

/* By the line of groups and the number of columns. */
static void tell_version(struct vmstat *v, int n)
{
	if (!v->log->version[0])
		tg_logfile_version(v->log, n > GU          ? "procps 4.0.0 or later"
					   : v->new_groups ? "procps 3.3.17 or later"
							   : "procps before 3.3.17");
}

/* "   r    b         swpd …  UTC": how many columns of numbers, and whether the last is a zone. */
static void take_heads(struct vmstat *v, const char *line)
{
	const char *p = tg_scan_blanks(line), *word = p, *end = p;

	for (; *p; p = tg_scan_blanks(end)) {
		word = p;
		end = tg_scan_word(p);
		v->active |= tg_scan_is(word, end, "inact");
	}
	if (tg_scan_is(word, end, "UTC") || tg_scan_is(word, end, "GMT"))
		v->log->zone_is_utc = true;
}

/* The time of a row whose stamp, if it has one, is at `p`. False: it is not understood. */
static bool take_time(struct vmstat *v, const char *p, int64_t *civil_ns)
{
	struct tg_stamp stamp;

	if (*p) {
		p = tg_civil_stamp(p, &stamp);
		*civil_ns = stamp.civil_ns;
		return p && !*tg_scan_blanks(p);
	}
	v->grid->times = v->log->interval_ns ? TG_RELATIVE : TG_NUMBERED;
	*civil_ns = (int64_t)v->n_rows * (v->log->interval_ns ? v->log->interval_ns : TG_NS_PER_S);
	return true;
}

static void put_row(struct vmstat *v, const double *printed, int n)
{
	double value[COLUMNS];
	ptrdiff_t at = tg_readings_item(v->grid, "");

	for (int i = 0; i < COLUMNS; i++)
		value[i] = i < n && i <= GU ? printed[i] : NAN;
	if (v->active) {
		value[INACTIVE] = value[BUFF];
		value[ACTIVE] = value[CACHE];
		value[BUFF] = value[CACHE] = NAN;
	}
	if (at >= 0)
		tg_readings_row(v->grid, (size_t)at, value);
}

static bool take_row(struct vmstat *v, const char *line)
{
	double value[PRINTED_MAX];
	const char *p = tg_scan_blanks(line), *q;
	int64_t civil;
	int n = 0;

	while (n < PRINTED_MAX && (q = tg_scan_number(p, &value[n])) && (*q == ' ' || !*q)) {
		p = tg_scan_blanks(q);
		n++;
	}
	if (n < PRINTED_MIN || !take_time(v, p, &civil))
		return false;
	tell_version(v, n);
	if (!v->n_rows++) { /* averages since boot */
		v->grid->next_begin_ns = civil;
		return true;
	}
	tg_readings_tick(v->grid, civil);
	put_row(v, value, n);
	return true;
}

static bool take_line(struct vmstat *v, const char *line)
{
	if (strstr(line, "procs") && strstr(line, "---")) {
		v->new_groups = strstr(line, "--procs") != NULL;
		v->heads_come = true;
		return true;
	}
	if (v->heads_come) {
		v->heads_come = false;
		take_heads(v, line);
		return true;
	}
	return !*tg_scan_blanks(line) || take_row(v, line);
}

static void read_vmstat(struct tg_logfile *log)
{
	struct vmstat v = { .log = log };
	const char *line;
	size_t len;

	v.grid = &log->part[0].grid;
	log->since = "boot";
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log))
		if (!take_line(&v, line))
			log->n_skipped++;
	log->n_averages = v.n_rows > 0;
	log->n_samples = v.n_rows;
}

static bool looks(const char *head, size_t len)
{
	const char *p = tg_scan_blanks(head);

	(void)len;
	return tg_scan_starts(p, "procs -") || tg_scan_starts(p, "--procs--");
}

const struct tg_log_format tg_format_vmstat = {
	.tool = "vmstat",
	.layout = { &layout },
	.looks = looks,
	.read = read_vmstat,
	.report = tg_report_one,
	.csv = tg_csv_grid,
	.csv_kind = { "vmstat.csv", "datetime,time", true, false },
};
