/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One log on its way from a file to what it says, and the formats that are known. A format is one
 * file: it looks at the first bytes, reads the rest into grids, and says what the columns mean.
 */
#ifndef TG_IMPORT_LOGFILE_H
#define TG_IMPORT_LOGFILE_H

#include "base/err.h"
#include "base/json.h"
#include "base/metric.h"
#include "import/bytes.h"
#include "import/processes.h"
#include "import/readings.h"

#define TG_LOG_NOTES_MAX 16
#define TG_LOG_PARTS_MAX 4
#define TG_LOG_LIST_MAX  65536 /* disks, stages */

struct tg_import;
struct tg_logfile;

/* A column as the tool prints it. */
struct tg_quantity {
	const char *label; /* its head in the CSV, with the unit; NULL: not there */
	const char *key; /* of its statistics in the JSON report; NULL: none */
	int decimals; /* that the tool prints */
};

/* How a printed value becomes the metric's. */
enum tg_meaning {
	TG_LEVEL, /* it is one: value * factor */
	TG_PER_SECOND, /* adds value * factor for each second of the interval to a counter */
	TG_PER_INTERVAL, /* adds value * factor */
	TG_PERCENT_OF_TIME, /* adds so much of the interval, in ns */
	TG_PERCENT_OF_CORES, /* the same for each core; nothing where their number is unknown */
};

/*
 * A metric of a recording, from the sum of the columns in `plus` less those in `minus` (bits).
 * Columns that the log never has count as 0 there; one that is missing in a tick makes it missing.
 */
struct tg_derived {
	struct tg_metric metric;
	enum tg_meaning meaning;
	double factor;
	uint64_t plus, minus;
	bool whole_disks; /* only of items that hold no other's bytes: no partitions, no dm, no md
			   */
};

struct tg_log_layout {
	const struct tg_quantity *column;
	size_t n_columns;
	const struct tg_derived *output;
	size_t n_outputs;
};

struct tg_log_part {
	const struct tg_log_layout *layout;
	struct tg_readings grid;
};

/* The mount points on a disk. */
struct tg_log_disk {
	char *name;
	char **mount;
	size_t n;
};

struct tg_log_stage {
	int64_t utc_ns;
	bool begin;
	char *name;
};

/* What a task cost, as its log has it. */
enum tg_task_figure {
	TG_TASK_CPU_S,
	TG_TASK_RSS, /* peaks, in bytes */
	TG_TASK_PSS,
	TG_TASK_VMS,
	TG_TASK_READ, /* bytes from and to storage */
	TG_TASK_WRITE,
	TG_TASK_RCHAR, /* bytes by system calls */
	TG_TASK_WCHAR,
	TG_TASK_READ_OPS,
	TG_TASK_WRITE_OPS,
	TG_TASK_FIGURES
};

/* One that a workflow ran; see tasks.h. */
struct tg_log_task {
	int64_t begin_ns; /* TG_UNKNOWN: it is not known when it began */
	int64_t submit_ns, end_ns; /* TG_UNKNOWN: not known; with begin_ns only */
	int64_t wall_ns; /* TG_UNKNOWN: from its begin to its end */
	bool civil; /* these moments are what a clock on the wall showed */
	uint32_t place; /* among those of the log, as it has them */
	char *name; /* NULL: unknown */
	char *attrs; /* a JSON object, or NULL */
	const char *status; /* static: "ok", "error", "aborted", "unknown" */
	double cores; /* that it used on average, where its CPU time is not told; NaN: unknown */
	double figure[TG_TASK_FIGURES]; /* NaN: unknown */
};

struct tg_logfile {
	char *path;
	const char *name; /* the last part of the path */
	const struct tg_log_format *format;
	struct tg_log_bytes bytes;
	int64_t first_ns; /* of its samples and tasks, once they are resolved; INT64_MAX: none */
	int64_t interval_ns; /* that the user has told; 0: none */
	struct tg_log_part part[TG_LOG_PARTS_MAX];
	size_t n_parts;
	struct tg_processes processes; /* where `has_processes` */
	bool has_processes;
	char version[64]; /* of the tool, as far as the format tells */
	char host[256];
	int64_t cpus; /* 0: unknown */
	bool zone_is_utc; /* it is written in the log */
	uint64_t n_samples; /* that were read, those among them that are not used */
	uint64_t n_averages; /* of them, those since boot or mount, which are not used */
	const char *since; /* "boot", "the mount" */
	uint64_t n_skipped; /* lines that nothing could be made of */
	char *note[TG_LOG_NOTES_MAX];
	size_t n_notes;
	struct tg_log_disk *disk;
	size_t n_disks, cap_disks;
	struct tg_log_stage *stage;
	size_t n_stages, cap_stages;
	struct tg_log_task *task;
	size_t n_tasks, cap_tasks;
	bool named_by_file; /* its tasks are called as the file is: nothing in it names them */
	char *group; /* of its tasks, which "process" tells: the folder; NULL: none */
	bool undated; /* no date is in it, or for tasks no time at all */
	bool numbered; /* its samples have no times at all */
};

/* How the lines of a CSV file begin that has one for each row of a grid. */
struct tg_csv_kind {
	const char *name; /* "vmstat.csv" */
	const char *head; /* "datetime,time,device": then come the columns that have a label */
	bool elapsed; /* H:MM:SS since the tool's first tick, behind the date */
	bool item;
};

struct tg_log_format {
	const char *tool; /* as users know it */
	const char *key; /* in the JSON report; NULL: the tool's name */
	const char *noun; /* what it has many of; NULL: "sample" */
	/* what its readings are, a grid of the log each; the first is what is reported */
	const struct tg_log_layout *layout[TG_LOG_PARTS_MAX];
	/* whether these first bytes, with a NUL behind them, are of this tool */
	bool (*looks)(const char *head, size_t len);
	/* Read log->bytes to its end. What cannot be understood is counted, never an error. */
	void (*read)(struct tg_logfile *log);
	/* Write the value of the tool's key in the JSON report; NULL: it has none. */
	void (*report)(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w);
	/* CSV files that the tool has; NULL: none. 0, or -errno with a sentence. */
	int (*csv)(const struct tg_import *im, const struct tg_log_format *f, const char *folder,
		struct tg_err *err);
	struct tg_csv_kind csv_kind; /* where that is tg_csv_grid */
};

/* The format of these bytes, or NULL. */
const struct tg_log_format *tg_format_of(const char *head, size_t len);

/* The table. */
const struct tg_log_format *const *tg_formats(size_t *n);

/* Let it be a log of that format with nothing read; the rest is as it was. */
void tg_logfile_init(
	struct tg_logfile *log, const struct tg_log_format *format, struct tg_roles *roles);

/* One sentence without a full stop for the user; at most TG_LOG_NOTES_MAX of them. */
void tg_logfile_note(struct tg_logfile *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tg_logfile_version(struct tg_logfile *log, const char *version);

/* Whether the line at hand is a last one without its end, which is dropped with a note. */
bool tg_logfile_is_cut(struct tg_logfile *log);

void tg_logfile_release(struct tg_logfile *log);

#endif
