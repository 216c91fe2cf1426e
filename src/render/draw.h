/* SPDX-License-Identifier: BSD-3-Clause */
/* A chart onto a canvas: everything that SVG and PNG show. */
#ifndef TG_RENDER_DRAW_H
#define TG_RENDER_DRAW_H

#include "render/canvas.h"
#include "render/layout.h"

void tg_chart_draw(const struct tg_layout *l, struct tg_canvas *cv);

/* The flags, the list of cells and the box plots, parts of tg_chart_draw(). */
void tg_flags_draw(const struct tg_layout *l, struct tg_canvas *cv);
void tg_cells_draw(const struct tg_layout *l, struct tg_canvas *cv);
void tg_spread_draw(const struct tg_layout *l, struct tg_canvas *cv);

/* Append "least 1, 25 % 2, median 2.1, 75 % 3, most 4 GB (12)", or "unknown". */
void tg_quartiles_text(
	const struct tg_spread_column *column, const struct tg_quartiles *q, struct tg_buf *out);

/* A panel that is a heat map, a part of tg_chart_draw(), and how its rows are shaded. */
void tg_heat_draw(const struct tg_layout *l, struct tg_canvas *cv, size_t which);
double tg_heat_opacity(double share);

/* Opacity of a cell that used this share of the cores. */
double tg_cell_shade(double share);

/*
 * The buckets of `s` as they are drawn: the series' own where it has no more than two a pixel, else
 * one a pixel. Caller frees.
 */
struct tg_bucket *tg_series_drawn(
	const struct tg_layout *l, const struct tg_series *s, size_t *n_buckets);

#endif
