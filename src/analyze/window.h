/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counter seen over one stretch of time and nothing beside it, so that whatever is said of a span
 * agrees: the mean of its rates is its total over its time, and its maximum is no neighbour's.
 */
#ifndef TG_ANALYZE_WINDOW_H
#define TG_ANALYZE_WINDOW_H

#include "analyze/series.h"

/*
 * Cut the points of a counter, as tg_series_load gives them, to [from_ns, to_ns] (UTC): at each
 * edge stands the row that was taken there, else the line between its neighbours, or nothing where
 * that is not known. With fewer than two samples between the edges (and TG_RATE_MIN_NS from them,
 * as late rows at edges are not) only these stay: then there is one rate, the mean, and no maximum
 * other than it. Returns whether that is so. Points of a gauge are left as they are.
 */
bool tg_points_window(struct tg_points *p, int64_t from_ns, int64_t to_ns);

/*
 * The mean of a gauge over [from_ns, to_ns], weighted by time: the line through its points, without
 * the time in which nothing is known; lone points have a mean without weights. NaN: there is none.
 * This is the mean that is printed; bins of a picture are for drawing.
 */
double tg_points_mean(const struct tg_points *p, int64_t from_ns, int64_t to_ns);

#endif
