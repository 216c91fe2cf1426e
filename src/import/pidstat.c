/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pidstat, with any of its columns: in sections one below the other, or all on a line (-h). It
 * leaves out who did nothing in an interval: a process is taken to live from its first line to its
 * last, and to have done nothing where it has none.
 *
 *  Linux 6.18.44 (host1) 	12/01/26 	_x86_64_	(2 CPU)
 *
 *  20:53:38      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
 *  20:53:39     1000      4711   99.00    1.00    0.00    0.00  100.00     1  python3
 */
#include <math.h>

#include "import/civil.h"
#include "import/csv.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

#define FIELDS_MAX 40
#define ROWS_MAX   (1u << 20) /* of a tick */
#define COARSE_S   1 /* no CPU time is printed: it is told by rates */
#define EPOCH_S    1e8 /* seconds since 1970 are more, times of the day have colons */

enum field {
	F_OTHER,
	F_PID,
	F_TGID,
	F_TID,
	F_USER,
	F_SYSTEM,
	F_GUEST,
	F_CPU,
	F_VSZ,
	F_RSS,
	F_MEM,
	F_READ,
	F_WRITE,
	F_COMMAND,
	FIELDS
};

static const struct {
	const char *name;
	enum field field;
} heads[] = {
	{ "PID", F_PID },
	{ "TGID", F_TGID },
	{ "TID", F_TID },
	{ "%usr", F_USER },
	{ "%user", F_USER },
	{ "%system", F_SYSTEM },
	{ "%guest", F_GUEST },
	{ "%CPU", F_CPU },
	{ "VSZ", F_VSZ },
	{ "RSS", F_RSS },
	{ "%MEM", F_MEM },
	{ "kB_rd/s", F_READ },
	{ "kB_wr/s", F_WRITE },
	{ "Command", F_COMMAND },
	{ "UID", F_OTHER },
	{ "USER", F_OTHER },
};

static const struct tg_quantity columns[] = { { NULL, "active", 0 } };

static const struct tg_derived outputs[] = {
	{ { "pidstat.active", "count", TG_GAUGE, TG_SCOPE_NODE, 0,
		  "processes that did something in the interval" },
		TG_LEVEL, 1, 1 },
};

static const struct tg_log_layout layout = { columns, 1, outputs, TG_ARRAY_SIZE(outputs) };

/* What the sections of a tick say of a process. */
struct row {
	int64_t pid;
	char *command;
	double v[FIELDS]; /* NaN: not said */
};

struct pidstat {
	struct tg_logfile *log;
	struct tg_readings *grid;
	struct tg_processes *processes;
	enum field field[FIELDS_MAX]; /* behind the time */
	size_t n_fields;
	bool threads; /* lines of threads are among them */
	bool ever[FIELDS];
	int64_t date_ns; /* of the log's first line; TG_UNKNOWN: none */
	int64_t head_ns; /* the time in front of the heads: when the interval began */
	int64_t tick_ns; /* that of the rows at hand; TG_UNKNOWN: none */
	struct row *row;
	size_t n_rows, cap_rows;
	struct tg_map by_pid; /* places of the rows */
};

/* ---- ticks ---- */

/* CPU time of all kinds: with -I, %CPU is of the whole machine. */
static double cpu_of(const struct row *row)
{
	double guest = row->v[F_GUEST];

	if (isnan(row->v[F_USER]))
		return row->v[F_CPU];
	return row->v[F_USER] + row->v[F_SYSTEM] + (isnan(guest) ? 0 : guest);
}

/* The value of a rate: where its section has no line of the process, it did nothing. */
static double rate(const struct pidstat *p, double v, enum field field)
{
	return isnan(v) && p->ever[field] ? 0 : v;
}

/* What was known of its memory before, where this tick does not tell. */
static double level(const struct pidstat *p, const struct row *row, enum field field, int column)
{
	ptrdiff_t at = tg_map_get(&p->processes->by_pid, (uint64_t)row->pid);
	const double *now = at >= 0 ? p->processes->grid.item[at].now : NULL;

	return isnan(row->v[field]) && now ? now[column] : row->v[field];
}

static void end_row(struct pidstat *p, struct row *row)
{
	double v[TG_P_COLUMNS];

	for (int i = 0; i < TG_P_COLUMNS; i++)
		v[i] = NAN;
	v[TG_P_VIRT] = level(p, row, F_VSZ, TG_P_VIRT);
	v[TG_P_RES] = level(p, row, F_RSS, TG_P_RES);
	v[TG_P_MEM_PCT] = level(p, row, F_MEM, TG_P_MEM_PCT);
	v[TG_P_CPU_PCT] = rate(p, cpu_of(row), p->ever[F_USER] ? F_USER : F_CPU);
	v[TG_P_READ] = rate(p, row->v[F_READ], F_READ);
	v[TG_P_WRITE] = rate(p, row->v[F_WRITE], F_WRITE);
	v[TG_P_CPU_UNIT_S] = COARSE_S;
	v[TG_P_STATE] = 0;
	tg_processes_row(p->processes, row->pid, row->command, strlen(row->command), v);
	free(row->command);
}

static void end_tick(struct pidstat *p)
{
	double active = (double)p->n_rows;
	ptrdiff_t at;

	if (p->tick_ns == TG_UNKNOWN)
		return;
	for (size_t i = 0; i < p->n_rows; i++)
		end_row(p, &p->row[i]);
	at = tg_readings_item(p->grid, "");
	if (at >= 0)
		tg_readings_row(p->grid, (size_t)at, &active);
	p->n_rows = 0;
	tg_map_release(&p->by_pid);
	p->by_pid = (struct tg_map)TG_MAP_INIT;
	p->tick_ns = TG_UNKNOWN;
}

static void begin_tick(struct pidstat *p, int64_t ns)
{
	struct tg_readings *grid[] = { p->grid, &p->processes->grid };
	bool of_day = p->grid->times == TG_TIME_OF_DAY;

	for (size_t i = 0; i < TG_ARRAY_SIZE(grid); i++) {
		if (of_day && p->date_ns != TG_UNKNOWN)
			grid[i]->next_after_ns = p->date_ns;
		if (p->head_ns != TG_UNKNOWN && (!of_day || p->date_ns != TG_UNKNOWN))
			grid[i]->next_begin_ns = p->head_ns + (of_day ? p->date_ns : 0);
		tg_readings_tick(grid[i], ns);
	}
	p->date_ns = p->head_ns = TG_UNKNOWN; /* they are of the first one */
	p->tick_ns = ns;
}

/* ---- lines ---- */

/* "20:53:39", "08:53:39 PM", "1796158419": the place behind it, or NULL. */
static const char *scan_time(const char *s, int64_t *ns, bool *epoch)
{
	const char *end = tg_civil_time(s, ns);
	double v;

	*epoch = false;
	if (end)
		return end;
	end = tg_scan_number(s, &v);
	if (!end || v < EPOCH_S || v > 7e9)
		return NULL;
	*epoch = true;
	*ns = (int64_t)(v * 1e9);
	return end;
}

static enum field field_of(const char *p, const char *end, bool *known)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(heads); i++)
		if (tg_scan_is(p, end, heads[i].name)) {
			*known = true;
			return heads[i].field;
		}
	*known = false;
	return F_OTHER;
}

/* The names of columns, behind a time or "# Time". False: it is no such line. */
static bool take_heads(struct pidstat *p, const char *line)
{
	enum field field[FIELDS_MAX];
	bool known, has[FIELDS] = { false }, epoch;
	const char *at = tg_scan_blanks(line), *behind = NULL;
	int64_t ns = TG_UNKNOWN;
	size_t n = 0;

	if (*at != '#')
		behind = scan_time(at, &ns, &epoch);
	if (*at != '#' && !behind)
		return false;
	for (at = tg_scan_blanks(behind ? behind : at + 1); *at && n < FIELDS_MAX;) {
		const char *end = tg_scan_word(at);

		field[n] = field_of(at, end, &known);
		has[field[n]] |= known;
		n += n > 0 || known; /* what comes before the first known one is "Time" */
		at = tg_scan_blanks(end);
	}
	if (!(has[F_PID] || has[F_TGID]) || !has[F_COMMAND])
		return false;
	memcpy(p->field, field, sizeof(field));
	p->n_fields = n;
	p->threads = has[F_TID];
	for (int i = 0; i < FIELDS; i++)
		p->ever[i] |= has[i];
	if (!p->grid->n_ticks && p->tick_ns == TG_UNKNOWN)
		p->head_ns = ns;
	return true;
}

static struct row *row_of(struct pidstat *p, int64_t pid)
{
	ptrdiff_t at = tg_map_get(&p->by_pid, (uint64_t)pid);
	struct row *row;

	if (at >= 0)
		return &p->row[at];
	if (p->n_rows == ROWS_MAX)
		return NULL;
	TG_GROW(p->row, p->n_rows + 1, p->cap_rows);
	tg_map_put(&p->by_pid, (uint64_t)pid, p->n_rows);
	row = &p->row[p->n_rows++];
	*row = (struct row){ .pid = pid };
	for (int i = 0; i < FIELDS; i++)
		row->v[i] = NAN;
	return row;
}

/* "12.50", "12.5%", "1.2M" of --human, which is of kB. */
static const char *scan_value(const char *s, double *v)
{
	const char *end = tg_scan_number(s, v);
	double suffix;

	if (!end)
		return NULL;
	suffix = tg_scan_suffix(*end);
	if (suffix > 0) {
		*v *= suffix / 1024;
		end++;
	}
	end += *end == 'B' || *end == '%';
	return *end == ' ' || *end == '\t' || !*end ? end : NULL;
}

/* The values of a line from `at` on. False: they are not what the heads say. */
static bool scan_row(const struct pidstat *p, const char *at, double v[FIELDS],
	const char **command, bool *thread)
{
	for (size_t i = 0; i < p->n_fields; i++) {
		enum field f = p->field[i];
		const char *end;

		at = tg_scan_blanks(at);
		end = tg_scan_word(at);
		if (f == F_COMMAND) {
			*command = at;
			return *at != '\0';
		}
		if (end == at)
			return false;
		if (f == F_TGID && tg_scan_is(at, end, "-"))
			*thread = true;
		else if (f != F_OTHER && f != F_TID && scan_value(at, &v[f]) != end)
			return false;
		at = end;
	}
	return false;
}

static bool take_row(struct pidstat *p, const char *line)
{
	double v[FIELDS];
	const char *at, *command;
	bool epoch, thread = false;
	struct row *row;
	int64_t ns;
	size_t len;

	for (int i = 0; i < FIELDS; i++)
		v[i] = NAN;
	at = scan_time(tg_scan_blanks(line), &ns, &epoch);
	if (!at || !scan_row(p, at, v, &command, &thread))
		return false;
	if (thread)
		return true;
	if (isnan(v[F_PID]))
		v[F_PID] = v[F_TGID];
	if (!(v[F_PID] >= 0 && v[F_PID] <= INT32_MAX))
		return false;
	if (!p->grid->n_ticks && p->tick_ns == TG_UNKNOWN) {
		p->grid->times = p->processes->grid.times = epoch ? TG_DATED : TG_TIME_OF_DAY;
		p->grid->in_utc = p->processes->grid.in_utc = epoch;
	}
	if (p->tick_ns != ns) {
		end_tick(p);
		begin_tick(p, ns);
	}
	row = row_of(p, (int64_t)v[F_PID]);
	if (!row)
		return false;
	for (int i = 0; i < FIELDS; i++)
		if (!isnan(v[i]))
			row->v[i] = v[i];
	len = strlen(command);
	while (len && command[len - 1] == ' ')
		len--;
	free(row->command);
	row->command = tg_xmemdup0(command, len);
	return true;
}

/* "Linux 6.18.44 (host1) \t12/01/26 \t_x86_64_\t(2 CPU)" */
static void take_run(struct pidstat *p, const char *line)
{
	const char *open = strchr(line, '('), *close = open ? strchr(open, ')') : NULL;
	const char *last = strrchr(line, '(');
	double cpus = 0;
	int64_t days;

	if (!close)
		return;
	if (tg_civil_date(tg_scan_blanks(close + 1), &days)) {
		end_tick(p);
		p->date_ns = days * TG_NS_PER_DAY;
	}
	snprintf(p->log->host, sizeof(p->log->host), "%.*s",
		(int)TG_MIN((size_t)(close - open - 1), sizeof(p->log->host) - 1), open + 1);
	if (last != open && tg_scan_number(last + 1, &cpus) && cpus >= 1 && cpus < 65536)
		p->log->cpus = (int64_t)cpus;
	p->n_fields = 0;
}

/* "Average:", in any language: a word with a colon where others have the time, before heads or a
 * row. */
static bool is_average(const struct pidstat *p, const char *line)
{
	const char *at = tg_scan_blanks(line), *end = tg_scan_word(at), *command;
	double v[FIELDS];
	bool thread;

	if (end == at || end[-1] != ':' || tg_scan_is_digit(*at))
		return false;
	return strstr(end, " PID ") || strstr(end, " TGID ") ||
	       scan_row(p, end, v, &command, &thread);
}

static bool take_line(struct pidstat *p, const char *line)
{
	if (!*tg_scan_blanks(line) || is_average(p, line))
		return true;
	if (tg_scan_starts(line, "Linux ")) {
		take_run(p, line);
		return true;
	}
	return take_heads(p, line) || (p->n_fields && take_row(p, line));
}

static void read_pidstat(struct tg_logfile *log)
{
	struct pidstat p = { .log = log,
		.grid = &log->part[0].grid,
		.processes = &log->processes,
		.date_ns = TG_UNKNOWN,
		.head_ns = TG_UNKNOWN,
		.tick_ns = TG_UNKNOWN,
		.by_pid = TG_MAP_INIT };
	const char *line;
	size_t len;

	log->has_processes = true;
	p.processes->grid.idle_columns = TG_P_RATES;
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log))
		if (!take_line(&p, line))
			log->n_skipped++;
	end_tick(&p);
	free(p.row);
	tg_map_release(&p.by_pid);
	log->n_samples = p.grid->n_ticks;
}

static bool looks(const char *head, size_t len)
{
	const char *line = head;

	(void)len;
	if (!tg_scan_starts(head, "Linux ") && *head != '#')
		return false;
	for (int i = 0; i < 5 && line; i++, line = strchr(line, '\n')) {
		size_t n;

		line += i > 0;
		n = strcspn(line, "\n");
		if (n > 7 && !memcmp(line + n - 7, "Command", 7) &&
			(memmem(line, n, " PID ", 5) || memmem(line, n, " TGID ", 6)))
			return true;
	}
	return false;
}

const struct tg_log_format tg_format_pidstat = {
	.tool = "pidstat",
	.layout = { &layout },
	.looks = looks,
	.read = read_pidstat,
	.report = tg_report_top,
	.csv = tg_csv_top,
};
