/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a quantity as pandas' describe() has it: count, mean, std (of n - 1), min, quartiles
 * by linear interpolation, max. Plain statistics over samples; missing values are no samples.
 */
#ifndef TG_IMPORT_STATS_H
#define TG_IMPORT_STATS_H

#include "base/json.h"

struct tg_stats {
	double *value;
	size_t n, cap;
};

void tg_stats_add(struct tg_stats *s, double v); /* NaN is passed over */

/* Write the object, and forget the values. What is not defined (a mean of nothing) is null. */
void tg_stats_write(struct tg_stats *s, struct tg_jw *w);

#endif
