/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a saved Vega-Lite chart: all series on one grid of at most TG_VEGA_SLOTS slots, so
 * that one row has all that a cross-hair shows. Gaps narrower than a slot get slots of their own.
 */
#ifndef TG_RENDER_VEGA_DATA_H
#define TG_RENDER_VEGA_DATA_H

#include <stdbool.h>

#include "render/layout.h"

#define TG_VEGA_SLOTS 150

struct tg_vega_data {
	size_t n_slots;
	double edge[TG_VEGA_SLOTS + 1];
	size_t n_series; /* over all panels, in order */
	struct tg_bucket *bucket; /* n_series times n_slots */
};

void tg_vega_data_init(struct tg_vega_data *d, const struct tg_layout *l);
void tg_vega_data_release(struct tg_vega_data *d);

/* The slots of series `i`. */
const struct tg_bucket *tg_vega_data_of(const struct tg_vega_data *d, size_t i);

/* True when min and max of a slot differ from its mean in four digits: it has a band to show. */
bool tg_vega_data_has_band(const struct tg_vega_data *d, size_t i);

/* True for a slot with a value between two without. */
bool tg_vega_data_is_alone(const struct tg_vega_data *d, size_t i, size_t slot);

/* Append "t,m0,a0,b0,…" and a line for each slot: mean, min and max; empty where missing. */
void tg_vega_data_csv(const struct tg_vega_data *d, struct tg_buf *out);

#endif
