/* SPDX-License-Identifier: BSD-3-Clause */
/* Box plots onto a canvas: from least to most, the middle half as a box, the median across it. */
#include <math.h>

#include "render/draw.h"

#include "base/mem.h"

#define UNIT_CHARS 20
#define BASELINE   15.5 /* of a text, below the top of its line */
#define BOX        12 /* height */
#define BOX_LEAST  3 /* width of a box whose ends are one */

static double x_of(const struct tg_spread_box *b, size_t k, double v)
{
	return b->x0[k] + (b->x1[k] - b->x0[k]) * fmin(fmax(v / b->full[k], 0), 1);
}

static void put_value(const struct tg_spread_column *column, double v, struct tg_buf *out)
{
	char text[TG_NUM_SIZE];

	if (column->unit)
		tg_num_short(v, text);
	else
		tg_num_seconds(v, text);
	tg_buf_adds(out, text);
}

void tg_quartiles_text(
	const struct tg_spread_column *column, const struct tg_quartiles *q, struct tg_buf *out)
{
	const double value[] = { q->min, q->q25, q->q50, q->q75, q->max };
	static const char *const before[] = { "least ", ", 25 % ", ", median ", ", 75 % ",
		", most " };

	if (!q->n) {
		tg_buf_adds(out, "unknown");
		return;
	}
	for (size_t i = 0; i < TG_ARRAY_SIZE(value); i++) {
		tg_buf_adds(out, before[i]);
		put_value(column, value[i], out);
	}
	if (column->unit) {
		tg_buf_addc(out, ' ');
		tg_text_clean(column->unit, UNIT_CHARS, out);
	}
	tg_buf_addf(out, " (%zu)", q->n);
}

static void draw_box(const struct tg_layout *l, struct tg_canvas *cv, size_t k, size_t i)
{
	const struct tg_spread_box *b = &l->spread;
	const struct tg_spread_column *column = &l->chart->column[k];
	const struct tg_quartiles *q = &column->of[i];
	double y = b->top + TG_SPREAD_HEIGHT * (double)i + (TG_SPREAD_HEIGHT - BOX) / 2.0;
	double from = x_of(b, k, q->q25), width = fmax(x_of(b, k, q->q75) - from, BOX_LEAST);
	struct tg_pen pen = { .ink = TG_INK_HUE + column->hue, .opacity = 1, .role = "whisker" };
	struct tg_buf tip = TG_BUF_INIT;

	if (!q->n)
		return;
	tg_buf_addf(&tip, "%s · ", l->chart->name[i]);
	tg_quartiles_text(column, q, &tip);
	cv->rect(cv, x_of(b, k, q->min), y + BOX / 2.0 - 0.5,
		fmax(x_of(b, k, q->max) - x_of(b, k, q->min), 1), 1, 0, &pen, NULL);
	for (int end = 0; end < 2; end++)
		cv->rect(cv, x_of(b, k, end ? q->max : q->min) - 0.5, y + 3, 1, BOX - 6, 0, &pen,
			NULL);
	pen.role = "box";
	pen.opacity = 0.35;
	cv->rect(cv, from, y, width, BOX, 2, &pen, tip.data);
	pen.role = "median";
	pen.opacity = 1;
	cv->rect(cv, x_of(b, k, q->q50) - 1, y, 2, BOX, 0, &pen, NULL);
	tg_buf_release(&tip);
}

static void draw_scale(const struct tg_layout *l, struct tg_canvas *cv, size_t k)
{
	const struct tg_spread_box *b = &l->spread;
	const struct tg_spread_column *column = &l->chart->column[k];
	struct tg_pen grid = { .ink = TG_INK_GRID, .opacity = 0.18 };
	struct tg_pen mark = { .ink = TG_INK_TEXT, .opacity = 0.6, .role = "mark" };
	struct tg_label at = { .x = b->x0[k],
		.y = b->title_y,
		.size = TG_SIZE_TEXT,
		.ink = TG_INK_TEXT,
		.bold = true };
	struct tg_buf title = TG_BUF_INIT;
	char text[TG_NUM_SIZE];

	tg_buf_adds(&title, column->title);
	if (column->unit) {
		tg_buf_adds(&title, " · ");
		tg_text_clean(column->unit, UNIT_CHARS, &title);
	}
	tg_canvas_fit(cv, l->font, &at, title.data, b->x1[k] - b->x0[k] + 16);
	tg_buf_release(&title);
	at = (struct tg_label){ .y = b->axis_y,
		.size = TG_SIZE_SMALL,
		.ink = TG_INK_MUTED,
		.anchor = TG_ANCHOR_MIDDLE };
	for (size_t i = 0; i < b->ticks[k].n; i++) {
		at.x = x_of(b, k, (double)i * b->ticks[k].step);
		cv->rect(cv, floor(at.x), b->top, 1, b->bottom - b->top, 0, &grid, NULL);
		tg_tick_label(&b->ticks[k], i, text);
		cv->text(cv, &at, text);
	}
	if (column->mark > 0)
		cv->rect(cv, floor(x_of(b, k, column->mark)), b->top, 1, b->bottom - b->top, 0,
			&mark, NULL);
}

void tg_spread_draw(const struct tg_layout *l, struct tg_canvas *cv)
{
	const struct tg_spread_box *b = &l->spread;

	cv->begin(cv, "spread", NULL);
	for (size_t k = 0; k < b->n_columns; k++)
		draw_scale(l, cv, k);
	for (size_t i = 0; i < l->chart->n_names; i++) {
		struct tg_label at = { .x = b->left,
			.y = b->top + TG_SPREAD_HEIGHT * (double)i + BASELINE,
			.size = TG_SIZE_TEXT,
			.ink = TG_INK_TEXT };

		tg_canvas_fit(cv, l->font, &at, l->chart->name[i], b->label_room);
		for (size_t k = 0; k < b->n_columns; k++)
			draw_box(l, cv, k, i);
	}
	cv->end(cv);
}
