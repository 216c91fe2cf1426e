/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain statistics over samples, as tables of data analysis have them. */
#ifndef TG_ANALYZE_DESCRIBE_H
#define TG_ANALYZE_DESCRIBE_H

#include <stddef.h>

#include "analyze/series.h"

struct tg_description {
	size_t count;
	double mean;
	double std; /* of a sample: divided by count - 1; NaN below two */
	double min, q25, q50, q75, max; /* quantiles are linear between values */
};

/* Of n values, whose order is lost. Without values all but the count is NaN. */
void tg_describe(double *value, size_t n, struct tg_description *out);

/*
 * Of a series between two times (UTC): a gauge's values, a counter's rates between samples, each of
 * them once, in the metric's unit (per second).
 */
void tg_describe_points(
	const struct tg_points *p, int64_t from_ns, int64_t to_ns, struct tg_description *out);

/* Multiply all but the count, as for another unit. */
void tg_description_scale(struct tg_description *d, double factor);

#endif
