/* SPDX-License-Identifier: BSD-3-Clause */
/* What was going on, over the panels of a chart: cells and stages as bands, marks as flags. */
#ifndef TG_REPORT_BANDS_H
#define TG_REPORT_BANDS_H

#include "analyze/recording.h"
#include "render/chart.h"

/* A band for each of the spans that is a cell or a stage. The chart begins at `from_ns` (UTC). */
void tg_bands_add(struct tg_chart *c, const struct tg_span *const *span, size_t n, int64_t from_ns);

/*
 * A flag for each mark from `from_ns`, where the chart begins, to `to_ns`, the first TG_MARKS_TOLD
 * of them. Returns how many are left out.
 */
size_t tg_flags_add(
	struct tg_chart *c, const struct tg_recording *r, int64_t from_ns, int64_t to_ns);

#endif
