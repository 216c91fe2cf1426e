/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a span cost as figures with names: those of `show --json`. Whoever ran a span may know some
 * of them better than any sample does, as a workflow does of its tasks, which run side by side and
 * on other machines; its end event has them then, as "figures".
 */
#ifndef TG_ANALYZE_FIGURES_H
#define TG_ANALYZE_FIGURES_H

#include "analyze/totals.h"

struct tg_figure {
	const char *name;
	size_t offset; /* of the double in struct tg_totals */
	int decimals;
	bool may_be_told; /* by an end event */
};

/* All of them, in the order in which they are written. */
const struct tg_figure *tg_figures(size_t *n);
double tg_figure_of(const struct tg_figure *f, const struct tg_totals *t);

/*
 * Fill in what the span tells of itself (span->figures), and what follows from that. What is not
 * among it, or is no number from 0 on, stays as it is.
 */
void tg_figures_take(const struct tg_span *span, struct tg_totals *out);

#endif
