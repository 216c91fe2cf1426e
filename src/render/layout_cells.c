/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the list of cells goes. */
#include <math.h>

#include "render/layout.h"

#include "base/mem.h"

#define PAD        12
#define LABEL_MOST 0.26 /* of the width */
#define BAR_SHARE  0.13
#define NUMBER     46 /* pixels for "27.5k" behind a bar */
#define GAP        22 /* between columns */
#define NARROW     560 /* no bars, only their numbers */

struct length {
	size_t i;
	double s;
};

static int by_length(const void *a, const void *b)
{
	const struct length *p = a, *q = b;

	return p->s < q->s ? 1 : p->s > q->s ? -1 : (p->i > q->i) - (p->i < q->i);
}

static int by_index(const void *a, const void *b)
{
	size_t p = *(const size_t *)a, q = *(const size_t *)b;

	return (p > q) - (p < q);
}

double tg_cell_value(const struct tg_cell *cell, int bar)
{
	return bar ? cell->memory : cell->cores;
}

size_t tg_cells_choose(const struct tg_chart *c, size_t shown[TG_CELLS_SHOWN], char **more)
{
	size_t n = TG_MIN(c->n_cells, (size_t)TG_CELLS_SHOWN);
	struct length *list = tg_xcalloc(c->n_cells, sizeof(*list));
	double rest = 0;

	for (size_t i = 0; i < c->n_cells; i++) {
		double s = c->cell[i].t1 - c->cell[i].t0;

		list[i] = (struct length){ i, c->cell[i].failed ? INFINITY : s > 0 ? s : 0 };
	}
	qsort(list, c->n_cells, sizeof(*list), by_length);
	for (size_t i = 0; i < c->n_cells; i++) {
		if (i < n)
			shown[i] = list[i].i;
		else if (isfinite(list[i].s))
			rest += list[i].s;
	}
	qsort(shown, n, sizeof(*shown), by_index);
	*more = NULL;
	if (c->n_cells > n) {
		struct tg_buf text = TG_BUF_INIT;
		char s[TG_NUM_SIZE];

		tg_num_seconds(rest, s);
		tg_buf_addf(&text, "and %zu shorter ones, %s together", c->n_cells - n, s);
		*more = tg_buf_detach(&text);
	}
	free(list);
	return n;
}

static char *bar_title(const char *what, const char *unit, double full)
{
	struct tg_buf text = TG_BUF_INIT;
	char number[TG_NUM_SIZE];

	tg_buf_adds(&text, what);
	if (unit && *unit)
		tg_buf_addf(&text, " · %.20s", unit);
	tg_num_short(full, number);
	tg_buf_addf(&text, " of %s", number);
	return tg_buf_detach(&text);
}

double tg_layout_cells(struct tg_layout *l, double y)
{
	const struct tg_chart *c = l->chart;
	struct tg_cells_box *b = &l->cells;
	double inner = l->width - 2 * PAD, label = 40, x;
	double bar = l->width < NARROW ? 0 : floor(inner * BAR_SHARE);

	b->n_shown = tg_cells_choose(c, b->shown, &b->more);
	for (size_t i = 0; i < b->n_shown; i++)
		if (c->cell[b->shown[i]].label && label < inner)
			label = fmax(label, tg_font_width(l->font, c->cell[b->shown[i]].label,
						    TG_SIZE_TEXT, false));
	b->left = PAD;
	b->time0 = ceil(PAD + fmin(label, inner * LABEL_MOST) + 20);
	x = l->width - PAD;
	for (int k = 1; k >= 0; k--) {
		b->full[k] = k ? c->memory_full : c->cores_full;
		for (size_t i = 0; i < c->n_cells && !(b->full[k] > 0 && i == 0); i++) {
			double v = tg_cell_value(&c->cell[i], k);

			b->full[k] = isfinite(v) ? fmax(b->full[k], v) : b->full[k];
		}
		if (!(b->full[k] > 0))
			b->full[k] = 1;
		b->title[k] =
			bar_title(k ? "peak" : "CPU", k ? c->memory_unit : "cores", b->full[k]);
		b->bar1[k] = x - NUMBER;
		b->bar0[k] = b->bar1[k] - bar;
		x = b->bar0[k] - GAP;
	}
	b->time1 = x;
	tg_ticks_time(&b->ticks, l->t_end, (size_t)fmax(2, (b->time1 - b->time0) / 76 + 1));
	b->title_y = y + 24;
	b->top = y + 34;
	y = b->top + TG_CELL_HEIGHT * (double)b->n_shown;
	b->axis_y = y + 14;
	return b->axis_y + (b->more ? 25 : 8);
}

void tg_layout_cells_release(struct tg_cells_box *b)
{
	free(b->title[0]);
	free(b->title[1]);
	free(b->more);
}
