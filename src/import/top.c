/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * top -b, of procps 3.2 to 4.0, in any language: columns by the line that begins with PID, the
 * lines above it by their place.
 *
 *  top - 20:53:38 up 26 min,  0 user,  load average: 17.70, 14.09, 9.14
 *  Tasks: 182 total,  18 running, 163 sleeping,   0 stopped,   1 zombie
 *  %Cpu(s): 75.0 us, 25.0 sy,  0.0 ni,  0.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
 *  MiB Mem :  24105.1 total,  15656.7 free,   3370.6 used,   5423.7 buff/cache
 *  MiB Swap:      0.0 total,      0.0 free,      0.0 used.  20734.5 avail Mem
 *
 *    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
 *   6303 root      20   0  765888  59016  14788 R  20.0   0.2   0:05.15 other
 */
#include <math.h>

#include "import/civil.h"
#include "import/csv.h"
#include "import/logfile.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

#define FIELDS_MAX 48
#define KNOWN_ROWS 4096 /* a power of two */
#define KNOWN_LEN  232 /* bytes of a row that is remembered */

enum {
	LOAD_1,
	LOAD_5,
	LOAD_15,
	USERS,
	TASKS,
	RUNNING,
	SLEEPING,
	STOPPED,
	ZOMBIE,
	US, /* to ST as the line has them */
	SY,
	NI,
	ID,
	WA,
	HI,
	SI,
	ST,
	MEM_TOTAL, /* bytes */
	MEM_FREE,
	MEM_USED,
	MEM_CACHE,
	SWAP_TOTAL,
	SWAP_FREE,
	SWAP_USED,
	AVAILABLE,
	COLUMNS
};

static const struct tg_quantity columns[COLUMNS] = { { 0 } };

#define BIT(column) (UINT64_C(1) << (column))
#define NODE        TG_SCOPE_NODE
#define PCT(name, column, help)                                                                    \
	{                                                                                          \
		{ name, "pct", TG_GAUGE, NODE, -1, help }, TG_LEVEL, 1, BIT(column)                \
	}
#define BYTES(name, column, help)                                                                  \
	{                                                                                          \
		{ name, "bytes", TG_GAUGE, NODE, 0, help }, TG_LEVEL, 1, BIT(column)               \
	}
#define COUNT(name, column, help)                                                                  \
	{                                                                                          \
		{ name, "count", TG_GAUGE, NODE, 0, help }, TG_LEVEL, 1, BIT(column)               \
	}
#define LOAD(name, column, help)                                                                   \
	{                                                                                          \
		{ name, "count", TG_GAUGE, NODE, -2, help }, TG_LEVEL, 1, BIT(column)              \
	}
#define CORES(name, bits, help)                                                                    \
	{                                                                                          \
		{ name, "ns", TG_COUNTER, NODE, 0, help }, TG_PERCENT_OF_CORES, 1, bits            \
	}

static const struct tg_derived outputs[] = {
	CORES("node.cpu_busy_ns", BIT(US) | BIT(SY) | BIT(NI) | BIT(HI) | BIT(SI) | BIT(ST), NULL),
	CORES("node.cpu_user_ns", BIT(US) | BIT(NI), NULL),
	CORES("node.cpu_system_ns", BIT(SY) | BIT(HI) | BIT(SI), NULL),
	CORES("node.cpu_iowait_ns", BIT(WA), NULL),
	CORES("node.cpu_steal_ns", BIT(ST), NULL),
	BYTES("node.mem_total_bytes", MEM_TOTAL, NULL),
	{ { "node.mem_used_bytes", "bytes", TG_GAUGE, NODE, 0, NULL }, TG_LEVEL, 1, BIT(MEM_TOTAL),
		BIT(AVAILABLE) },
	BYTES("node.swap_used_bytes", SWAP_USED, NULL),
	BYTES("top.mem_free_bytes", MEM_FREE, "memory that nothing is in"),
	BYTES("top.mem_used_bytes", MEM_USED, "memory in use, as that version of top counts it"),
	BYTES("top.mem_cache_bytes", MEM_CACHE, "buffers and file cache"),
	BYTES("top.swap_total_bytes", SWAP_TOTAL, "swap space"),
	PCT("top.cpu_user_pct", US, "time of all cores in programs"),
	PCT("top.cpu_system_pct", SY, "in the kernel"),
	PCT("top.cpu_nice_pct", NI, "in programs of low priority"),
	PCT("top.cpu_idle_pct", ID, "with nothing to do"),
	PCT("top.cpu_iowait_pct", WA, "idle while a process waited for storage"),
	PCT("top.cpu_irq_pct", HI, "in interrupts"),
	PCT("top.cpu_softirq_pct", SI, "in deferred interrupts"),
	PCT("top.cpu_steal_pct", ST, "taken by the hypervisor"),
	LOAD("top.load_1m", LOAD_1, "load average of a minute"),
	LOAD("top.load_5m", LOAD_5, "of five minutes"),
	LOAD("top.load_15m", LOAD_15, "of a quarter of an hour"),
	COUNT("top.users_in", USERS, "users that are logged in"),
	COUNT("top.tasks_all", TASKS, "processes, or threads where top was told so"),
	COUNT("top.tasks_running", RUNNING, "of them, those that ran"),
	COUNT("top.tasks_sleeping", SLEEPING, "that slept"),
	COUNT("top.tasks_stopped", STOPPED, "that were stopped"),
	COUNT("top.tasks_zombie", ZOMBIE, "that had ended, and whose parents had not asked"),
};

static const struct tg_log_layout layout = { columns, COLUMNS, outputs, TG_ARRAY_SIZE(outputs) };

enum field { F_OTHER, F_PID, F_VIRT, F_RES, F_SHR, F_STATE, F_CPU, F_MEM, F_TIME };

/* The last row of a process: most are the same again, byte for byte, and need not be read. */
struct known_row {
	int32_t pid; /* -1: none */
	uint32_t item, len;
	char text[KNOWN_LEN];
};

struct top {
	struct tg_logfile *log;
	struct tg_readings *system;
	struct tg_processes *processes;
	double now[COLUMNS]; /* of the tick at hand */
	int cpu_lines, memory_lines;
	bool in_tick, in_rows;
	unsigned char field[FIELDS_MAX];
	int n_fields; /* but for the command, which comes last */
	char heads[KNOWN_LEN]; /* the line that said so; "": it is too long */
	struct known_row *known; /* by pid */
	uint32_t rows;
	bool ever_short; /* a tick before had less rows than tasks */
	bool short_now;
};

/* ---- the lines above the processes ---- */

/* " 26 min," " 3:04," " 10 days,  3:04,": minutes, or -1. */
static int32_t uptime_of(const char *p)
{
	int days = 0, a, b;
	const char *q;

	p = strstr(p, " up ");
	if (!p)
		return -1;
	p = tg_scan_blanks(p + 4);
	q = tg_scan_digits(p, &a);
	if (q && (q = tg_scan_blanks(q)) && *q == 'd') {
		days = a;
		q = strchr(q, ',');
		if (!q)
			return -1;
		p = tg_scan_blanks(q + 1);
		q = tg_scan_digits(p, &a);
	}
	if (!q || days > 36500 || a > 1440)
		return -1;
	if (*q == ':' && tg_scan_digits(q + 1, &b) && a < 24)
		return days * 1440 + a * 60 + b;
	q = tg_scan_blanks(q);
	return tg_scan_starts(q, "min") ? days * 1440 + a : -1;
}

/* "load average: 11,12, 8,83, 4,71" */
static void take_load(struct top *t, const char *line)
{
	const char *p = strrchr(line, ':'), *users = strstr(line, " user");

	for (int i = 0; p && i < 3; i++) {
		p = tg_scan_number(tg_scan_blanks(p + 1), &t->now[LOAD_1 + i]);
		if (p && *p != ',')
			break;
	}
	while (users && users > line && tg_scan_is_digit(users[-1]))
		users--;
	if (users)
		tg_scan_number(users, &t->now[USERS]);
}

/* The numbers of a line, in their order: what follows each is in the user's language. */
static int numbers_of(const char *p, double *v, int max)
{
	int n = 0;

	while (*p && n < max) {
		const char *q = tg_scan_number(p, &v[n]);

		if (!q) {
			p++;
			continue;
		}
		if (tg_scan_suffix(*q) > 0 && (q[1] == ' ' || q[1] == ',' || !q[1]))
			v[n] *= tg_scan_suffix(*q) / 1024; /* "3785984k total": in KiB */
		n++;
		p = q;
	}
	return n;
}

/* "%Cpu(s): 75.0 us, …", "%Cpu0  : …" of each core, or bars: "%Cpu(s):  75.0/25.0  100[|||  ]" */
static void take_cpu(struct top *t, const char *line)
{
	const char *p = strchr(line, ':'), *q;
	double v[8];
	int n;

	q = p ? tg_scan_number(tg_scan_blanks(p + 1), &v[0]) : NULL;
	if (!q)
		return;
	n = *q == '/' && tg_scan_number(q + 1, &v[1]) ? 2 : numbers_of(p + 1, v, 8);
	for (int i = 0; i < n; i++)
		t->now[US + i] =
			t->cpu_lines ? (t->now[US + i] * t->cpu_lines + v[i]) / (t->cpu_lines + 1)
				     : v[i];
	t->cpu_lines++;
}

/* What "KiB", "MiB" … at the beginning of a line stands for, or "k" of old versions; 0: none. */
static double unit_of(const char *line)
{
	if (tg_scan_suffix(line[0]) > 0 && line[1] == 'i' && line[2] == 'B' && line[3] == ' ')
		return tg_scan_suffix(line[0]);
	return tg_scan_starts(line, "Mem:") || tg_scan_starts(line, "Swap:") ? 1024 : 0;
}

static void take_memory(struct top *t, const char *line, double unit)
{
	const char *p = strchr(line, ':'), *used = strstr(line, "used"),
		   *free = strstr(line, "free");
	int to = t->memory_lines++ ? SWAP_TOTAL : MEM_TOTAL, n;
	bool old = used && free && used < free; /* before 3.3.10: total, used, free, buffers */
	double v[4];

	if (!p || t->memory_lines > 2)
		return;
	if (strchr(p, '/') && strchr(p, '[')) { /* bars: "14.5/24105.1 [|||" */
		if (tg_scan_number(strchr(p, '/') + 1, v))
			t->now[to] = v[0] * unit;
		return;
	}
	n = numbers_of(p + 1, v, 4);
	for (int i = 0; i < n; i++) {
		int at = !old || i == 0 || i == 3 ? i : 3 - i;

		if (!(old && i == 3)) /* buffers, and the cache in the swap's line */
			t->now[to + at] = v[i] * unit;
	}
	if (old && n == 4)
		t->now[MEM_CACHE] = (to == MEM_TOTAL ? 0 : t->now[MEM_CACHE]) + v[3] * unit;
}

/* ---- processes ---- */

/* "2048:13", "123:45.67", "10,04": minutes and seconds, or hours and minutes behind a comma. */
static const char *scan_time(const char *p, double *s, double *unit)
{
	int a, b, c;
	const char *q = tg_scan_digits(p, &a), *r;

	if (!q || (*q != ':' && *q != ',') || !(r = tg_scan_digits(q + 1, &b)))
		return NULL;
	*unit = 1;
	*s = a * 60.0 + b;
	if (*q == ',') {
		*unit = 60;
		*s *= 60;
	} else if (*r == ':' && (p = tg_scan_digits(r + 1, &c))) {
		*s = *s * 60 + c;
		r = p;
	} else if ((*r == '.' || *r == ',') && (p = tg_scan_digits(r + 1, &c))) {
		*unit = 0.01;
		*s += c * 0.01;
		r = p;
	}
	return r;
}

/* "765888", "1448.0g": KiB. */
static const char *scan_kib(const char *p, double *v)
{
	const char *q = tg_scan_number(p, v);
	double factor = q ? tg_scan_suffix(*q) : 0;

	if (factor > 0) {
		*v *= factor / 1024;
		q++;
	}
	return q;
}

static enum field field_of(const char *p, const char *end)
{
	static const struct {
		const char *name;
		enum field field;
	} known[] = { { "PID", F_PID }, { "VIRT", F_VIRT }, { "RES", F_RES }, { "SHR", F_SHR },
		{ "S", F_STATE }, { "%CPU", F_CPU }, { "%MEM", F_MEM }, { "TIME", F_TIME } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(known); i++)
		if (tg_scan_is(p, end, known[i].name))
			return known[i].field;
	return end[-1] == '+' ? F_TIME : F_OTHER; /* "ZEIT+" */
}

static void forget_rows(struct top *t)
{
	for (size_t i = 0; i < KNOWN_ROWS; i++)
		t->known[i].pid = -1;
}

/* The line of column heads, which is the same in each sample as a rule. */
static void take_heads(struct top *t, const char *line)
{
	const char *p = tg_scan_blanks(line), *mem = strstr(line, "%MEM");
	bool wide = mem && mem >= line + 2 && mem[-1] == ' ' && mem[-2] == ' ';

	t->in_rows = t->n_fields > 0;
	if (t->heads[0] && !strcmp(t->heads, line))
		return;
	t->n_fields = -1;
	for (int n = 0; *p && n < FIELDS_MAX; n++) {
		const char *end = tg_scan_word(p);

		t->field[n] = (unsigned char)field_of(p, end);
		t->n_fields = n;
		p = tg_scan_blanks(end);
	}
	t->in_rows = t->n_fields > 0;
	t->heads[0] = '\0';
	if (strlen(line) < sizeof(t->heads))
		snprintf(t->heads, sizeof(t->heads), "%s", line);
	forget_rows(t);
	if (!t->log->version[0])
		tg_logfile_version(
			t->log, wide ? "procps 3.3.17 or later" : "procps before 3.3.17");
}

/* Where the last row of the pid at the line's beginning is, or would be; NULL: there is no pid. */
static struct known_row *known_row(const struct top *t, const char *line, int *pid)
{
	const char *p = tg_scan_digits(tg_scan_blanks(line), pid);

	return p && *p == ' ' && t->field[0] == F_PID ? &t->known[*pid & (KNOWN_ROWS - 1)] : NULL;
}

/* Returns the place of its item, -1 where it is not kept, or -2 when it is no row. */
static ptrdiff_t read_row(struct top *t, const char *line, size_t len)
{
	double v[TG_P_COLUMNS] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	double pid = -1;
	const char *p = line, *end = line + len;

	for (int i = 0; i < t->n_fields; i++) {
		const char *q;

		p = tg_scan_blanks(p);
		switch (t->field[i]) {
		case F_PID:
			q = tg_scan_number(p, &pid);
			break;
		case F_VIRT:
			q = scan_kib(p, &v[TG_P_VIRT]);
			break;
		case F_RES:
			q = scan_kib(p, &v[TG_P_RES]);
			break;
		case F_SHR:
			q = scan_kib(p, &v[TG_P_SHR]);
			break;
		case F_CPU:
			q = tg_scan_number(p, &v[TG_P_CPU_PCT]);
			break;
		case F_MEM:
			q = tg_scan_number(p, &v[TG_P_MEM_PCT]);
			break;
		case F_TIME:
			q = scan_time(p, &v[TG_P_CPU_S], &v[TG_P_CPU_UNIT_S]);
			break;
		case F_STATE:
			v[TG_P_STATE] = *p == 'Z' ? 'Z' : 0;
			q = tg_scan_word(p);
			break;
		default:
			q = tg_scan_word(p);
		}
		if (!q || q == p || (*q && *q != ' '))
			return -2;
		p = q;
	}
	if (!(pid >= 0 && pid <= INT32_MAX))
		return -2;
	p = tg_scan_blanks(p);
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return tg_processes_row(t->processes, (int64_t)pid, p, (size_t)(end - p), v);
}

static bool take_row(struct top *t, const char *line, size_t len)
{
	int pid;
	struct known_row *known = known_row(t, line, &pid);
	ptrdiff_t item;

	if (known && known->pid == pid && known->len == len && !memcmp(known->text, line, len) &&
		tg_readings_again(&t->processes->grid, known->item)) {
		t->rows++;
		return true;
	}
	item = read_row(t, line, len);
	if (known)
		known->pid = -1;
	if (known && item >= 0 && len <= KNOWN_LEN) {
		known->pid = pid;
		known->item = (uint32_t)item;
		known->len = (uint32_t)len;
		memcpy(known->text, line, len);
	}
	t->rows += item != -2;
	return item != -2;
}

/* ---- ticks ---- */

static void end_tick(struct top *t)
{
	ptrdiff_t at;

	if (!t->in_tick)
		return;
	at = tg_readings_item(t->system, "");
	if (at >= 0)
		tg_readings_row(t->system, (size_t)at, t->now);
	t->ever_short |= t->short_now;
	t->short_now = t->rows < t->now[TASKS];
	t->in_tick = t->in_rows = false;
}

static bool begin_tick(struct top *t, const char *line)
{
	struct tg_readings *grid[] = { t->system, &t->processes->grid };
	int64_t ns;

	if (!tg_civil_time(tg_scan_blanks(line + strlen("top - ")), &ns))
		return false;
	for (size_t i = 0; i < TG_ARRAY_SIZE(grid); i++) {
		tg_readings_tick(grid[i], ns);
		if (grid[i]->n_ticks && !grid[i]->full)
			grid[i]->tick[grid[i]->n_ticks - 1].up_min = uptime_of(line);
	}
	for (int i = 0; i < COLUMNS; i++)
		t->now[i] = NAN;
	t->cpu_lines = t->memory_lines = 0;
	t->rows = 0;
	t->in_tick = true;
	take_load(t, line);
	return true;
}

/* "datetime: 2026/12/01 20:53:38", which a script has put above. */
static bool take_date(struct top *t, const char *line)
{
	struct tg_stamp stamp;

	if (!tg_civil_stamp(tg_scan_blanks(line + strlen("datetime:")), &stamp))
		return false;
	t->system->next_after_ns = t->processes->grid.next_after_ns = stamp.civil_ns;
	return true;
}

/* A line above the processes: by what it begins with, or by its place, which is the second. */
static void take_head(struct top *t, const char *line)
{
	double unit = unit_of(line);

	if (tg_scan_starts(tg_scan_blanks(line), "PID "))
		take_heads(t, line);
	else if (unit > 0)
		take_memory(t, line, unit);
	else if (line[0] == '%' || tg_scan_starts(line, "Cpu"))
		take_cpu(t, line);
	else if (!t->cpu_lines && !t->memory_lines)
		numbers_of(line, &t->now[TASKS], 5);
}

/* False when nothing can be made of the line. */
static bool take_line(struct top *t, const char *line, size_t len)
{
	if (t->in_rows && (*line == ' ' || tg_scan_is_digit(*line)) && take_row(t, line, len))
		return true;
	if (tg_scan_starts(line, "top - ")) {
		end_tick(t);
		return begin_tick(t, line);
	}
	if (tg_scan_starts(line, "datetime:"))
		return take_date(t, line);
	if (!*tg_scan_blanks(line))
		return true;
	if (!t->in_tick)
		return false;
	if (t->in_rows)
		return false;
	take_head(t, line);
	return true;
}

/* What was written last may be half a sample, whose sums would be too small. */
static void drop_half(struct top *t)
{
	if (!t->system->n_ticks || t->ever_short || !t->short_now || t->system->n_ticks < 2)
		return;
	tg_readings_drop(t->system);
	tg_readings_drop(&t->processes->grid);
	tg_logfile_note(t->log, "its last sample is not whole and was left out");
}

static void read_top(struct tg_logfile *log)
{
	struct top t = { .log = log, .processes = &log->processes };
	const char *line;
	size_t len;

	t.system = &log->part[0].grid;
	t.system->times = log->processes.grid.times = TG_TIME_OF_DAY;
	log->has_processes = true;
	t.known = tg_xcalloc(KNOWN_ROWS, sizeof(*t.known));
	forget_rows(&t);
	while ((line = tg_bytes_line(&log->bytes, &len))) {
		if (tg_logfile_is_cut(log))
			break;
		if (!take_line(&t, line, len))
			log->n_skipped++;
	}
	end_tick(&t);
	free(t.known);
	if (t.system->full || t.processes->grid.full)
		tg_logfile_note(log, "it is too long: what comes behind %u samples was left out",
			t.system->n_ticks);
	else
		drop_half(&t);
	log->n_samples = t.system->n_ticks;
}

static bool looks(const char *head, size_t len)
{
	const char *top = tg_scan_starts(head, "top - ") ? head : strstr(head, "\ntop - ");

	(void)len;
	return top && (tg_scan_starts(head, "datetime:") || top == head ||
			      strspn(head, " \n\r\t") == (size_t)(top + 1 - head));
}

const struct tg_log_format tg_format_top = {
	.tool = "top",
	.layout = { &layout },
	.looks = looks,
	.read = read_top,
	.report = tg_report_top,
	.csv = tg_csv_top,
};
