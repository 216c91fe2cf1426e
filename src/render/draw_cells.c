/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of cells onto a canvas. */
#include <math.h>

#include "render/draw.h"

#include "base/mem.h"

#define BASELINE 15.5 /* of a text, below the top of its line */

/* Pale to full: the share of the cores. An outline keeps the pale ones visible. */
static void draw_span(
	const struct tg_layout *l, struct tg_canvas *cv, const struct tg_cell *cell, double y)
{
	const struct tg_cells_box *b = &l->cells;
	double scale = (b->time1 - b->time0) / l->t_end;
	double x0 = b->time0 + scale * fmin(fmax(cell->t0, 0), l->t_end);
	double x1 = b->time0 + scale * fmin(fmax(cell->t1, 0), l->t_end), w = fmax(x1 - x0, 2);
	bool known = isfinite(cell->cores);
	struct tg_pen pen = { .ink = known ? TG_INK_HUE + TG_HUE_CPU : TG_INK_HUE + TG_HUE_OTHER,
		.opacity = known ? tg_cell_shade(cell->cores / b->full[0]) : 0.2,
		.role = "cell" };
	struct tg_label at = { .y = y + BASELINE, .size = TG_SIZE_SMALL, .ink = TG_INK_MUTED };
	char text[TG_NUM_SIZE];
	double width;

	if (w <= 4) /* too narrow for an outline */
		pen.opacity = 1;
	cv->rect(cv, x0, y + 4, w, TG_CELL_BAR, w > 6 ? 2 : 0, &pen, cell->label);
	if (w > 4) {
		pen.opacity = 1;
		pen.width = 1;
		pen.role = NULL;
		if (cell->failed)
			pen.ink = TG_INK_FAILED;
		cv->rect(cv, x0 + 0.5, y + 4.5, w - 1, TG_CELL_BAR - 1, 2, &pen, NULL);
	}
	tg_num_seconds(cell->t1 - cell->t0, text);
	width = tg_font_width(l->font, text, at.size, false);
	at.x = x0 + w + 5;
	if (at.x + width > b->time1 && x0 - 5 - width > b->time0) {
		at.x = x0 - 5;
		at.anchor = TG_ANCHOR_END;
	}
	if (at.anchor == TG_ANCHOR_END || at.x + width <= b->time1 + 16)
		cv->text(cv, &at, text);
}

static void draw_bar(const struct tg_layout *l, struct tg_canvas *cv, const struct tg_cell *cell,
	int k, double y)
{
	const struct tg_cells_box *b = &l->cells;
	double v = tg_cell_value(cell, k), room = b->bar1[k] - b->bar0[k];
	struct tg_pen track = { .ink = TG_INK_GRID, .opacity = 0.12 };
	struct tg_pen pen = {
		.ink = TG_INK_HUE + (k ? TG_HUE_MEMORY : TG_HUE_CPU), .opacity = 1, .role = "bar"
	};
	struct tg_label at = {
		.x = b->bar1[k] + 6, .y = y + BASELINE, .size = TG_SIZE_SMALL, .ink = TG_INK_TEXT
	};
	char text[TG_NUM_SIZE];

	if (room > 0)
		cv->rect(cv, b->bar0[k], y + 5, room, TG_CELL_BAR - 2, 2, &track, NULL);
	if (!isfinite(v))
		return;
	if (room > 0 && v > 0)
		cv->rect(cv, b->bar0[k], y + 5, fmax(room * fmin(v / b->full[k], 1), 1),
			TG_CELL_BAR - 2, 2, &pen, NULL);
	tg_num_short(v, text);
	cv->text(cv, &at, text);
}

static void draw_frame(const struct tg_layout *l, struct tg_canvas *cv)
{
	const struct tg_cells_box *b = &l->cells;
	double bottom = b->axis_y - 14;
	struct tg_label at = { .x = b->time0,
		.y = b->title_y,
		.size = TG_SIZE_TEXT,
		.ink = TG_INK_TEXT,
		.bold = true };
	struct tg_pen pen = { .ink = TG_INK_GRID, .opacity = 0.18 };
	char text[TG_NUM_SIZE];

	tg_canvas_fit(cv, l->font, &at, "time, coloured by CPU", b->time1 - b->time0);
	for (int k = 0; k < 2; k++) {
		double end = k ? l->width : b->bar0[1] - 4;

		at.x = b->bar0[k];
		tg_canvas_fit(cv, l->font, &at, b->title[k], end - at.x);
	}
	at = (struct tg_label){ .y = b->axis_y,
		.size = TG_SIZE_SMALL,
		.ink = TG_INK_MUTED,
		.anchor = TG_ANCHOR_MIDDLE };
	for (size_t i = 0; i < b->ticks.n; i++) {
		at.x = b->time0 + (b->time1 - b->time0) * (double)i * b->ticks.step / l->t_end;
		cv->rect(cv, floor(at.x), b->top, 1, bottom - b->top, 0, &pen, NULL);
		tg_tick_label(&b->ticks, i, text);
		cv->text(cv, &at, text);
	}
	at.x = b->left;
	at.y += 17;
	at.anchor = TG_ANCHOR_START;
	tg_canvas_fit(cv, l->font, &at, b->more, l->width - 2 * b->left);
}

double tg_cell_shade(double share)
{
	return 0.15 + 0.85 * fmin(fmax(share, 0), 1);
}

void tg_cells_draw(const struct tg_layout *l, struct tg_canvas *cv)
{
	const struct tg_cells_box *b = &l->cells;

	cv->begin(cv, "cells", NULL);
	draw_frame(l, cv);
	for (size_t i = 0; i < b->n_shown; i++) {
		const struct tg_cell *cell = &l->chart->cell[b->shown[i]];
		double y = b->top + TG_CELL_HEIGHT * (double)i;
		struct tg_label at = {
			.x = b->left, .y = y + BASELINE, .size = TG_SIZE_TEXT, .ink = TG_INK_TEXT
		};

		if (cell->failed) {
			struct tg_label mark = at;

			mark.ink = TG_INK_FAILED;
			mark.bold = true;
			at.x += tg_canvas_fit(cv, l->font, &mark, "✗", 20) + 3;
		}
		tg_canvas_fit(cv, l->font, &at, cell->label, b->time0 - 8 - at.x);
		draw_span(l, cv, cell, y);
		for (int k = 0; k < 2; k++)
			draw_bar(l, cv, cell, k, y);
	}
	cv->end(cv);
}
