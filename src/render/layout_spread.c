/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the box plots go. */
#include <math.h>

#include "render/layout.h"

#include "base/mem.h"

#define PAD        12
#define LABEL_MOST 0.26 /* of the width */
#define GAP        26 /* between columns: half a label on either side */
#define TICK_TIME  64 /* least distance of the labels */
#define TICK_VALUE 46

static double top_of(const struct tg_spread_column *column, size_t n)
{
	double full = column->mark;

	for (size_t i = 0; i < n; i++)
		if (column->of[i].n && isfinite(column->of[i].max))
			full = fmax(full, column->of[i].max);
	return full > 0 ? full : 1;
}

double tg_layout_spread(struct tg_layout *l, double y)
{
	const struct tg_chart *c = l->chart;
	struct tg_spread_box *b = &l->spread;
	double inner = l->width - 2 * PAD, label = 40, width, x;

	b->n_columns = TG_MIN(c->n_columns, (size_t)TG_SPREAD_COLUMNS);
	for (size_t i = 0; i < c->n_names; i++)
		label = fmax(label, tg_font_width(l->font, c->name[i], TG_SIZE_TEXT, false));
	b->left = PAD;
	b->label_room = ceil(fmin(label, inner * LABEL_MOST));
	x = b->left + b->label_room + GAP;
	width = fmax(1, (l->width - PAD - x) / (double)b->n_columns - GAP);
	for (size_t k = 0; k < b->n_columns; k++) {
		double apart = c->column[k].unit ? TICK_VALUE : TICK_TIME;
		size_t most = (size_t)fmax(2, width / apart + 1);

		b->x0[k] = x + (width + GAP) * (double)k;
		b->x1[k] = b->x0[k] + width;
		b->full[k] = top_of(&c->column[k], c->n_names);
		if (c->column[k].unit)
			tg_ticks_value(&b->ticks[k], b->full[k], most);
		else
			tg_ticks_time(&b->ticks[k], b->full[k], most);
	}
	b->title_y = y + 24;
	b->top = y + 34;
	b->bottom = b->top + TG_SPREAD_HEIGHT * (double)c->n_names;
	b->axis_y = b->bottom + 16;
	return b->axis_y + 8;
}
