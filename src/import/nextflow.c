/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nextflow's trace files: a line a task, of any columns in any order. Values are for people, or as
 * numbers (trace.raw): milliseconds, bytes, moments in milliseconds since 1970.
 *
 *  task_id  hash       name        status     exit  submit                   duration  realtime  …
 *  3        1f/a1b2c3  align (S1)  COMPLETED  0     2026-12-01 20:53:38.120  1m 12s    1m 2s     …
 */
#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "import/civil.h"
#include "import/fields.h"
#include "import/scan.h"
#include "import/tasks.h"

#include "base/mem.h"

#define RAW_DATE 1e11 /* ms since 1970 are more */
#define DATE_MAX 3.2e12 /* and fewer: a century */
#define TIME_MAX 1e9 /* s */
#define ROW_MAX  (1u << 20) /* bytes of a row whose script has many lines */

enum column {
	TASK_ID,
	HASH,
	NATIVE_ID,
	PROCESS,
	NAME,
	TAG,
	STATUS,
	EXIT,
	ATTEMPT,
	SUBMIT,
	START,
	COMPLETE,
	DURATION,
	REALTIME,
	CPU,
	RSS,
	PEAK_RSS,
	VMEM,
	PEAK_VMEM,
	RCHAR,
	WCHAR,
	SYSCR,
	SYSCW,
	READ_BYTES,
	WRITE_BYTES,
	CPUS,
	MEMORY,
	TIME,
	ACCELERATOR,
	QUEUE,
	HOSTNAME,
	CONTAINER,
	CPU_MODEL,
	COLUMNS
};

static const char *const column_name[COLUMNS] = { "task_id", "hash", "native_id", "process", "name",
	"tag", "status", "exit", "attempt", "submit", "start", "complete", "duration", "realtime",
	"%cpu", "rss", "peak_rss", "vmem", "peak_vmem", "rchar", "wchar", "syscr", "syscw",
	"read_bytes", "write_bytes", "cpus", "memory", "time", "accelerator", "queue", "hostname",
	"container", "cpu_model" };

/* What of it is told as it is. Scripts and environments are not taken. */
static const enum column texts[] = { TASK_ID, HASH, NATIVE_ID, PROCESS, TAG, EXIT, ATTEMPT, QUEUE,
	HOSTNAME, CONTAINER, CPU_MODEL };

struct trace {
	struct tg_logfile *log;
	size_t at[COLUMNS]; /* places of the columns */
	size_t n_columns; /* of the file */
	char separator;
	bool many_lines; /* a row may have them: it has a script or an environment */
	struct tg_buf text; /* of such a row */
	struct tg_fields row;
	uint64_t n_cached, n_untimed;
};

/* ---- values ---- */

static const char *text_of(const struct trace *t, enum column c)
{
	return tg_fields_get(&t->row, t->at[c]);
}

static double number_of(const struct trace *t, enum column c)
{
	const char *s = text_of(t, c), *end;
	double v;

	end = s ? tg_scan_number(s, &v) : NULL;
	if (end && *end == '%')
		end++;
	return end && !*end && v >= 0 ? v : NAN;
}

/* "3.2 GB", "512 B", "3435973836": units of 1024. */
static double bytes_of(const struct trace *t, enum column c)
{
	const char *s = text_of(t, c), *p;
	double v, unit = 1;

	p = s ? tg_scan_number(s, &v) : NULL;
	if (!p || v < 0)
		return NAN;
	p = tg_scan_blanks(p);
	if (*p && tg_scan_suffix(*p) > 0)
		unit = tg_scan_suffix(*p++);
	if (*p == 'B')
		p++;
	return *p ? NAN : v * unit;
}

static double unit_seconds(const char **p)
{
	static const struct {
		const char *name;
		double s;
	} unit[] = { { "ms", 1e-3 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(unit); i++)
		if (tg_scan_starts(*p, unit[i].name)) {
			*p += strlen(unit[i].name);
			return unit[i].s;
		}
	return 0;
}

/* "1h 2m 3s", "12.4s", "350ms", "350": seconds. */
static double seconds_of(const struct trace *t, enum column c)
{
	const char *p = text_of(t, c);
	double sum = 0;

	if (!p)
		return NAN;
	do {
		double v, unit;

		p = tg_scan_number(p, &v);
		if (!p)
			return NAN;
		p = tg_scan_blanks(p);
		unit = *p ? unit_seconds(&p) : 1e-3;
		sum += v * unit;
		p = tg_scan_blanks(p);
		if (!(unit > 0))
			return NAN;
	} while (*p);
	return sum >= 0 && sum < TIME_MAX ? sum : NAN;
}

/* A moment: nanoseconds of UTC where `civil` is false, else of a clock on the wall. */
static int64_t moment_of(const struct trace *t, enum column c, bool *civil)
{
	const char *s = text_of(t, c), *end;
	struct tg_stamp stamp;
	double ms;

	if (!s)
		return TG_UNKNOWN;
	end = tg_scan_number(s, &ms);
	if (end && !*end) {
		*civil = false;
		return ms >= RAW_DATE && ms < DATE_MAX ? (int64_t)(ms + 0.5) * TG_NS_PER_MS
						       : TG_UNKNOWN;
	}
	end = tg_civil_stamp(s, &stamp);
	if (!end || *end)
		return TG_UNKNOWN;
	*civil = !stamp.has_offset;
	return stamp.has_offset ? stamp.civil_ns - stamp.offset_s * TG_NS_PER_S : stamp.civil_ns;
}

/* ---- a task ---- */

static int64_t ns_of(double s)
{
	return (int64_t)(s * 1e9 + 0.5);
}

/* When a task was where; TG_UNKNOWN and NaN are not known. */
struct times {
	int64_t submit, begin, end;
	double duration_s; /* from submit to end */
	double real_s; /* that it ran, by its own clock */
	bool civil;
};

/* As the columns have it, of which there may be any. False: one is in UTC, and another is not. */
static bool scan_times(const struct trace *t, struct times *at)
{
	bool submit = false, begin = false, end = false;

	*at = (struct times){
		.submit = moment_of(t, SUBMIT, &submit),
		.begin = moment_of(t, START, &begin),
		.end = moment_of(t, COMPLETE, &end),
		.duration_s = seconds_of(t, DURATION),
		.real_s = seconds_of(t, REALTIME),
	};
	at->civil = submit || begin || end;
	return !at->civil ||
	       ((submit || at->submit == TG_UNKNOWN) && (begin || at->begin == TG_UNKNOWN) &&
		       (end || at->end == TG_UNKNOWN));
}

/* Where no column says when, how long is all that can be known of any task. */
static bool has_dates(const struct trace *t)
{
	return t->at[SUBMIT] != SIZE_MAX || t->at[START] != SIZE_MAX || t->at[COMPLETE] != SIZE_MAX;
}

static bool take_length(const struct times *at, struct tg_log_task *task)
{
	double s = isnan(at->real_s) ? at->duration_s : at->real_s;

	if (isnan(s))
		return false;
	task->wall_ns = ns_of(s);
	return true;
}

/* When it ran, of which the task has nothing yet. False: too little is known of it. */
static bool take_times(const struct trace *t, struct times *at, struct tg_log_task *task)
{
	if (!scan_times(t, at))
		return false;
	if (!has_dates(t))
		return take_length(at, task);
	if (at->end == TG_UNKNOWN && at->submit != TG_UNKNOWN && !isnan(at->duration_s))
		at->end = at->submit + ns_of(at->duration_s);
	if (at->begin == TG_UNKNOWN && at->end != TG_UNKNOWN && !isnan(at->real_s))
		/* both are rounded: it did not begin before it was there */
		at->begin = TG_MAX(at->end - ns_of(at->real_s), at->submit);
	if (at->begin == TG_UNKNOWN)
		at->begin = at->submit;
	if (at->begin < 0 || (at->end == TG_UNKNOWN && isnan(at->real_s)))
		return false;
	task->submit_ns = at->submit;
	task->begin_ns = at->begin;
	task->end_ns = at->end;
	task->civil = at->civil;
	if (!isnan(at->real_s))
		task->wall_ns = ns_of(at->real_s);
	return true;
}

static void take_figures(const struct trace *t, struct tg_log_task *task)
{
	static const struct {
		enum tg_task_figure figure;
		enum column column, instead;
	} bytes[] = {
		{ TG_TASK_RSS, PEAK_RSS, RSS },
		{ TG_TASK_VMS, PEAK_VMEM, VMEM },
		{ TG_TASK_READ, READ_BYTES, READ_BYTES },
		{ TG_TASK_WRITE, WRITE_BYTES, WRITE_BYTES },
		{ TG_TASK_RCHAR, RCHAR, RCHAR },
		{ TG_TASK_WCHAR, WCHAR, WCHAR },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(bytes); i++) {
		double v = bytes_of(t, bytes[i].column);

		task->figure[bytes[i].figure] = isnan(v) ? bytes_of(t, bytes[i].instead) : v;
	}
	task->figure[TG_TASK_READ_OPS] = number_of(t, SYSCR);
	task->figure[TG_TASK_WRITE_OPS] = number_of(t, SYSCW);
	task->cores = number_of(t, CPU) / 100;
}

static const char *status_of(const struct trace *t)
{
	const char *s = text_of(t, STATUS);

	return !s                        ? "unknown"
	       : !strcmp(s, "COMPLETED") ? "ok"
	       : !strcmp(s, "FAILED")    ? "error"
	       : !strcmp(s, "ABORTED")   ? "aborted"
					 : "unknown";
}

static void put_known(struct tg_jw *w, const char *key, double v)
{
	if (!isnan(v))
		tg_jw_knum(w, key, v);
}

static void put_requested(const struct trace *t, struct tg_jw *w)
{
	double cpus = number_of(t, CPUS), memory = bytes_of(t, MEMORY), time = seconds_of(t, TIME);
	double gpus = number_of(t, ACCELERATOR);

	if (isnan(cpus) && isnan(memory) && isnan(time) && isnan(gpus))
		return;
	tg_jw_key(w, "requested");
	tg_jw_begin_object(w);
	put_known(w, "cpus", cpus);
	put_known(w, "memory_bytes", memory);
	put_known(w, "time_s", time);
	put_known(w, "gpus", gpus);
	tg_jw_end_object(w);
}

/* The step that a task is of: "align" of "align (S1)", where no column says it. */
static void put_process(const char *name, struct tg_jw *w)
{
	const char *tag = strstr(name, " (");

	if (!tag)
		tag = name + strlen(name);
	tg_jw_key(w, "process");
	tg_jw_strn(w, name, (size_t)(tag - name));
}

static char *attrs_of(const struct trace *t, const struct tg_log_task *task)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &text);
	tg_jw_begin_object(&w);
	if (task->name && !text_of(t, PROCESS))
		put_process(task->name, &w);
	for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++)
		if (text_of(t, texts[i]))
			tg_jw_kstr(&w, column_name[texts[i]], text_of(t, texts[i]));
	put_requested(t, &w);
	tg_jw_end_object(&w);
	return tg_buf_detach(&text);
}

static void take_row(struct trace *t)
{
	const char *status = text_of(t, STATUS), *name = text_of(t, NAME);
	struct tg_log_task when = tg_tasks_unknown, *task;
	struct times at;

	if (status && !strcmp(status, "CACHED")) {
		t->n_cached++;
		return;
	}
	if (!take_times(t, &at, &when)) {
		t->n_untimed++;
		return;
	}
	task = tg_tasks_add(t->log);
	if (!task) {
		t->log->n_skipped++;
		return;
	}
	task->submit_ns = when.submit_ns;
	task->begin_ns = when.begin_ns;
	task->end_ns = when.end_ns;
	task->wall_ns = when.wall_ns;
	task->civil = when.civil;
	task->status = status_of(t);
	if (!name)
		name = text_of(t, PROCESS);
	if (name)
		task->name = tg_xmemdup0(name, strnlen(name, TG_ITEM_NAME_MAX));
	take_figures(t, task);
	task->attrs = attrs_of(t, task);
}

/* ---- the file ---- */

/* What stands behind the first name. */
static char separator_of(const char *line)
{
	while (*line == '%' || *line == '_' || tg_scan_is_digit(*line) ||
		(unsigned)((*line | 0x20) - 'a') < 26)
		line++;
	return *line;
}

/* Names of columns to their places. Returns how many are known. */
static size_t take_head(struct trace *t, char *line)
{
	struct tg_fields head;
	size_t known = 0;

	t->separator = separator_of(line);
	if (!t->separator)
		return 0;
	tg_fields_split(&head, line, t->separator);
	t->n_columns = head.n;
	t->many_lines = tg_fields_find(&head, "script") != SIZE_MAX ||
			tg_fields_find(&head, "env") != SIZE_MAX;
	for (size_t c = 0; c < COLUMNS; c++) {
		t->at[c] = tg_fields_find(&head, column_name[c]);
		known += t->at[c] != SIZE_MAX;
	}
	return known;
}

static size_t count(const char *s, char c)
{
	size_t n = 0;

	while ((s = strchr(s, c))) {
		s++;
		n++;
	}
	return n;
}

/*
 * The row that begins with that line: all of it, where lines of a script are in between. NULL: a
 * line came that is a row of its own, *next, so that this one is damaged.
 */
static char *whole_row(struct trace *t, char *line, char **next)
{
	size_t found = count(line, t->separator), len;

	if (!t->many_lines || found + 1 >= t->n_columns)
		return line;
	tg_buf_clear(&t->text);
	for (;;) {
		size_t more;

		tg_buf_adds(&t->text, line);
		if (found + 1 >= t->n_columns || t->text.len >= ROW_MAX)
			break;
		line = tg_bytes_line(&t->log->bytes, &len);
		if (!line)
			break;
		more = count(line, t->separator);
		if (more + 1 >= t->n_columns) {
			*next = line;
			return NULL;
		}
		tg_buf_addc(&t->text, ' ');
		found += more;
	}
	return t->text.data;
}

static void read_row(struct trace *t, char *line, char **next)
{
	char *row = whole_row(t, line, next);

	/* the log may end in a line that is not the row's first, and then in this row */
	if (!*next && tg_logfile_is_cut(t->log))
		return;
	if (row)
		tg_fields_split(&t->row, row, t->separator);
	/* a separator within a value moves all that are behind it */
	if (!row || t->row.n != t->n_columns)
		t->log->n_skipped++;
	else
		take_row(t);
}

static void say(struct tg_logfile *log, uint64_t n, const char *why)
{
	if (n)
		tg_logfile_note(log, "%llu task%s %s", (unsigned long long)n,
			n == 1 ? " is" : "s are", why);
}

static void read_trace(struct tg_logfile *log)
{
	struct trace t = { .log = log };
	char *line, *next = NULL;
	size_t len;

	line = tg_bytes_line(&log->bytes, &len);
	if (!line)
		return;
	if (!take_head(&t, line)) {
		log->n_skipped++;
		return;
	}
	for (;;) {
		line = next ? next : tg_bytes_line(&log->bytes, &len);
		next = NULL;
		if (!line || tg_logfile_is_cut(log))
			break;
		if (*tg_scan_blanks(line))
			read_row(&t, line, &next);
	}
	tg_buf_release(&t.text);
	log->n_samples = log->n_tasks;
	say(log, t.n_cached, "not in it, as cached: they ran before");
	say(log, t.n_untimed, "not in it: when they ran is unknown");
}

static bool looks(const char *head, size_t len)
{
	struct trace t = { 0 };
	char line[4096];
	size_t n = strcspn(head, "\r\n");

	(void)len;
	if (n >= sizeof(line))
		return false;
	memcpy(line, head, n);
	line[n] = '\0';
	/* names of tasks, and lengths, are in tables of others, too */
	return take_head(&t, line) >= 3 &&
	       (t.at[NAME] < n || t.at[PROCESS] < n || t.at[HASH] < n) &&
	       (t.at[REALTIME] < n || t.at[DURATION] < n || t.at[COMPLETE] < n) &&
	       (t.at[TASK_ID] < n || t.at[NATIVE_ID] < n || t.at[REALTIME] < n || t.at[CPU] < n ||
		       t.at[PEAK_RSS] < n);
}

const struct tg_log_format tg_format_nextflow = {
	.tool = "Nextflow",
	.key = "nextflow",
	.noun = "task",
	.looks = looks,
	.read = read_trace,
	.report = tg_tasks_report,
};
