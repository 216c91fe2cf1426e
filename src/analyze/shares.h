/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The most memory that a span had at one moment. At each row that is PSS, where a reading of it
 * tells of that moment, else RSS; of a process that is alone always RSS, which is finer.
 *
 * A reading tells of a moment when it was found since the last span began, and no memory came
 * since; or when it was found later, before the next span begins or ends, and all that was there is
 * there still. Memory comes when RSS is higher by more than a tenth. One that was found before the
 * span says nothing of it, as forked workers that begin to write have no page more resident and
 * yet share none. So what is said of a moment does not depend on which span is asked, and no span
 * but tasks, whose edges divide nothing, has less than one within it.
 */
#ifndef TG_ANALYZE_SHARES_H
#define TG_ANALYZE_SHARES_H

#include <stdbool.h>

#include "analyze/edges.h"
#include "analyze/peaks.h"
#include "analyze/series.h"
#include "record/block.h"

/* Where the columns are in a block, and what to multiply by; SIZE_MAX: nowhere. */
struct tg_shares_columns {
	size_t pss, rss, age;
	double pss_scale, rss_scale;
};

struct tg_shares_row {
	int64_t t_ns; /* TG_MISSING: there is none */
	int64_t found_ns; /* when the reading was; TG_MISSING: it has none */
	double rss_bytes, pss_bytes;
};

struct tg_shares {
	double top_bytes; /* NaN: unknown */
	bool top_is_pss;
	double pss_bytes; /* the largest reading that was found in the span; NaN: there is none */
	int64_t found_ns; /* when the last one was; TG_MISSING */

	/* of this module alone */
	int64_t begin_ns, end_ns, tolerance_ns;
	const struct tg_edges *edges;
	const struct tg_peaks *lives;
	struct tg_shares_row last;
	bool last_counts, over;
	int64_t since_ns; /* when the last span began */
	int64_t reading_ns; /* when the one that may tell was found; TG_MISSING: there is none */
	double reading_bytes, low_bytes; /* and the least RSS since */
	double waiting_bytes; /* RSS of rows that the next one may tell of, the most; NaN: none */
};

/* A row `tolerance_ns` from an edge is the one that was taken there. */
void tg_shares_init(struct tg_shares *s, const struct tg_span *span, int64_t tolerance_ns);

/* What rows are of, before they are taken. Borrowed until the end. */
void tg_shares_session(
	struct tg_shares *s, const struct tg_edges *edges, const struct tg_peaks *lives);

/* Rows in order of time, until the first one behind the span, and the end of them. */
void tg_shares_take(
	struct tg_shares *s, const struct tg_block *block, const struct tg_shares_columns *at);
void tg_shares_end(struct tg_shares *s);

/*
 * Cut a series of PSS where it was not known: between two of its points RSS was higher than at
 * both, or lower, by more than a tenth, or lower than the line by that. Returns whether PSS was
 * lower than RSS by as much at some point.
 */
bool tg_shares_cut(struct tg_points *pss, const struct tg_points *rss);

#endif
