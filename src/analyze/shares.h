/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The readings of the tree's PSS that fall into a span. Rows repeat one with its age until there is
 * another; one that was found before the span says nothing of it, as forked workers that begin to
 * write have no page more resident and yet share none.
 */
#ifndef TG_ANALYZE_SHARES_H
#define TG_ANALYZE_SHARES_H

#include <stdbool.h>

#include "analyze/series.h"
#include "record/block.h"

struct tg_shares {
	double pss_bytes; /* the largest; NaN: none was found in the span */
	double rss_bytes; /* the most that was resident in a row with one */
	int64_t found_ns; /* when the last one was; TG_MISSING */
};

/* Where the columns are in a block, and what to multiply by; SIZE_MAX: nowhere. */
struct tg_shares_columns {
	size_t pss, rss, age;
	double pss_scale, rss_scale;
};

void tg_shares_init(struct tg_shares *s);

/* Take rows of [begin_ns, last_ns] whose reading was found in [begin_ns, end_ns]. */
void tg_shares_take(struct tg_shares *s, const struct tg_block *block,
	const struct tg_shares_columns *at, int64_t begin_ns, int64_t end_ns, int64_t last_ns);

/*
 * Cut a series of PSS where it was not known: between two of its points RSS was higher than at
 * both, or lower, by more than a tenth. Returns whether PSS was lower than RSS by as much at some
 * point.
 */
bool tg_shares_cut(struct tg_points *pss, const struct tg_points *rss);

/* Whether it stands for a tree of which so much was resident at the most: PSS was known then. */
bool tg_shares_hold(const struct tg_shares *s, double rss_peak_bytes);

#endif
