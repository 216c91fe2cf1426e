/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving averages by time, not by number of samples: what is seen does not depend on how evenly
 * samples were taken. Gaps stay gaps.
 */
#ifndef TG_ANALYZE_SMOOTH_H
#define TG_ANALYZE_SMOOTH_H

#include "analyze/series.h"

/*
 * Put into each bin, which has its times, the mean over `window_ns` around its middle, weighted by
 * time, in the unit that tg_bins_from gives. It is unknown (NaN) where the middle is in a gap, or
 * less than half of the window is known, as far as it lies between the first and the last point.
 */
void tg_smooth(const struct tg_points *p, int64_t window_ns, struct tg_bin *bin, size_t n);

#endif
