/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the logs of a tool say, row by row, as CSV: hooks of struct tg_log_format, and what they are
 * made of. Times are those of the logs' clock; what is missing is empty. Existing files are
 * replaced.
 */
#ifndef TG_IMPORT_CSV_H
#define TG_IMPORT_CSV_H

#include "import/import.h"
#include "import/walk.h"

struct tg_csv {
	int fd;
	int error; /* the first -errno of writing, or 0 */
	char *path;
	struct tg_buf text; /* not written yet */
};

/* Both return 0, or -errno with a sentence. */
int tg_csv_open(struct tg_csv *csv, const char *folder, const char *name, struct tg_err *err);
int tg_csv_close(struct tg_csv *csv, struct tg_err *err);

/* ",12.30": a comma and a value; only the comma when it is missing. */
void tg_csv_value(struct tg_csv *csv, double v, int decimals);

/* When a tick was, as far as that is known: date and time, time alone, or its number. */
void tg_csv_time(struct tg_csv *csv, const struct tg_readings *g, const struct tg_log_tick *tick);

/* A comma and a text, quoted where that is needed. */
void tg_csv_text(struct tg_csv *csv, const char *text);

/* Behind each line: what is in memory goes to the file when it is much. */
void tg_csv_end_line(struct tg_csv *csv);

/* A line for each row of the first grid of the tool's logs, as f->csv_kind says. */
int tg_csv_grid(const struct tg_import *im, const struct tg_log_format *f, const char *folder,
	struct tg_err *err);

/* "top-total.csv" and "top-proc.csv": of a tool that tells of processes, by its name. */
int tg_csv_top(const struct tg_import *im, const struct tg_log_format *f, const char *folder,
	struct tg_err *err);

#endif
