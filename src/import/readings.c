/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/readings.h"

#include <math.h>

#include "base/hash.h"

#include "base/mem.h"

#define NEVER UINT32_MAX

void tg_readings_init(struct tg_readings *g, uint32_t n_columns)
{
	*g = (struct tg_readings){
		.n_columns = n_columns, .next_begin_ns = TG_UNKNOWN, .next_after_ns = TG_UNKNOWN
	};
}

void tg_readings_release(struct tg_readings *g)
{
	for (uint32_t i = 0; i < g->n_items; i++) {
		free(g->item[i].name);
		free(g->item[i].title);
		free(g->item[i].now);
		free(g->item[i].change);
	}
	free(g->item);
	free(g->tick);
	tg_map_release(&g->by_name);
	tg_readings_init(g, g->n_columns);
}

void tg_readings_tick(struct tg_readings *g, int64_t civil_ns)
{
	g->n_rows = g->n_placed = 0;
	if (g->n_ticks == TG_READINGS_TICKS_MAX || g->n_changes >= TG_READINGS_CHANGES_MAX)
		g->full = true;
	if (g->full)
		return;
	TG_GROW(g->tick, g->n_ticks + 1, g->cap_ticks);
	g->tick[g->n_ticks++] = (struct tg_log_tick){ .civil_ns = civil_ns,
		.begin_ns = g->next_begin_ns,
		.after_ns = g->next_after_ns,
		.up_min = -1 };
	g->next_begin_ns = g->next_after_ns = TG_UNKNOWN;
}

ptrdiff_t tg_readings_add(struct tg_readings *g, const char *name)
{
	struct tg_log_item *item;

	if (g->n_items == TG_READINGS_ITEMS_MAX)
		return -1;
	TG_GROW(g->item, g->n_items + 1, g->cap_items);
	item = &g->item[g->n_items];
	*item = (struct tg_log_item){ .name = tg_xmemdup0(name, strnlen(name, TG_ITEM_NAME_MAX)),
		.first = NEVER,
		.last = NEVER };
	return (ptrdiff_t)g->n_items++;
}

ptrdiff_t tg_readings_item(struct tg_readings *g, const char *name)
{
	uint64_t key = tg_hash(TG_HASH_INIT, name, strnlen(name, TG_ITEM_NAME_MAX));
	ptrdiff_t at = tg_map_get(&g->by_name, key);

	if (at < 0 && (at = tg_readings_add(g, name)) >= 0)
		tg_map_put(&g->by_name, key, (size_t)at);
	return at;
}

static void put(
	struct tg_readings *g, struct tg_log_item *item, uint32_t tick, uint32_t column, double v)
{
	if (item->n == item->cap) {
		item->cap = item->cap ? item->cap + item->cap / 2 : g->n_columns + 1;
		item->change = tg_xrealloc(item->change, item->cap, sizeof(*item->change));
	}
	item->change[item->n++] = (struct tg_change){ v, tick, column };
	g->n_changes++;
}

static bool differs(double a, double b)
{
	return a != b && !(isnan(a) && isnan(b));
}

/* It did nothing after its last row. */
static void rest(struct tg_readings *g, struct tg_log_item *item)
{
	for (uint32_t c = 0; c < g->n_columns; c++)
		if ((g->idle_columns >> c & 1) && item->now[c] > 0) {
			put(g, item, item->last + 1, c, 0);
			item->now[c] = 0;
		}
}

static void add_row(struct tg_readings *g, size_t at, const double *value, double place)
{
	struct tg_log_item *item = &g->item[at];
	uint32_t tick = g->n_ticks - 1, n = g->n_columns;

	if (!g->n_ticks || g->full || item->last == tick)
		return;
	g->n_rows++;
	if (!item->now) {
		item->now = tg_xmalloc((n + 1) * sizeof(*item->now));
		for (uint32_t c = 0; c <= n; c++)
			item->now[c] = NAN;
		item->first = tick;
	} else if (item->last + 1 < tick && g->idle_columns) {
		rest(g, item);
	} else if (item->last + 1 < tick) {
		put(g, item, item->last + 1, n, NAN);
		item->now[n] = NAN;
	}
	for (uint32_t c = 0; c < n; c++)
		if (differs(item->now[c], value[c])) {
			put(g, item, tick, c, value[c]);
			item->now[c] = value[c];
		}
	if (differs(item->now[n], place)) {
		put(g, item, tick, n, place);
		item->now[n] = place;
	}
	item->last = tick;
}

void tg_readings_row(struct tg_readings *g, size_t item, const double *value)
{
	uint32_t before = g->n_rows;

	add_row(g, item, value, g->n_placed);
	g->n_placed += g->n_rows != before;
	g->item[item].placed = true;
}

void tg_readings_row_aside(struct tg_readings *g, size_t item, const double *value)
{
	add_row(g, item, value, TG_ASIDE);
}

bool tg_readings_again(struct tg_readings *g, size_t at)
{
	struct tg_log_item *item = &g->item[at];
	uint32_t tick = g->n_ticks - 1, n = g->n_columns;

	if (g->full || !item->now || item->last + 1 != tick)
		return false;
	if (item->now[n] != TG_ASIDE) {
		if (item->now[n] != g->n_placed)
			put(g, item, tick, n, g->n_placed);
		item->now[n] = g->n_placed++;
	}
	g->n_rows++;
	item->last = tick;
	return true;
}

static void drop_row(struct tg_readings *g, struct tg_log_item *item, uint32_t tick)
{
	while (item->n && item->change[item->n - 1].tick == tick) {
		item->n--;
		g->n_changes--;
	}
	item->last = tick ? tick - 1 : NEVER;
	if (item->first == tick)
		item->first = item->last = NEVER;
	if (item->n && item->change[item->n - 1].column == g->n_columns &&
		isnan(item->change[item->n - 1].value)) {
		item->last = item->change[--item->n].tick - 1;
		g->n_changes--;
	}
	free(item->now); /* no row may follow */
	item->now = NULL;
}

void tg_readings_drop(struct tg_readings *g)
{
	uint32_t tick = g->n_ticks - 1;

	if (!g->n_ticks)
		return;
	for (uint32_t i = 0; i < g->n_items; i++)
		if (g->item[i].last == tick)
			drop_row(g, &g->item[i], tick);
	g->n_ticks--;
}
