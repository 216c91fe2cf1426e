/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nvidia-smi --query-gpu=… --format=csv, with units or without: columns by their heads. Each GPU
 * has a stamp of its own; a tick is what lies between two lines of the first of them.
 *
 *  timestamp, name, index, pstate, utilization.gpu [%], memory.used [MiB], fan.speed [%]
 *  2026/12/01 20:53:39.312, Tesla V100-SXM2-16GB, 0, P8, 0, 450, [N/A]
 */
#include <math.h>

#include "import/civil.h"
#include "import/csv.h"
#include "import/logfile.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

#define HEADS_MAX  64
#define GPUS_MAX   4096 /* in a tick */
#define FIELD_MAX  200
#define ERRORS_MAX 4 /* lines of text that are quoted */

enum {
	PSTATE,
	UTIL,
	MEMORY_UTIL,
	MEMORY_TOTAL,
	MEMORY_USED,
	TEMPERATURE,
	FAN,
	POWER,
	SM_CLOCK,
	MEMORY_CLOCK,
	IN_JOB, /* 1: a log of a job is of its GPUs */
	LATE, /* seconds from the tick's first stamp to that of this GPU */
	COLUMNS
};

/* Fields that are no columns. */
enum { OTHER = -1, STAMP = -2, NAME = -3, INDEX = -4 };

static const struct tg_quantity columns[COLUMNS] = {
	[UTIL] = { NULL, "util", 0 },
	[MEMORY_UTIL] = { NULL, "memutil", 0 },
	[MEMORY_USED] = { NULL, "memused_mib", 0 },
};

#define BIT(column) (UINT64_C(1) << (column))
#define LEVEL(name, unit, scale, factor, column, help)                                             \
	{                                                                                          \
		{ name, unit, TG_GAUGE, TG_SCOPE_NODE, scale, help }, TG_LEVEL, factor,            \
			BIT(column)                                                                \
	}

static const struct tg_derived outputs[] = {
	{ { "gpu.in_job", "count", TG_GAUGE, TG_SCOPE_JOB, 0, NULL }, TG_LEVEL, 1, BIT(IN_JOB) },
	LEVEL("gpu.util_pct", "pct", 0, 1, UTIL, NULL),
	LEVEL("gpu.memory_busy_pct", "pct", 0, 1, MEMORY_UTIL, NULL),
	LEVEL("gpu.memory_used_bytes", "bytes", 0, 1048576, MEMORY_USED, NULL),
	LEVEL("gpu.memory_total_bytes", "bytes", 0, 1048576, MEMORY_TOTAL, NULL),
	LEVEL("gpu.temperature_c", "C", 0, 1, TEMPERATURE, NULL),
	LEVEL("gpu.power_w", "W", -3, 1, POWER, NULL),
	LEVEL("gpu.sm_clock_mhz", "MHz", 0, 1, SM_CLOCK, NULL),
	LEVEL("gpu.memory_clock_mhz", "MHz", 0, 1, MEMORY_CLOCK, NULL),
	LEVEL("nvidia.fan_pct", "pct", 0, 1, FAN, "speed of the fan"),
	LEVEL("nvidia.performance_state", "count", 0, 1, PSTATE,
		"0 (P0, the fastest) to 15 (P15, the slowest)"),
};

static const struct tg_log_layout layout = { columns, COLUMNS, outputs, TG_ARRAY_SIZE(outputs) };

struct smi {
	struct tg_logfile *log;
	struct tg_readings *grid;
	int head[HEADS_MAX];
	int n_heads;
	bool has_index;
	int64_t tick_ns; /* civil: of the tick's first line */
	double last_index;
	size_t *seen; /* items of the tick */
	size_t n_seen, cap_seen;
	uint64_t n_errors;
};

/* One line as fields; names and values are the heads' business. */
struct fields {
	double value[COLUMNS];
	char name[FIELD_MAX], index[FIELD_MAX];
	struct tg_stamp stamp;
	bool stamped;
};

static int column_of(const char *p, size_t len)
{
	static const struct {
		const char *name;
		int column;
	} known[] = { { "timestamp", STAMP }, { "name", NAME }, { "gpu_name", NAME },
		{ "index", INDEX }, { "pstate", PSTATE }, { "utilization.gpu", UTIL },
		{ "utilization.memory", MEMORY_UTIL }, { "memory.total", MEMORY_TOTAL },
		{ "memory.used", MEMORY_USED }, { "temperature.gpu", TEMPERATURE },
		{ "fan.speed", FAN }, { "power.draw", POWER }, { "clocks.sm", SM_CLOCK },
		{ "clocks.current.sm", SM_CLOCK }, { "clocks.mem", MEMORY_CLOCK },
		{ "clocks.current.memory", MEMORY_CLOCK } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(known); i++)
		if (tg_scan_is(p, p + len, known[i].name))
			return known[i].column;
	return OTHER;
}

/* The end of the field at `p`, and where the next one begins; NULL: it is the last. */
static const char *field_end(const char *p, const char **next)
{
	const char *comma = strchr(p, ','), *end = comma ? comma : p + strlen(p);

	*next = comma ? tg_scan_blanks(comma + 1) : NULL;
	while (end > p && end[-1] == ' ')
		end--;
	return end;
}

static bool is_heads(const char *line)
{
	static const char *const typical[] = { "utilization.gpu", "utilization.memory",
		"memory.used", "memory.total", "temperature.gpu", "power.draw", "pstate" };

	if (!strchr(line, ',') || strstr(line, "nvidia-smi"))
		return false;
	for (size_t i = 0; i < TG_ARRAY_SIZE(typical); i++)
		if (strstr(line, typical[i]))
			return true;
	return false;
}

/* A name of the head goes to its blank: "utilization.gpu [%]". */
static void take_heads(struct smi *s, const char *line)
{
	const char *p = line, *next;

	s->n_heads = 0;
	s->has_index = false;
	for (; p && s->n_heads < HEADS_MAX; p = next) {
		const char *end = field_end(p, &next), *word = tg_scan_word(p);

		if (word > end)
			word = end;
		s->head[s->n_heads] = column_of(p, (size_t)(word - p));
		s->has_index |= s->head[s->n_heads++] == INDEX;
	}
}

static void copy_field(char *out, const char *p, const char *end)
{
	snprintf(out, FIELD_MAX, "%.*s", (int)TG_MIN((size_t)(end - p), (size_t)FIELD_MAX - 1), p);
}

/* "90", "90 %", "P8"; "[N/A]", "[Not Supported]", "N/A": nothing. False: what is it? */
static bool scan_value(const char *p, const char *end, double *v)
{
	const char *q;

	*v = NAN;
	if (*p == '[' || tg_scan_is(p, end, "N/A"))
		return true;
	q = tg_scan_number(*p == 'P' ? p + 1 : p, v);
	return q && (q == end || *q == ' ');
}

static bool scan_fields(const struct smi *s, const char *line, struct fields *f)
{
	const char *p = line, *next;
	int n = 0;

	*f = (struct fields){ 0 };
	for (int i = 0; i < COLUMNS; i++)
		f->value[i] = NAN;
	for (; p && n < s->n_heads; p = next, n++) {
		const char *end = field_end(p, &next);

		switch (s->head[n]) {
		case OTHER:
			break;
		case STAMP:
			if (tg_civil_stamp(p, &f->stamp) != end)
				return false;
			f->stamped = true;
			break;
		case NAME:
			copy_field(f->name, p, end);
			break;
		case INDEX:
			copy_field(f->index, p, end);
			break;
		default:
			if (!scan_value(p, end, &f->value[s->head[n]]))
				return false;
		}
	}
	return n == s->n_heads && !p;
}

/* Whether the line begins a tick: its GPU was there already, or comes before the one above. */
static bool begins_tick(const struct smi *s, size_t item, double index)
{
	if (!s->grid->n_ticks || !s->has_index || index < s->last_index || s->n_seen == GPUS_MAX)
		return true;
	for (size_t i = 0; i < s->n_seen; i++)
		if (s->seen[i] == item)
			return true;
	return false;
}

static void begin_tick(struct smi *s, const struct fields *f)
{
	int64_t step = s->log->interval_ns ? s->log->interval_ns : TG_NS_PER_S;

	s->n_seen = 0;
	s->tick_ns = f->stamped ? f->stamp.civil_ns : (int64_t)s->grid->n_ticks * step;
	if (!f->stamped)
		s->grid->times = s->log->interval_ns ? TG_RELATIVE : TG_NUMBERED;
	tg_readings_tick(s->grid, s->tick_ns);
}

static bool take_row(struct smi *s, const char *line)
{
	struct fields f;
	ptrdiff_t at;
	double index = -1;

	if (!s->n_heads || !scan_fields(s, line, &f))
		return false;
	if (!f.index[0])
		snprintf(f.index, sizeof(f.index), "0");
	if (!tg_scan_number(f.index, &index))
		index = -1;
	at = tg_readings_item(s->grid, f.index);
	if (at < 0)
		return false;
	if (begins_tick(s, (size_t)at, index))
		begin_tick(s, &f);
	if (!s->grid->item[at].title && f.name[0])
		s->grid->item[at].title = tg_xstrdup(f.name);
	f.value[IN_JOB] = 1;
	f.value[LATE] = f.stamped ? (double)(f.stamp.civil_ns - s->tick_ns) / 1e9 : NAN;
	TG_GROW(s->seen, s->n_seen + 1, s->cap_seen);
	s->seen[s->n_seen++] = (size_t)at;
	s->last_index = index;
	tg_readings_row(s->grid, (size_t)at, f.value);
	return true;
}

/* "GPU is lost", "NVIDIA-SMI has failed …": text among the lines is what the driver had to say. */
static void take_text(struct smi *s, const char *line)
{
	bool text = strstr(line, "NVIDIA") || strstr(line, "GPU") || strstr(line, "NVML") ||
		    strstr(line, "devices were found");

	if (!text)
		s->log->n_skipped++;
	else if (s->n_errors++ < ERRORS_MAX)
		tg_logfile_note(s->log, "it says: %.150s", line);
}

static void note_names(struct smi *s)
{
	for (uint32_t i = 0; i < s->grid->n_items && i < 8; i++)
		if (s->grid->item[i].title)
			tg_logfile_note(s->log, "GPU %s is a %s", s->grid->item[i].name,
				s->grid->item[i].title);
}

static void read_smi(struct tg_logfile *log)
{
	struct smi s = { .log = log };
	const char *line;
	size_t len;

	s.grid = &log->part[0].grid;
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log)) {
		if (!*tg_scan_blanks(line))
			continue;
		if (is_heads(line))
			take_heads(&s, line);
		else if (!take_row(&s, line))
			take_text(&s, line);
	}
	free(s.seen);
	log->n_samples = s.grid->n_ticks;
	note_names(&s);
}

static bool looks(const char *head, size_t len)
{
	static const char *const failure[] = { "NVIDIA-SMI has failed", "Failed to initialize NVML",
		"Unable to determine the device handle", "No devices were found" };
	size_t n = strcspn(head, "\n");
	char line[1024];

	(void)len;
	for (size_t i = 0; i < TG_ARRAY_SIZE(failure); i++)
		if (tg_scan_starts(head, failure[i]))
			return true;
	if (n >= sizeof(line))
		return false;
	memcpy(line, head, n);
	line[n] = '\0';
	return is_heads(line);
}

/* ---- CSV: with names and states, which are no numbers ---- */

static void add_line(struct tg_csv *csv, const struct tg_walk *w, const struct tg_walk_row *row,
	int64_t begin_ns)
{
	const struct tg_log_item *item = &w->grid->item[row->item];
	struct tg_log_tick tick = w->grid->tick[w->tick];
	int64_t late = isnan(row->value[LATE]) ? 0 : llround(row->value[LATE] * 1e9);
	static const int column[] = { UTIL, MEMORY_UTIL, MEMORY_TOTAL, MEMORY_USED, TEMPERATURE,
		FAN };

	tick.civil_ns += late;
	tg_csv_time(csv, w->grid, &tick);
	if (w->grid->times != TG_NUMBERED)
		tg_buf_addf(&csv->text, ".%03d", (int)(tick.civil_ns / TG_NS_PER_MS % 1000));
	tg_buf_addc(&csv->text, ',');
	tg_elapsed_text(&csv->text, tick.utc_ns + late - begin_ns);
	tg_buf_addf(
		&csv->text, ".%03d", (int)((tick.utc_ns + late - begin_ns) / TG_NS_PER_MS % 1000));
	tg_csv_text(csv, item->title ? item->title : "");
	tg_csv_text(csv, item->name);
	tg_buf_addc(&csv->text, ',');
	if (!isnan(row->value[PSTATE]))
		tg_buf_addf(&csv->text, "P%.0f", row->value[PSTATE]);
	for (size_t i = 0; i < TG_ARRAY_SIZE(column); i++)
		tg_csv_value(csv, row->value[column[i]], 0);
	tg_csv_end_line(csv);
}

static int csv(const struct tg_import *im, const struct tg_log_format *f, const char *folder,
	struct tg_err *err)
{
	size_t first, n = tg_import_of_tool(im, f->tool, &first);
	int64_t begin = TG_UNKNOWN;
	struct tg_csv csv_file;
	int r = tg_csv_open(&csv_file, folder, "gpu.csv", err);

	if (r < 0)
		return r;
	tg_buf_adds(&csv_file.text,
		"timestamp,time,name,index,pstate,utilization.gpu [%],utilization.memory [%],"
		"memory.total [MiB],memory.used [MiB],temperature.gpu,fan.speed [%]");
	tg_csv_end_line(&csv_file);
	for (size_t i = first; i < first + n; i++) {
		const struct tg_readings *g = &im->log[i]->part[0].grid;
		struct tg_walk w;

		if (begin == TG_UNKNOWN && g->n_ticks)
			begin = g->tick[0].utc_ns;
		tg_walk_begin(&w, g);
		while (tg_walk_next(&w))
			for (size_t k = 0; k < w.n; k++)
				add_line(&csv_file, &w, &w.row[k], begin);
		tg_walk_end(&w);
	}
	return tg_csv_close(&csv_file, err);
}

const struct tg_log_format tg_format_nvidia_smi = {
	.tool = "nvidia-smi",
	.layout = { &layout },
	.key = "gpu",
	.looks = looks,
	.read = read_smi,
	.report = tg_report_sums,
	.csv = csv,
};
