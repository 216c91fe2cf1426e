/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording in forms that other programs read. Everything is written in pieces to a sink, so that
 * a day of samples needs no more memory than ten seconds of them. Counters are exported as they
 * were read: they only grow, and a rate is a difference over a difference of times.
 */
#ifndef TG_EXPORT_EXPORT_H
#define TG_EXPORT_EXPORT_H

#include "analyze/recording.h"
#include "base/json.h"

/* Takes the next bytes; 0, or -errno, which ends the export. */
struct tg_sink {
	int (*write)(void *ctx, const char *data, size_t len);
	void *ctx;
};

struct tg_export {
	struct tg_recording *recording;
	const struct tg_span *const *span; /* the chosen ones, in file order */
	size_t n_spans;
	bool whole; /* rows outside of the spans, too */
	bool no_code; /* leave out the source of cells, and names, which may be its first line */
	bool no_args; /* leave out command lines */
	struct tg_sink sink;
};

/*
 * One line a row: time (ISO 8601, UTC), seconds since the first row, index of the cell or stage,
 * then a column for each metric and instance, headed name:instance[unit]. Unknown is empty.
 * 0, or -errno with a sentence.
 */
int tg_export_csv(const struct tg_export *e, struct tg_err *err);

/* {"file","machine","spans","events","processes","columns","rows"}; unknown is null. */
int tg_export_json(const struct tg_export *e, struct tg_err *err);

/* What `show --json` prints: the sums of each span, series of at most 150 bins, what is lost. */
int tg_export_summary(const struct tg_export *e, struct tg_err *err);

/* ---- for the writers of this folder ---- */

#define TG_EXPORT_COLUMNS_MAX 16384

/* All columns of a recording, whichever table they are in; one per metric and instance. */
struct tg_export_columns {
	const struct tg_column **column; /* borrowed from the reader */
	size_t n, cap;
};

void tg_export_columns_of(const struct tg_recording *r, struct tg_export_columns *out);

/*
 * Hand over every row in order of time, rows of several tables at the same moment as one.
 * `cell` is the innermost cell or stage at that time, or NULL. value[i] belongs to column i.
 */
int tg_export_rows(const struct tg_export *e, const struct tg_export_columns *columns,
	int (*each)(void *ctx, int64_t utc_ns, const struct tg_span *cell, const int64_t *value),
	void *ctx);

/* Append value * 10^scale without loss. */
void tg_export_value(struct tg_buf *out, int64_t value, int scale);

/*
 * The object of one span as in `show --json`; with `code` its source, when that is recorded and the
 * export does not leave it out.
 */
int tg_export_span(
	const struct tg_export *e, const struct tg_span *span, bool code, struct tg_jw *w);

void tg_export_events(const struct tg_recording *r, struct tg_jw *w);

/* Send what is in `b` to the sink and clear it. */
int tg_export_flush(const struct tg_export *e, struct tg_buf *b);

#endif
