/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From spans of a recording to a chart: panels, bands, list of cells, headline and table. How it is
 * drawn is render's business.
 */
#ifndef TG_REPORT_PICTURE_H
#define TG_REPORT_PICTURE_H

#include "analyze/recording.h"
#include "base/err.h"
#include "render/chart.h"

#define TG_PICTURE_BUCKETS       700 /* of a series, in files */
#define TG_PICTURE_BUCKETS_SAVED 150 /* in a notebook, which is saved with them */

struct tg_picture {
	struct tg_recording *recording;
	const struct tg_span *const *span; /* in file order, at least one */
	size_t n_spans;
	const char *panels; /* "cpu,memory"; NULL: those that have something to show */
	bool node; /* the whole machine beside the job */
	size_t buckets;
	double smooth_s; /* window of moving averages in seconds; 0: none */
};

/*
 * Fill *chart, which the caller frees in any case. 0; -EINVAL with a sentence for a panel that does
 * not exist, -ENOENT when there is nothing to draw, -errno of reading.
 */
int tg_picture_draw(const struct tg_picture *p, struct tg_chart *chart, struct tg_err *err);

#endif
