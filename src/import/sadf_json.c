/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sar has recorded, as sadf -j writes it: of the machine, its cores, disks and interfaces.
 *
 *  {"sysstat": {"hosts": [{"nodename": "host1", "number-of-cpus": 2, "statistics": [
 *    {"timestamp": {"date": "2026-12-03", "time": "17:43:57", "utc": 1, "interval": 1},
 *     "cpu-load": [{"cpu": "all", "usr": 46.50, …}, …], "memory": {"memfree": 22911980, …}, …
 */
#include <math.h>

#include "base/clock.h"
#include "import/civil.h"
#include "import/json_scan.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

enum machine {
	USER,
	NICE,
	SYSTEM,
	IOWAIT,
	STEAL,
	IRQ,
	SOFT,
	GUEST,
	GNICE,
	IDLE,
	FORKS,
	SWITCHES,
	SWAP_IN,
	SWAP_OUT,
	PAGE_IN,
	PAGE_OUT,
	FAULTS,
	MAJOR_FAULTS,
	FREE,
	AVAILABLE,
	USED,
	BUFFERS,
	CACHED,
	DIRTY,
	ANONYMOUS,
	SLAB,
	SWAP_USED,
	RUNNING,
	TASKS,
	LOAD_1,
	LOAD_5,
	LOAD_15,
	BLOCKED,
	PSI_CPU,
	PSI_IO,
	PSI_IO_FULL,
	PSI_MEMORY,
	PSI_MEMORY_FULL,
	MACHINE_COLUMNS
};
enum { CORE_COLUMNS = IDLE + 1 }; /* the first of them */
enum disk { DISK_READ, DISK_WRITE, DISK_OPS, DISK_UTIL, DISK_AWAIT, DISK_QUEUE, DISK_COLUMNS };
enum net { NET_RX, NET_TX, NET_RX_PACKETS, NET_TX_PACKETS, NET_COLUMNS };
enum part { MACHINE, CORES, DISKS, NETS, PARTS };

/* A member of an object with that key, or of the elements of a list with it. */
struct member {
	const char *section, *name;
	unsigned char part, column;
	double factor;
};

#define CPU(name, column)                                                                          \
	{                                                                                          \
		"cpu-load", name, CORES, column, 1                                                 \
	}

static const struct member members[] = {
	CPU("user", USER),
	CPU("usr", USER),
	CPU("nice", NICE),
	CPU("system", SYSTEM),
	CPU("sys", SYSTEM),
	CPU("iowait", IOWAIT),
	CPU("steal", STEAL),
	CPU("irq", IRQ),
	CPU("soft", SOFT),
	CPU("guest", GUEST),
	CPU("gnice", GNICE),
	CPU("idle", IDLE),
	{ "process-and-context-switch", "proc", MACHINE, FORKS, 1 },
	{ "process-and-context-switch", "cswch", MACHINE, SWITCHES, 1 },
	{ "swap-pages", "pswpin", MACHINE, SWAP_IN, 1 },
	{ "swap-pages", "pswpout", MACHINE, SWAP_OUT, 1 },
	{ "paging", "pgpgin", MACHINE, PAGE_IN, 1 },
	{ "paging", "pgpgout", MACHINE, PAGE_OUT, 1 },
	{ "paging", "fault", MACHINE, FAULTS, 1 },
	{ "paging", "majflt", MACHINE, MAJOR_FAULTS, 1 },
	{ "memory", "memfree", MACHINE, FREE, 1 },
	{ "memory", "avail", MACHINE, AVAILABLE, 1 },
	{ "memory", "memused", MACHINE, USED, 1 },
	{ "memory", "buffers", MACHINE, BUFFERS, 1 },
	{ "memory", "cached", MACHINE, CACHED, 1 },
	{ "memory", "dirty", MACHINE, DIRTY, 1 },
	{ "memory", "anonpg", MACHINE, ANONYMOUS, 1 },
	{ "memory", "slab", MACHINE, SLAB, 1 },
	{ "memory", "swpused", MACHINE, SWAP_USED, 1 },
	{ "queue", "runq-sz", MACHINE, RUNNING, 1 },
	{ "queue", "plist-sz", MACHINE, TASKS, 1 },
	{ "queue", "ldavg-1", MACHINE, LOAD_1, 1 },
	{ "queue", "ldavg-5", MACHINE, LOAD_5, 1 },
	{ "queue", "ldavg-15", MACHINE, LOAD_15, 1 },
	{ "queue", "blocked", MACHINE, BLOCKED, 1 },
	{ "psi-cpu", "some_avg", MACHINE, PSI_CPU, 1 },
	{ "psi-io", "some_avg", MACHINE, PSI_IO, 1 },
	{ "psi-io", "full_avg", MACHINE, PSI_IO_FULL, 1 },
	{ "psi-mem", "some_avg", MACHINE, PSI_MEMORY, 1 },
	{ "psi-mem", "full_avg", MACHINE, PSI_MEMORY_FULL, 1 },
	{ "disk", "rd_sec", DISKS, DISK_READ, 0.5 },
	{ "disk", "wr_sec", DISKS, DISK_WRITE, 0.5 },
	{ "disk", "rkB", DISKS, DISK_READ, 1 },
	{ "disk", "wkB", DISKS, DISK_WRITE, 1 },
	{ "disk", "tps", DISKS, DISK_OPS, 1 },
	{ "disk", "util-percent", DISKS, DISK_UTIL, 1 },
	{ "disk", "await", DISKS, DISK_AWAIT, 1 },
	{ "disk", "avgqu-sz", DISKS, DISK_QUEUE, 1 },
	{ "disk", "aqu-sz", DISKS, DISK_QUEUE, 1 },
	{ "net-dev", "rxkB", NETS, NET_RX, 1 },
	{ "net-dev", "txkB", NETS, NET_TX, 1 },
	{ "net-dev", "rxpck", NETS, NET_RX_PACKETS, 1 },
	{ "net-dev", "txpck", NETS, NET_TX_PACKETS, 1 },
};

/* ---- what becomes of the columns ---- */

static const struct tg_quantity machine_columns[MACHINE_COLUMNS] = {
	[USER] = { NULL, "cpu-user", 2 },
	[NICE] = { NULL, "cpu-nice", 2 },
	[SYSTEM] = { NULL, "cpu-system", 2 },
	[IOWAIT] = { NULL, "cpu-iowait", 2 },
	[STEAL] = { NULL, "cpu-steal", 2 },
	[IDLE] = { NULL, "cpu-idle", 2 },
	[SWITCHES] = { NULL, "cswch", 2 },
	[PAGE_IN] = { NULL, "pgpgin", 2 },
	[PAGE_OUT] = { NULL, "pgpgout", 2 },
	[FREE] = { NULL, "memfree", 0 },
	[AVAILABLE] = { NULL, "avail", 0 },
	[USED] = { NULL, "memused", 0 },
	[SWAP_USED] = { NULL, "swpused", 0 },
	[RUNNING] = { NULL, "runq-sz", 0 },
	[LOAD_1] = { NULL, "ldavg-1", 2 },
};
static const struct tg_quantity core_columns[CORE_COLUMNS] = { { 0 } };
static const struct tg_quantity disk_columns[DISK_COLUMNS] = { { 0 } };
static const struct tg_quantity net_columns[NET_COLUMNS] = { { 0 } };

#define BIT(column)  (UINT64_C(1) << (column))
#define NODE         TG_SCOPE_NODE
#define PROGRAM_BITS (BIT(USER) | BIT(NICE) | BIT(GUEST) | BIT(GNICE))
#define KERNEL_BITS  (BIT(SYSTEM) | BIT(IRQ) | BIT(SOFT))
#define CPU_NS(name, meaning, bits)                                                                \
	{                                                                                          \
		{ name, "ns", TG_COUNTER, NODE, 0, NULL }, meaning, 1, bits                        \
	}
#define GAUGE(name, unit, scale, factor, column, help)                                             \
	{                                                                                          \
		{ name, unit, TG_GAUGE, NODE, scale, help }, TG_LEVEL, factor, BIT(column)         \
	}
#define KIB(name, column, help) GAUGE(name, "bytes", 0, 1024, column, help)
#define RATE(name, unit, factor, column, help)                                                     \
	{                                                                                          \
		{ name, unit, TG_COUNTER, NODE, 0, help }, TG_PER_SECOND, factor, BIT(column)      \
	}

static const struct tg_derived machine_outputs[] = {
	CPU_NS("node.cpu_busy_ns", TG_PERCENT_OF_CORES, PROGRAM_BITS | KERNEL_BITS | BIT(STEAL)),
	CPU_NS("node.cpu_user_ns", TG_PERCENT_OF_CORES, PROGRAM_BITS),
	CPU_NS("node.cpu_system_ns", TG_PERCENT_OF_CORES, KERNEL_BITS),
	CPU_NS("node.cpu_iowait_ns", TG_PERCENT_OF_CORES, BIT(IOWAIT)),
	CPU_NS("node.cpu_steal_ns", TG_PERCENT_OF_CORES, BIT(STEAL)),
	CPU_NS("psi.cpu_some_ns", TG_PERCENT_OF_TIME, BIT(PSI_CPU)),
	CPU_NS("psi.io_some_ns", TG_PERCENT_OF_TIME, BIT(PSI_IO)),
	CPU_NS("psi.io_full_ns", TG_PERCENT_OF_TIME, BIT(PSI_IO_FULL)),
	CPU_NS("psi.memory_some_ns", TG_PERCENT_OF_TIME, BIT(PSI_MEMORY)),
	CPU_NS("psi.memory_full_ns", TG_PERCENT_OF_TIME, BIT(PSI_MEMORY_FULL)),
	GAUGE("node.procs_running", "count", 0, 1, RUNNING, NULL),
	KIB("node.swap_used_bytes", SWAP_USED, NULL),
	KIB("sadf.mem_free_bytes", FREE, "memory that nothing is in"),
	KIB("sadf.mem_available_bytes", AVAILABLE, "memory that programs may have"),
	KIB("sadf.mem_used_bytes", USED, "memory in use, as that version of sar counts it"),
	KIB("sadf.mem_buffers_bytes", BUFFERS, "buffers of block devices"),
	KIB("sadf.mem_cache_bytes", CACHED, "file cache"),
	KIB("sadf.mem_dirty_bytes", DIRTY, "memory that waits to be written to storage"),
	KIB("sadf.mem_anonymous_bytes", ANONYMOUS, "memory of programs that is of no file"),
	KIB("sadf.mem_slab_bytes", SLAB, "memory of the kernel's own objects"),
	GAUGE("sadf.tasks_all", "count", 0, 1, TASKS, "processes and threads"),
	GAUGE("sadf.procs_blocked", "count", 0, 1, BLOCKED, "tasks that waited for storage"),
	GAUGE("sadf.load_1m", "count", -2, 1, LOAD_1, "load average of a minute"),
	GAUGE("sadf.load_5m", "count", -2, 1, LOAD_5, "of five minutes"),
	GAUGE("sadf.load_15m", "count", -2, 1, LOAD_15, "of a quarter of an hour"),
	RATE("sadf.forks", "count", 1, FORKS, "tasks that were made"),
	RATE("sadf.context_switches", "count", 1, SWITCHES, "changes from one thread to another"),
	RATE("sadf.swap_in_pages", "count", 1, SWAP_IN, "pages that came back from swap"),
	RATE("sadf.swap_out_pages", "count", 1, SWAP_OUT, "pages that went to swap"),
	RATE("sadf.block_in_bytes", "bytes", 1024, PAGE_IN, "bytes read from block devices"),
	RATE("sadf.block_out_bytes", "bytes", 1024, PAGE_OUT, "bytes written to block devices"),
	RATE("sadf.page_faults", "count", 1, FAULTS, "page faults, minor and major"),
	RATE("sadf.major_faults", "count", 1, MAJOR_FAULTS, "those that read from storage"),
};

static const struct tg_derived core_outputs[] = {
	CPU_NS("core.busy_ns", TG_PERCENT_OF_TIME, PROGRAM_BITS | KERNEL_BITS | BIT(STEAL)),
};

#define DISK(name, unit, meaning, factor, column)                                                  \
	{                                                                                          \
		{ name, unit, TG_COUNTER, NODE, 0, NULL }, meaning, factor, BIT(column), 0, true   \
	}

static const struct tg_derived disk_outputs[] = {
	DISK("disk.read_bytes", "bytes", TG_PER_SECOND, 1024, DISK_READ),
	DISK("disk.write_bytes", "bytes", TG_PER_SECOND, 1024, DISK_WRITE),
	DISK("disk.busy_ns", "ns", TG_PERCENT_OF_TIME, 1, DISK_UTIL),
	RATE("sadf.disk_ops", "ops", 1, DISK_OPS, "requests of a device that are completed"),
	GAUGE("sadf.disk_await_ms", "ms", -2, 1, DISK_AWAIT, "time that a request took"),
	GAUGE("sadf.disk_queue_mean", "count", -2, 1, DISK_QUEUE,
		"requests that waited or were served"),
};

static const struct tg_derived net_outputs[] = {
	RATE("net.rx_bytes", "bytes", 1024, NET_RX, NULL),
	RATE("net.tx_bytes", "bytes", 1024, NET_TX, NULL),
	RATE("net.rx_packets", "count", 1, NET_RX_PACKETS, NULL),
	RATE("net.tx_packets", "count", 1, NET_TX_PACKETS, NULL),
};

static const struct tg_log_layout layout[PARTS] = {
	[MACHINE] = { machine_columns, MACHINE_COLUMNS, machine_outputs,
		TG_ARRAY_SIZE(machine_outputs) },
	[CORES] = { core_columns, CORE_COLUMNS, core_outputs, TG_ARRAY_SIZE(core_outputs) },
	[DISKS] = { disk_columns, DISK_COLUMNS, disk_outputs, TG_ARRAY_SIZE(disk_outputs) },
	[NETS] = { net_columns, NET_COLUMNS, net_outputs, TG_ARRAY_SIZE(net_outputs) },
};

/* ---- reading ---- */

struct sadf {
	struct tg_logfile *log;
	struct tg_json_scan scan;
	char key[TG_JSON_SCAN_TEXT]; /* the last one */
	double machine[MACHINE_COLUMNS];
	bool in_tick;
	unsigned n_hosts;
};

static void forget(double *v, size_t n)
{
	while (n)
		v[--n] = NAN;
}

static enum tg_json_token next(struct sadf *s)
{
	enum tg_json_token t = tg_json_scan_next(&s->scan);

	if (t == TG_JSON_KEY)
		memcpy(s->key, s->scan.text, sizeof(s->key));
	return t;
}

static const struct member *member_of(const char *section, const char *name)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(members); i++)
		if (!strcmp(members[i].name, name) && !strcmp(members[i].section, section))
			return &members[i];
	return NULL;
}

static void put_row(struct sadf *s, enum part part, const char *name, const double *value)
{
	struct tg_readings *grid = &s->log->part[part].grid;
	ptrdiff_t at = tg_readings_item(grid, name);

	if (at >= 0)
		tg_readings_row(grid, (size_t)at, value);
}

/* A core, or all of them, which is the machine. */
static void put_cpu(struct sadf *s, const char *name, const double *value)
{
	char item[TG_JSON_SCAN_TEXT + 4];

	if (!strcmp(name, "all")) {
		memcpy(s->machine, value, CORE_COLUMNS * sizeof(*value));
		return;
	}
	snprintf(item, sizeof(item), "cpu%s", name);
	put_row(s, CORES, item, value);
}

/* {"disk-device": "vda", "tps": 116.00, …}, opened: an element of the list `section`. */
static void take_element(struct sadf *s, const char *section, enum part part)
{
	double value[MACHINE_COLUMNS];
	char name[TG_JSON_SCAN_TEXT] = "";
	int depth = s->scan.depth;
	enum tg_json_token t;

	forget(value, MACHINE_COLUMNS);
	while (s->scan.depth >= depth && (t = next(s)) != TG_JSON_END) {
		const struct member *m = t == TG_JSON_NUMBER ? member_of(section, s->key) : NULL;

		if (m)
			value[m->column] = s->scan.number * m->factor;
		else if (t == TG_JSON_STRING && !name[0])
			memcpy(name, s->scan.text, sizeof(name));
	}
	if (s->scan.bad || !name[0] || !s->in_tick)
		return;
	if (part == CORES)
		put_cpu(s, name, value);
	else if (part != NETS || strcmp(name, "lo") != 0)
		put_row(s, part, name, value);
}

/* {"date": "2026-12-03", "time": "17:43:57", "utc": 1, "interval": 1}, opened. */
static void take_timestamp(struct sadf *s)
{
	char date[TG_JSON_SCAN_TEXT] = "", text[2 * TG_JSON_SCAN_TEXT + 2];
	int depth = s->scan.depth;
	double interval = NAN;
	struct tg_stamp stamp = { .civil_ns = TG_UNKNOWN };
	bool utc = false;
	enum tg_json_token t;

	while (s->scan.depth >= depth && (t = next(s)) != TG_JSON_END) {
		if (t == TG_JSON_STRING && !strcmp(s->key, "date")) {
			memcpy(date, s->scan.text, sizeof(date));
		} else if (t == TG_JSON_STRING && !strcmp(s->key, "time")) {
			snprintf(text, sizeof(text), "%s %s", date, s->scan.text);
			if (!tg_civil_stamp(text, &stamp))
				stamp.civil_ns = TG_UNKNOWN;
		} else if (t == TG_JSON_NUMBER && !strcmp(s->key, "utc")) {
			utc = s->scan.number > 0;
		} else if (t == TG_JSON_NUMBER && !strcmp(s->key, "interval")) {
			interval = s->scan.number;
		}
	}
	if (s->scan.bad || stamp.civil_ns == TG_UNKNOWN || s->in_tick)
		return;
	for (int i = 0; i < PARTS; i++) {
		struct tg_readings *grid = &s->log->part[i].grid;

		grid->in_utc = utc;
		if (interval > 0 && interval < 1e9)
			grid->next_begin_ns = stamp.civil_ns - (int64_t)(interval * 1e9);
		tg_readings_tick(grid, stamp.civil_ns);
	}
	s->in_tick = true;
}

static enum part list_of(const char *section)
{
	return !strcmp(section, "cpu-load") || !strcmp(section, "cpu-load-all") ? CORES
	       : !strcmp(section, "disk")                                       ? DISKS
	       : !strcmp(section, "net-dev")                                    ? NETS
										: MACHINE;
}

/* What stands under `section`, which is opened: lists of elements, or members of the machine. */
static void take_section(struct sadf *s, const char *section)
{
	enum part part = list_of(section);
	const char *as = part == CORES ? "cpu-load" : section;
	char own[TG_JSON_SCAN_TEXT];
	int depth = s->scan.depth;
	enum tg_json_token t;

	while (s->scan.depth >= depth && (t = next(s)) != TG_JSON_END) {
		const struct member *m = t == TG_JSON_NUMBER ? member_of(section, s->key) : NULL;

		if (t == TG_JSON_OPEN && part != MACHINE) {
			take_element(s, as, part);
		} else if (t == TG_JSON_OPEN || t == TG_JSON_OPEN_LIST) {
			memcpy(own, s->key, sizeof(own)); /* "network" has "net-dev" in it */
			take_section(s, own);
		} else if (m && m->part == MACHINE) {
			s->machine[m->column] = s->scan.number;
		}
	}
}

/* One of "statistics", opened. */
static void take_sample(struct sadf *s)
{
	char section[TG_JSON_SCAN_TEXT];
	int depth = s->scan.depth;
	enum tg_json_token t;

	forget(s->machine, MACHINE_COLUMNS);
	s->in_tick = false;
	while (s->scan.depth >= depth && (t = next(s)) != TG_JSON_END) {
		if (t != TG_JSON_OPEN && t != TG_JSON_OPEN_LIST)
			continue;
		memcpy(section, s->key, sizeof(section));
		if (!strcmp(section, "timestamp"))
			take_timestamp(s);
		else
			take_section(s, section);
	}
	if (s->scan.bad && s->in_tick) {
		for (int i = 0; i < PARTS; i++) /* it is not whole */
			tg_readings_drop(&s->log->part[i].grid);
	} else if (s->in_tick) {
		put_row(s, MACHINE, "", s->machine);
		s->log->n_samples++;
	} else {
		s->log->n_skipped++;
	}
}

static void take_samples(struct sadf *s)
{
	int depth = s->scan.depth;
	enum tg_json_token t;

	while (s->scan.depth >= depth && (t = next(s)) != TG_JSON_END)
		if (t == TG_JSON_OPEN && s->n_hosts == 1)
			take_sample(s);
}

static void read_sadf(struct tg_logfile *log)
{
	struct sadf s = { .log = log, .scan.bytes = &log->bytes };
	enum tg_json_token t;

	while ((t = next(&s)) != TG_JSON_END) {
		if (t == TG_JSON_STRING && !strcmp(s.key, "nodename") && !log->host[0]) {
			snprintf(log->host, sizeof(log->host), "%s", s.scan.text);
		} else if (t == TG_JSON_NUMBER && !strcmp(s.key, "number-of-cpus") && !log->cpus &&
			   s.scan.number >= 1 && s.scan.number <= 65536) {
			log->cpus = (int64_t)s.scan.number;
		} else if (t == TG_JSON_OPEN_LIST && !strcmp(s.key, "statistics")) {
			s.n_hosts++;
			take_samples(&s);
		}
	}
	if (s.n_hosts > 1)
		tg_logfile_note(log, "it has several hosts, of which the first was read");
	if (s.scan.bad)
		tg_logfile_note(
			log, "it ends before its end, or is damaged: what is whole was read");
}

static bool looks(const char *head, size_t len)
{
	const char *p = head + strspn(head, " \t\r\n");

	(void)len;
	return *p == '{' && strstr(p, "\"sysstat\"") && strstr(p, "\"file-date\"");
}

const struct tg_log_format tg_format_sadf_json = {
	.tool = "sadf",
	.layout = { &layout[MACHINE], &layout[CORES], &layout[DISKS], &layout[NETS] },
	.looks = looks,
	.read = read_sadf,
	.report = tg_report_one,
};
