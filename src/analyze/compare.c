/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NAME_MAX_CHARS 4096

/* Less is the grain of the figures, or of no interest: a page of the cache, a tick of a clock. */
static const double tiny[TG_COSTS] = {
	[TG_COST_WALL] = 0.01,
	[TG_COST_CPU] = 0.01,
	[TG_COST_MEMORY] = 1e6,
	[TG_COST_READ] = 1e6,
	[TG_COST_WRITTEN] = 1e6,
	[TG_COST_GPU] = 1,
};

void tg_compare_init(struct tg_compare *c, size_t n_sides)
{
	*c = (struct tg_compare){ .n_sides = n_sides };
	c->files = tg_xcalloc(n_sides, sizeof(*c->files));
}

void tg_compare_release(struct tg_compare *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->span[i].kind);
		free(c->span[i].name);
		free(c->span[i].alike);
	}
	free(c->span);
	free(c->row);
	free(c->files);
	*c = (struct tg_compare){ 0 };
}

void tg_compare_file(struct tg_compare *c, size_t side)
{
	c->files[side]++;
	c->n_files++;
}

/* The files come side by side. */
static size_t side_now(const struct tg_compare *c)
{
	size_t side = c->n_sides;

	while (side > 1 && !c->files[side - 1])
		side--;
	return side - 1;
}

void tg_compare_add(
	struct tg_compare *c, const struct tg_span *span, const struct tg_totals *t, bool whole)
{
	const char *alike = span->attrs ? span->attrs : span->code ? span->code : "";
	struct tg_buf name = TG_BUF_INIT;

	if (!whole)
		tg_span_title(&name, span, NAME_MAX_CHARS);
	TG_GROW(c->span, c->n + 1, c->cap);
	c->span[c->n] = (struct tg_compared){
		.side = side_now(c),
		.file = c->n_files,
		.order = c->n,
		.kind = tg_xstrdup(whole ? "run" : span->kind),
		.name = tg_xstrdup(name.data),
		.alike = tg_xstrdup(alike),
		.index = whole ? TG_NO_NUMBER : span->index,
		.whole = whole,
		.exact = t->exact,
		.cost = { [TG_COST_WALL] = t->wall_s,
			[TG_COST_CPU] = t->cpu_s,
			[TG_COST_MEMORY] = t->mem_peak_bytes,
			[TG_COST_READ] = t->read_bytes,
			[TG_COST_WRITTEN] = t->write_bytes,
			[TG_COST_GPU] = t->gpu_util_mean_pct },
		.rss_bytes = t->rss_peak_bytes,
		.memory_is = t->mem_peak_is,
	};
	c->n++;
	tg_buf_release(&name);
}

/* ---- matching ---- */

static int compare(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

/* The same name; without one, the same number of its kind. */
static int by_name(const struct tg_compared *x, const struct tg_compared *y)
{
	int rc = (int)y->whole - (int)x->whole;

	if (!rc)
		rc = strcmp(x->kind, y->kind);
	if (!rc)
		rc = strcmp(x->name, y->name);
	if (!rc && !*x->name)
		rc = (x->index > y->index) - (x->index < y->index);
	return rc;
}

static int by_name_and_order(const void *a, const void *b)
{
	const struct tg_compared *x = a, *y = b;
	int rc = by_name(x, y);

	return rc ? rc : compare(x->order, y->order);
}

static int by_name_and_nth(const void *a, const void *b)
{
	const struct tg_compared *x = a, *y = b;
	int rc = by_name(x, y);

	if (!rc)
		rc = compare(x->nth, y->nth);
	return rc ? rc : compare(x->order, y->order);
}

static int by_row(const void *a, const void *b)
{
	const struct tg_compared *x = a, *y = b;
	int rc = compare(x->row, y->row);

	return rc ? rc : compare(x->order, y->order);
}

static int by_order(const void *a, const void *b)
{
	const struct tg_compare_row *x = a, *y = b;
	int rc = (int)y->whole - (int)x->whole;

	return rc ? rc : compare(x->order, y->order);
}

/* Number the n spans of one name within their files, unless they are repeats. */
static void number(struct tg_compared *span, size_t n, bool one_file_each)
{
	bool repeats = one_file_each;

	for (size_t i = 1; i < n && repeats; i++)
		repeats = span[i].file != span[i - 1].file ||
			  !strcmp(span[i].alike, span[i - 1].alike);
	for (size_t i = 0; i < n; i++)
		span[i].nth =
			repeats || !i || span[i].file != span[i - 1].file ? 0 : span[i - 1].nth + 1;
}

static bool one_file_each(const struct tg_compare *c)
{
	for (size_t i = 0; i < c->n_sides; i++)
		if (c->files[i] > 1)
			return false;
	return true;
}

/* Spans that are sorted so that those of a row are together. */
static void make_rows(struct tg_compare *c)
{
	size_t cap = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct tg_compared *span = &c->span[i], *before = i ? span - 1 : NULL;
		bool same_name = before && !by_name(before, span);

		if (same_name && before->nth == span->nth) {
			span->row = before->row;
			continue;
		}
		TG_GROW(c->row, c->n_rows + 1, cap);
		c->row[c->n_rows] = (struct tg_compare_row){ .kind = span->kind,
			.name = span->name,
			.index = span->index,
			.nth = span->nth,
			.whole = span->whole,
			.several = same_name,
			.order = span->order };
		if (same_name)
			c->row[before->row].several = true;
		span->row = c->n_rows++;
	}
}

/* Of each row; bit k: side k is in it. */
static uint64_t *sides_of(const struct tg_compare *c)
{
	uint64_t *sides = tg_xcalloc(c->n_rows + 1, sizeof(*sides));

	for (size_t i = 0; i < c->n; i++)
		sides[c->span[i].row] |= UINT64_C(1) << c->span[i].side;
	return sides;
}

/* Put cells that changed together, by their number, where one side's has no other's. */
static void join_cells(struct tg_compare *c)
{
	uint64_t *sides = sides_of(c);
	size_t *becomes = tg_xcalloc(c->n_rows + 1, sizeof(*becomes));
	struct tg_map at = TG_MAP_INIT;

	for (size_t i = 0; i < c->n_rows; i++)
		becomes[i] = i;
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct tg_compare_row *row = &c->row[i];
		ptrdiff_t found;
		size_t first;

		if (row->whole || row->index < 0 || strcmp(row->kind, "cell") != 0 ||
			(sides[i] & (sides[i] - 1)))
			continue;
		found = tg_map_get(&at, (uint64_t)row->index);
		first = found < 0 ? i : (size_t)found;
		if (first == i) {
			tg_map_put(&at, (uint64_t)row->index, i);
		} else if (!(sides[first] & sides[i])) {
			size_t to = c->row[first].order < row->order ? first : i;

			sides[to] = sides[first] | sides[i];
			becomes[to == first ? i : first] = to;
			tg_map_put(&at, (uint64_t)row->index, to);
		}
	}
	for (size_t i = 0; i < c->n; i++)
		while (becomes[c->span[i].row] != c->span[i].row)
			c->span[i].row = becomes[c->span[i].row];
	tg_map_release(&at);
	free(becomes);
	free(sides);
}

/* Sort the rows, drop those without spans, and tell each which spans it has. */
static void settle(struct tg_compare *c)
{
	size_t *place = tg_xcalloc(c->n_rows + 1, sizeof(*place)), n = 0;

	for (size_t i = 0; i < c->n_rows; i++)
		c->row[i].from = i; /* remembered through the sorting */
	if (c->n_rows)
		qsort(c->row, c->n_rows, sizeof(*c->row), by_order);
	for (size_t i = 0; i < c->n_rows; i++)
		place[c->row[i].from] = i;
	for (size_t i = 0; i < c->n; i++)
		c->span[i].row = place[c->span[i].row];
	if (c->n)
		qsort(c->span, c->n, sizeof(*c->span), by_row);
	for (size_t i = 0; i < c->n_rows; i++)
		c->row[i].from = c->row[i].to = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct tg_compare_row *row = &c->row[c->span[i].row];

		if (!row->to)
			row->from = i;
		row->to = i + 1;
	}
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->row[i].to)
			c->row[n++] = c->row[i];
	c->n_rows = n;
	free(place);
}

/* Peaks of PSS and of RSS are not compared with each other: of both it is RSS. */
static void agree_on_memory(struct tg_compare *c, struct tg_compare_row *row)
{
	bool all_pss = true, some = false;

	for (size_t i = row->from; i < row->to; i++) {
		const char *is = c->span[i].memory_is;

		some |= is != NULL;
		all_pss &= !is || !strcmp(is, "PSS");
	}
	row->memory_is = !some ? NULL : all_pss ? "PSS" : "RSS";
	for (size_t i = row->from; i < row->to && some && !all_pss; i++)
		c->span[i].cost[TG_COST_MEMORY] = c->span[i].rss_bytes;
}

void tg_compare_match(struct tg_compare *c)
{
	bool single = one_file_each(c);

	if (c->n)
		qsort(c->span, c->n, sizeof(*c->span), by_name_and_order);
	for (size_t i = 0, n; i < c->n; i += n) {
		for (n = 1; i + n < c->n && !by_name(&c->span[i], &c->span[i + n]); n++)
			continue;
		number(&c->span[i], n, single);
	}
	if (c->n)
		qsort(c->span, c->n, sizeof(*c->span), by_name_and_nth);
	make_rows(c);
	join_cells(c);
	settle(c);
	for (size_t i = 0; i < c->n_rows; i++)
		agree_on_memory(c, &c->row[i]);
}

/* ---- what a row says ---- */

size_t tg_compare_values(const struct tg_compare *c, const struct tg_compare_row *row, size_t side,
	enum tg_cost cost, double **v)
{
	size_t n = 0;

	*v = tg_xcalloc(row->to - row->from + 1, sizeof(**v));
	for (size_t i = row->from; i < row->to; i++)
		if (c->span[i].side == side)
			(*v)[n++] = c->span[i].cost[cost];
	return n;
}

size_t tg_compare_count(const struct tg_compare *c, const struct tg_compare_row *row, size_t side)
{
	size_t n = 0;

	for (size_t i = row->from; i < row->to; i++)
		n += c->span[i].side == side;
	return n;
}

bool tg_compare_exact(const struct tg_compare *c, const struct tg_compare_row *row, size_t side)
{
	for (size_t i = row->from; i < row->to; i++)
		if (c->span[i].side == side && !c->span[i].exact)
			return false;
	return true;
}

void tg_compare_cost(const struct tg_compare *c, const struct tg_compare_row *row, size_t side,
	enum tg_cost cost, struct tg_difference *out)
{
	double *a, *b;
	size_t n = tg_compare_values(c, row, 0, cost, &a);
	size_t m = tg_compare_values(c, row, side, cost, &b);

	tg_difference_of(a, n, b, m, tiny[cost], out);
	free(a);
	free(b);
}

bool tg_compare_exceeds(const struct tg_difference *d, enum tg_cost cost, double limit_pct)
{
	if (cost == TG_COST_GPU || d->by <= 0 ||
		(d->is != TG_CHANGE_BEYOND && d->is != TG_CHANGE_UNSURE))
		return false;
	return isnan(d->pct) || d->pct > limit_pct;
}
