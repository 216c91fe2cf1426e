/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which spans of several recordings belong together, and what they cost on either side. A side has
 * one recording or several, which are then repeats of one another. Spans belong together that have
 * the same kind and the same name (cells: first line), the n-th of a name with the n-th. Where no
 * side has several recordings, spans of one name are repeats when all of a recording are alike
 * (attributes, or the code of cells). Cells that are left over on both sides belong together when
 * they have the same number.
 */
#ifndef TG_ANALYZE_COMPARE_H
#define TG_ANALYZE_COMPARE_H

#include "analyze/noise.h"
#include "analyze/totals.h"

#define TG_COMPARE_SIDES 26 /* at most: A to Z */

enum tg_cost {
	TG_COST_WALL, /* s */
	TG_COST_CPU, /* core-seconds */
	TG_COST_MEMORY, /* peak, bytes */
	TG_COST_READ, /* bytes, as the next */
	TG_COST_WRITTEN,
	TG_COST_GPU, /* use, per cent */
	TG_COSTS
};

/* One span of one recording. */
struct tg_compared {
	size_t side, file, order; /* file: counted over all sides; order: as added */
	char *kind, *name; /* name "": none */
	char *alike; /* what else is equal in repeats */
	int64_t index; /* TG_NO_NUMBER: none */
	bool whole; /* of a recording */
	bool exact;
	double cost[TG_COSTS]; /* NaN: unknown */
	double rss_bytes;
	const char *memory_is;
	size_t row, nth;
};

struct tg_compare_row {
	const char *kind, *name; /* of its first span, borrowed */
	int64_t index;
	size_t nth; /* of its name, from 0 */
	bool several; /* other rows have this kind and name */
	bool whole;
	const char *memory_is; /* "PSS" when all of it was, else "RSS"; NULL: nothing is known */
	size_t order; /* of its first span */
	size_t from, to; /* its spans, by side */
};

struct tg_compare {
	size_t n_sides;
	size_t *files; /* of each side */
	size_t n_files;
	struct tg_compared *span;
	size_t n, cap;
	struct tg_compare_row *row; /* the whole recordings first; then in the order of side 0 */
	size_t n_rows;
};

/* At most TG_COMPARE_SIDES. */
void tg_compare_init(struct tg_compare *c, size_t n_sides);
void tg_compare_release(struct tg_compare *c);

/* One more recording of that side, side by side; the spans that are added next are of it. */
void tg_compare_file(struct tg_compare *c, size_t side);

/* `whole`: it stands for all of the recording. */
void tg_compare_add(
	struct tg_compare *c, const struct tg_span *span, const struct tg_totals *t, bool whole);

/* Make the rows; nothing is added any more. */
void tg_compare_match(struct tg_compare *c);

/* How many spans of that side are in a row. */
size_t tg_compare_count(const struct tg_compare *c, const struct tg_compare_row *row, size_t side);

/* Whether all that is known of a cost on that side is exact, and not interpolated. */
bool tg_compare_exact(const struct tg_compare *c, const struct tg_compare_row *row, size_t side);

/* The values of a cost on that side, NaN: unknown. Caller frees *v. Returns how many. */
size_t tg_compare_values(const struct tg_compare *c, const struct tg_compare_row *row, size_t side,
	enum tg_cost cost, double **v);

/* What `side` costs against side 0. */
void tg_compare_cost(const struct tg_compare *c, const struct tg_compare_row *row, size_t side,
	enum tg_cost cost, struct tg_difference *out);

/*
 * Whether `d` is a rise of more than `limit_pct` that is not within the noise. A rise from nothing
 * is more than any per cent. Use of GPUs is no cost.
 */
bool tg_compare_exceeds(const struct tg_difference *d, enum tg_cost cost, double limit_pct);

#endif
