/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs that other tools took, read as one: a folder of them or single files. What they say is told
 * as statistics (report.h), as CSV, and as a recording (write.h) that all other words understand.
 */
#ifndef TG_IMPORT_IMPORT_H
#define TG_IMPORT_IMPORT_H

#include "import/logfile.h"

#define TG_IMPORT_LOGS_MAX 4096

struct tg_import_options {
	const char *match; /* of the commands that count; NULL: MATLAB */
	const char *const *role; /* NAME=REGEX */
	size_t n_roles;
	const char *zone; /* of the logs' clock; NULL: what they say, else that of this machine */
	int64_t interval_ns; /* of logs without stamps; 0: unknown */
};

struct tg_import {
	struct tg_import_options options;
	struct tg_roles roles;
	struct tg_logfile **log; /* those of a tool follow each other, in order of time */
	size_t n, cap;
	char **unknown; /* files in folders that no format knows */
	size_t n_unknown, cap_unknown;
};

/* The strings of `options` must outlive it. 0, or -errno with a sentence. */
int tg_import_new(
	struct tg_import **out, const struct tg_import_options *options, struct tg_err *err);
void tg_import_free(struct tg_import *im);

/*
 * Read a file, or the files of a folder (not those below it). -EBADMSG when no format knows the
 * file, or none of the folder; -errno. After a failure what was read stays.
 */
int tg_import_add(struct tg_import *im, const char *path, struct tg_err *err);

/* The same of bytes, for tests. */
int tg_import_add_bytes(
	struct tg_import *im, const char *name, const void *data, size_t len, struct tg_err *err);

/* The same of bytes that are taken for that format, whatever they look like. */
void tg_import_add_as(struct tg_import *im, const struct tg_log_format *format, const char *name,
	const void *data, size_t len);

/* After the last: date and order all of them. */
void tg_import_settle(struct tg_import *im);

/* The logs of a tool: their place in im->log, and how many. */
size_t tg_import_of_tool(const struct tg_import *im, const char *tool, size_t *first);

/* {"top": {…}, "vmstat": {…}, …}: statistics of what each tool told. */
void tg_import_report(const struct tg_import *im, struct tg_buf *out);

/* Write the CSV files of all tools into `folder`, which is made. 0, or -errno with a sentence. */
int tg_import_csv(const struct tg_import *im, const char *folder, struct tg_err *err);

/* Append what the run of logs at `path` is called: of "logs/run7/" it is "run7". */
void tg_import_name(const char *path, struct tg_buf *out);

/* "top-20261201.log: top (procps 3.3.17 or later), 47 samples, 0 lines skipped". */
void tg_import_line(const struct tg_logfile *log, struct tg_buf *out);

#endif
