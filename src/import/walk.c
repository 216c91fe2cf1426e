/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/walk.h"

#include <math.h>

#include "base/mem.h"

void tg_walk_begin(struct tg_walk *w, const struct tg_readings *g)
{
	*w = (struct tg_walk){ .grid = g, .tick = UINT32_MAX };
}

void tg_walk_begin_placed(struct tg_walk *w, const struct tg_readings *g)
{
	tg_walk_begin(w, g);
	w->placed_only = true;
}

void tg_walk_end(struct tg_walk *w)
{
	for (size_t i = 0; i < w->n_live; i++)
		free(w->row[i].value);
	free(w->row);
	*w = (struct tg_walk){ 0 };
}

/* Those that will not be seen again make room. */
static void bury(struct tg_walk *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_live; i++)
		if (w->grid->item[w->row[i].item].last >= w->tick)
			w->row[n++] = w->row[i];
		else
			free(w->row[i].value);
	w->n_live = n;
}

static void welcome(struct tg_walk *w)
{
	const struct tg_readings *g = w->grid;

	for (; w->next_item < g->n_items; w->next_item++) {
		const struct tg_log_item *item = &g->item[w->next_item];
		struct tg_walk_row row = { .item = w->next_item };

		if (item->first == UINT32_MAX || (w->placed_only && !item->placed))
			continue; /* it has no row at all, or none that is wanted */
		if (item->first > w->tick)
			return;
		row.value = tg_xmalloc((g->n_columns + 1) * sizeof(*row.value));
		for (uint32_t c = 0; c <= g->n_columns; c++)
			row.value[c] = NAN;
		TG_GROW(w->row, w->n_live + 1, w->cap);
		w->row[w->n_live++] = row;
	}
}

static void advance(const struct tg_walk *w, struct tg_walk_row *row)
{
	const struct tg_log_item *item = &w->grid->item[row->item];

	for (; row->next < item->n && item->change[row->next].tick <= w->tick; row->next++)
		row->value[item->change[row->next].column] = item->change[row->next].value;
}

static double place_of(const struct tg_walk *w, const struct tg_walk_row *row)
{
	return row->value[w->grid->n_columns];
}

/* Bring the rows whose places are in [from, to) in front of the others, behind `n`. */
static size_t gather(struct tg_walk *w, size_t n, double from, double to)
{
	for (size_t i = n; i < w->n_live; i++) {
		struct tg_walk_row row = w->row[i];

		if (!(place_of(w, &row) >= from && place_of(w, &row) < to)) /* NaN is in none */
			continue;
		w->row[i] = w->row[n];
		w->row[n++] = row;
	}
	return n;
}

/* Places are 0, 1, 2…: each row goes to its own, by the swap that brings it there. */
static void arrange(struct tg_walk *w)
{
	size_t n = gather(w, 0, 0, TG_ASIDE);

	w->n = gather(w, n, TG_ASIDE, INFINITY);
	for (size_t i = 0; i < n; i++)
		for (size_t at; (at = (size_t)place_of(w, &w->row[i])) != i && at < n;) {
			struct tg_walk_row row = w->row[at];

			if ((size_t)place_of(w, &row) == at)
				break; /* taken: cannot be, but must not turn for ever */
			w->row[at] = w->row[i];
			w->row[i] = row;
		}
}

bool tg_walk_next(struct tg_walk *w)
{
	if (w->tick + 1 >= w->grid->n_ticks) /* UINT32_MAX + 1 is 0 */
		return false;
	w->tick++;
	bury(w);
	welcome(w);
	for (size_t i = 0; i < w->n_live; i++)
		advance(w, &w->row[i]);
	arrange(w);
	return true;
}
