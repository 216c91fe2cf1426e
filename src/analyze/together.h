/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several spans cost together, for the words and the table of a chart. Time that more than one
 * of them covers counts once, time that none covers does not count, whatever happened in it.
 */
#ifndef TG_ANALYZE_TOGETHER_H
#define TG_ANALYZE_TOGETHER_H

#include "analyze/totals.h"

enum tg_traffic { TG_TRAFFIC_READ, TG_TRAFFIC_WRITE, TG_TRAFFIC_RX, TG_TRAFFIC_TX, TG_TRAFFICS };

struct tg_together {
	/* wall_s is the covered time; limits are those of the last span */
	struct tg_totals totals;
	double rss_mean_bytes; /* over time; NaN: unknown, as below */
	double rate_max[TG_TRAFFICS]; /* bytes a second; NaN also where there is a mean only */
	int64_t from_ns, to_ns; /* UTC: from the first to the last */
};

/* `n` is at least 1; any order. 0 or -errno of reading. */
int tg_together_of(struct tg_recording *r, const struct tg_span *const *span, size_t n,
	struct tg_together *out);

#endif
