/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/groups.h"

#include "base/metric.h"
#include "record/format.h"

#include "base/mem.h"

void tg_groups_init(struct tg_groups *g, uint32_t n_columns)
{
	*g = (struct tg_groups){ .n_columns = n_columns };
	g->open_stats = tg_xcalloc((size_t)n_columns + 1, sizeof(*g->open_stats));
}

void tg_groups_release(struct tg_groups *g)
{
	free(g->open_stats);
	free(g->span);
	free(g->stats);
	*g = (struct tg_groups){ 0 };
}

static void add_values(struct tg_group_stats *s, const int64_t *v, uint32_t n)
{
	int64_t low = v[0], high = v[0], min = INT64_MAX, max = INT64_MIN;
	uint32_t before = s->count;

	/* Missing is the least number there is, so the common case needs no look at each value. */
	for (uint32_t i = 1; i < n; i++) {
		low = TG_MIN(low, v[i]);
		high = TG_MAX(high, v[i]);
	}
	if (low != TG_MISSING) {
		if (!before)
			s->first = v[0];
		s->last = v[n - 1];
		s->count += n;
		min = low;
		max = high;
	}
	for (uint32_t i = 0; low == TG_MISSING && i < n; i++) {
		if (v[i] == TG_MISSING)
			continue;
		if (!s->count++)
			s->first = v[i];
		s->last = v[i];
		min = TG_MIN(min, v[i]);
		max = TG_MAX(max, v[i]);
	}
	s->min = before ? TG_MIN(s->min, min) : min;
	s->max = before ? TG_MAX(s->max, max) : max;
}

void tg_groups_add(struct tg_groups *g, const struct tg_block *b, uint32_t from, uint32_t n,
	uint64_t begin, uint64_t end)
{
	if (!g->open.rows) {
		g->open.first_ns = b->t_ns[from];
		g->open_begin = begin;
		memset(g->open_stats, 0, g->n_columns * sizeof(*g->open_stats));
	}
	for (uint32_t c = 0; c < g->n_columns; c++)
		add_values(&g->open_stats[c], b->values + (size_t)c * b->cap + from, n);
	g->open.rows += n;
	g->open.last_ns = b->t_ns[from + n - 1];
	g->open_end = end;
	if (g->open.rows >= TG_GROUP_ROWS)
		tg_groups_close(g);
}

void tg_groups_close(struct tg_groups *g)
{
	if (!g->open.rows)
		return;
	if (!g->n)
		g->begin = g->open_begin;
	g->end = g->open_end;
	TG_GROW(g->span, g->n + 1, g->cap_span);
	TG_GROW(g->stats, (g->n + 1) * g->n_columns, g->cap_stats);
	g->span[g->n] = g->open;
	memcpy(g->stats + g->n * g->n_columns, g->open_stats, g->n_columns * sizeof(*g->stats));
	g->n++;
	g->open.rows = 0;
}

void tg_groups_clear(struct tg_groups *g)
{
	g->n = 0;
}
