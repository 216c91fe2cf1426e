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
	bool raw_numbers; /* Nextflow: bytes and milliseconds instead of words */
	bool extended; /* Snakemake: its extended columns, too */
	const char *tables; /* raw: of what beside samples; names with commas, "none"; NULL: all */
	const char *metrics; /* names with commas; "none"; NULL: all that there are */
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

/*
 * One line of JSON, then blocks of int64 columns with missing bits, as docs/exports.md has them.
 * For python/tachograph/recording.py, which needs no parser of numbers then.
 */
int tg_export_raw(const struct tg_export *e, struct tg_err *err);

/* OpenMetrics 1.0 text: base units, a family a metric, points in order of time, `# EOF`. */
int tg_export_openmetrics(const struct tg_export *e, struct tg_err *err);

/* A line a span in the columns of Snakemake's benchmark files, and of Nextflow's trace files. */
int tg_export_snakemake(const struct tg_export *e, struct tg_err *err);
int tg_export_nextflow(const struct tg_export *e, struct tg_err *err);

/*
 * An SQLite database in the file `path`, which is empty or does not exist: the sink is not used.
 * -ENOTSUP with a sentence where this program was built without SQLite.
 */
int tg_export_sqlite(const struct tg_export *e, const char *path, struct tg_err *err);

/* What there is besides samples, an object each. */
enum tg_export_what {
	TG_EXPORT_SPANS,
	TG_EXPORT_PROCESSES,
	TG_EXPORT_EVENTS,
	TG_EXPORT_METRICS, /* one a column of samples */
	TG_EXPORT_WHATS
};

/* "spans": what tables of it are called. */
const char *tg_export_name(enum tg_export_what what);

/* CSV of such objects, a line each; what is an object or a list itself is JSON text. */
int tg_export_csv_of(const struct tg_export *e, enum tg_export_what what, struct tg_err *err);

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

/* Those that e->metrics chooses. 0, or -ENOENT with a sentence that names one that is not there. */
int tg_export_chosen(const struct tg_export *e, struct tg_export_columns *out, struct tg_err *err);

/* A row of samples. value[i] belongs to column i. */
struct tg_export_row {
	int64_t utc_ns;
	uint32_t session;
	const struct tg_span *cell; /* the innermost cell or stage at that time, or NULL */
	const int64_t *value;
};

/*
 * Hand over every row in order of time, rows of several tables at the same moment as one. Rows
 * without a value in these columns come, too, as another column may have brought them.
 */
int tg_export_rows(const struct tg_export *e, const struct tg_export_columns *columns,
	int (*each)(void *ctx, const struct tg_export_row *row), void *ctx);

/* Append value * 10^scale without loss. */
void tg_export_value(struct tg_buf *out, int64_t value, int scale);

/*
 * The object of one span as in `show --json`; with `code` its source, when that is recorded and the
 * export does not leave it out.
 */
int tg_export_span(
	const struct tg_export *e, const struct tg_span *span, bool code, struct tg_jw *w);

void tg_export_events(const struct tg_recording *r, struct tg_jw *w);

/*
 * Hand over one object after the other, as JSON text and parsed. All of one kind have the same
 * members in the same order. A result of `each` other than 0 ends it and is returned.
 */
int tg_export_objects(const struct tg_export *e, enum tg_export_what what,
	int (*each)(void *ctx, size_t i, const struct tg_buf *json, const struct tg_json *object),
	void *ctx);

/* "file" and "machine", as each JSON object begins. */
void tg_export_about(const struct tg_export *e, struct tg_jw *w);

/* Whether `list` (names with commas) has `name`. */
bool tg_export_listed(const char *list, const char *name);

/* A value of an object as text: what is no text itself as JSON; nothing for null. */
void tg_export_cell(const struct tg_json *v, struct tg_buf *out);
void tg_export_csv_field(struct tg_buf *out, const char *s);

int tg_export_failed(const struct tg_export *e, int rc, struct tg_err *err);

/* Send what is in `b` to the sink and clear it. */
int tg_export_flush(const struct tg_export *e, struct tg_buf *b);

#endif
