/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells and stages in lanes, as many as can be seen. */
#include <math.h>

#include "render/layout.h"

#include "base/mem.h"

#define BANDS_MOST 300 /* where there are more, what is drawn becomes coarser */

/* Bands that overlap in time go below each other. Caller frees. */
static unsigned char *lanes_of(const struct tg_chart *c, double t_end, size_t *n_lanes)
{
	unsigned char *lane = tg_xcalloc(c->n_bands, 1);
	double end[TG_LANES] = { 0 };

	for (size_t i = 0; i < c->n_bands; i++) {
		size_t k = 0;

		while (k < *n_lanes && c->band[i].t0 < end[k] - 1e-9 * t_end)
			k++;
		if (k == TG_LANES)
			k--;
		lane[i] = (unsigned char)k;
		end[k] = k < *n_lanes ? fmax(end[k], c->band[i].t1) : c->band[i].t1;
		*n_lanes = TG_MAX(*n_lanes, k + 1);
	}
	return lane;
}

static void name_boxes(struct tg_layout *l)
{
	for (size_t i = 0; i < l->n_bands; i++) {
		struct tg_band_box *b = &l->band[i];
		struct tg_buf text = TG_BUF_INIT;

		if (b->n == 1)
			continue;
		l->n_merged += b->narrow ? b->n : b->n - 1;
		if (!b->narrow)
			continue;
		tg_buf_addf(&text, "%zu short ones", b->n);
		free(b->label);
		b->label = tg_buf_detach(&text);
	}
}

void tg_layout_bands(struct tg_layout *l)
{
	const struct tg_chart *c = l->chart;
	unsigned char *lane = lanes_of(c, l->t_end, &l->n_lanes);
	double least = 1, width = l->right - l->left;
	struct tg_band_box *last[2][TG_LANES] = { { NULL } };
	size_t count[TG_LANES] = { 0 };

	if (c->n_bands > BANDS_MOST)
		least = fmax(1, width * (double)l->n_lanes / BANDS_MOST);
	l->band = tg_xcalloc(c->n_bands, sizeof(*l->band));
	for (size_t i = 0; i < c->n_bands; i++) {
		const struct tg_band *b = &c->band[i];
		double x0 = tg_layout_x(l, b->t0), x1 = tg_layout_x(l, b->t1);
		struct tg_band_box **box = &last[b->failed][lane[i]];

		if (!(b->t1 >= b->t0))
			continue;
		if (*box && x1 < tg_layout_x(l, (*box)->t1) + least) {
			(*box)->n++;
			if ((*box)->narrow)
				(*box)->t1 = fmax((*box)->t1, b->t1);
			continue;
		}
		*box = &l->band[l->n_bands++];
		**box = (struct tg_band_box){ b->t0, b->t1, b->label ? tg_xstrdup(b->label) : NULL,
			1, lane[i], b->failed, x1 - x0 < least, count[lane[i]]++ & 1 };
	}
	free(lane);
	name_boxes(l);
}

void tg_layout_bands_release(struct tg_layout *l)
{
	for (size_t i = 0; i < l->n_bands; i++)
		free(l->band[i].label);
	free(l->band);
}
