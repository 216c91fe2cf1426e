/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series on fewer buckets. Extremes are kept: a slot's min and max are those of all buckets that
 * touch it, its mean is weighted by time. A slot that no bucket with values touches is a gap.
 */
#ifndef TG_RENDER_RESAMPLE_H
#define TG_RENDER_RESAMPLE_H

#include "render/axis.h"
#include "render/chart.h"

/* True for a bucket that holds values (all finite) over a sensible time. */
bool tg_bucket_is_value(const struct tg_bucket *b);

/*
 * Fill out[0..n) for the slots between the ascending edge[0..n]. The buckets are ascending in time
 * and do not overlap. O(n + buckets).
 */
void tg_resample(const struct tg_series *s, const double *edge, size_t n, struct tg_bucket *out);

/*
 * What is said of a series whose highest value is `max`: "max 31.7", or, in a panel where means
 * alone are known, "mean 12" of all of [0, t_end].
 */
#define TG_PEAK_SIZE (TG_NUM_SIZE + 8)
void tg_peak_label(const struct tg_panel *p, const struct tg_series *s, double max, double t_end,
	char out[TG_PEAK_SIZE]);

#endif
