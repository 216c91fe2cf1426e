/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series on fewer buckets. Extremes are kept: a slot's min and max are those of all buckets that
 * touch it, its mean is weighted by time. A slot that no bucket with values touches is a gap.
 */
#ifndef TG_RENDER_RESAMPLE_H
#define TG_RENDER_RESAMPLE_H

#include "render/chart.h"

/* True for a bucket that holds values (all finite) over a sensible time. */
bool tg_bucket_is_value(const struct tg_bucket *b);

/*
 * Fill out[0..n) for the slots between the ascending edge[0..n]. The buckets are ascending in time
 * and do not overlap. O(n + buckets).
 */
void tg_resample(const struct tg_series *s, const double *edge, size_t n, struct tg_bucket *out);

#endif
