/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran several times under one name, in one recording or over all: box plots and a table. */
#include <math.h>

#include "analyze/describe.h"
#include "analyze/repeats.h"
#include "report/format.h"
#include "report/panels.h"
#include "report/report.h"

#include "base/mem.h"

#define DRAWN_MAX 40 /* names; the table has all */

/* The times of one name. */
struct group {
	size_t from, n;
	double weight; /* what it cost in all */
};

struct groups {
	struct tg_repeats repeats;
	struct group *group; /* the most costly first */
	size_t n;
	double *scratch; /* room for the values of any group */
};

static void describe(const struct groups *g, const struct group *group, enum tg_repeated cost,
	struct tg_description *d)
{
	tg_describe(g->scratch,
		tg_repeats_cost(&g->repeats, group->from, group->n, cost, g->scratch), d);
}

static double sum_of(const struct groups *g, const struct group *group, enum tg_repeated cost)
{
	size_t n = tg_repeats_cost(&g->repeats, group->from, group->n, cost, g->scratch);
	double sum = n ? 0 : NAN;

	for (size_t i = 0; i < n; i++)
		sum += g->scratch[i];
	return sum;
}

static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->from > y->from) - (x->from < y->from);
}

static void add_spans(struct tg_repeats *r, const struct tg_told *t, bool runs)
{
	for (size_t i = 0; i < t->n_stages; i++)
		if (t->stage[i]->name && strcmp(t->stage[i]->kind, "cell") != 0)
			tg_repeats_add(r, t->stage[i], &t->stage_totals[i]);
	for (size_t i = 0; i < t->n_runs && runs; i++)
		if (t->run[i]->name && t->n_runs == 1)
			tg_repeats_add(r, t->run[i], &t->sums.totals);
}

static void collect(struct groups *g, const struct tg_told *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_spans(&g->repeats, &t[i], n > 1);
	tg_repeats_sort(&g->repeats);
	g->group = tg_xcalloc(g->repeats.n + 1, sizeof(*g->group));
	g->scratch = tg_xcalloc(g->repeats.n + 1, sizeof(*g->scratch));
	for (size_t i = 0, k; (k = tg_repeats_of(&g->repeats, i)); i += k) {
		struct group *group = &g->group[g->n];

		*group = (struct group){ .from = i, .n = k };
		group->weight = sum_of(g, group, TG_REPEATED_CPU);
		if (isnan(group->weight))
			group->weight = 0;
		g->n += k > 1;
	}
	qsort(g->group, g->n, sizeof(*g->group), by_weight);
}

static void release(struct groups *g)
{
	tg_repeats_release(&g->repeats);
	free(g->group);
	free(g->scratch);
}

/* Leave those of which nothing is known of what was requested. */
static void keep_requested(struct groups *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct group *group = &g->group[i];
		size_t known = 0;

		for (int cost = TG_REPEATED_CORES_ASKED; cost < TG_REPEATED; cost++)
			known += tg_repeats_cost(&g->repeats, group->from, group->n,
				(enum tg_repeated)cost, g->scratch);
		if (known)
			g->group[kept++] = *group;
	}
	g->n = kept;
}

static const char *name_of(const struct groups *g, const struct group *group)
{
	return g->repeats.one[group->from].name;
}

/* ---- pictures ---- */

static void begin_chart(const struct groups *g, struct tg_chart *c)
{
	struct tg_buf label = TG_BUF_INIT;

	*c = (struct tg_chart){ 0 };
	for (size_t i = 0; i < g->n && i < DRAWN_MAX; i++) {
		tg_buf_clear(&label);
		tg_plain(&label, name_of(g, &g->group[i]), 60);
		tg_chart_name(c, label.data);
	}
	tg_buf_release(&label);
}

/* A column of it, unless nothing is known. `factor` is from the cost to the unit. */
static void put_column(const struct groups *g, struct tg_chart *c, enum tg_repeated cost,
	const char *title, const char *unit, enum tg_hue hue, double factor)
{
	struct tg_spread_column *column = NULL;

	for (size_t i = 0; i < c->n_names; i++) {
		struct tg_description d;

		describe(g, &g->group[i], cost, &d);
		if (!d.count)
			continue;
		if (!column)
			column = tg_chart_spread(c, title, unit, hue);
		tg_description_scale(&d, factor);
		column->of[i] = (struct tg_quartiles){ d.count, d.min, d.q25, d.q50, d.q75, d.max };
	}
}

static void put_bytes(const struct groups *g, struct tg_chart *c, enum tg_repeated cost,
	const char *title, enum tg_hue hue)
{
	double most = 0, factor;
	const char *unit;

	for (size_t i = 0; i < c->n_names; i++) {
		struct tg_description d;

		describe(g, &g->group[i], cost, &d);
		most = fmax(most, d.max);
	}
	unit = tg_panels_byte_unit(most, &factor);
	if (most > 0)
		put_column(g, c, cost, title, unit, hue, factor);
}

static void draw_costs(const struct groups *g, struct tg_chart *c)
{
	begin_chart(g, c);
	put_column(g, c, TG_REPEATED_WALL, "wall", NULL, TG_HUE_OTHER, 1);
	put_column(g, c, TG_REPEATED_CORES, "CPU", "cores", TG_HUE_CPU, 1);
	put_bytes(g, c, TG_REPEATED_MEMORY, "peak memory", TG_HUE_MEMORY);
	put_bytes(g, c, TG_REPEATED_STORAGE, "read and written", TG_HUE_READ);
}

static void draw_shares(const struct groups *g, struct tg_chart *c)
{
	begin_chart(g, c);
	put_column(g, c, TG_REPEATED_CORES_ASKED, "cores", "%", TG_HUE_CPU, 100);
	put_column(g, c, TG_REPEATED_MEMORY_ASKED, "peak memory", "%", TG_HUE_MEMORY, 100);
	put_column(g, c, TG_REPEATED_WALL_ASKED, "time", "%", TG_HUE_OTHER, 100);
	for (size_t k = 0; k < c->n_columns; k++)
		c->column[k].mark = 100; /* all of it */
}

/* ---- the table ---- */

static void put_columns(struct tg_sheet *s)
{
	tg_sheet_column(s, "name", false, NULL);
	tg_sheet_column(s, "n", true, "how often it ran");
	tg_sheet_column(s, "wall, median", true, NULL);
	tg_sheet_column(s, "most", true, NULL);
	tg_sheet_column(s, "in all", true, NULL);
	tg_sheet_column(s, "CPU time, median", true, NULL);
	tg_sheet_column(s, "most", true, NULL);
	tg_sheet_column(s, "in all", true, NULL);
	tg_sheet_column(s, "cores, median", true, NULL);
	tg_sheet_column(s, "most", true, "used on average by the one that used most");
	tg_sheet_column(s, "peak memory, median", true, NULL);
	tg_sheet_column(s, "most", true, NULL);
	tg_sheet_column(s, "read and written, median", true, NULL);
	tg_sheet_column(s, "in all", true, NULL);
}

static void put_value(struct tg_sheet *s, double v, void (*format)(struct tg_buf *, double))
{
	struct tg_buf b = TG_BUF_INIT;

	format(&b, v);
	tg_sheet_value(s, v, &b);
	tg_buf_release(&b);
}

static void put_count(struct tg_buf *out, double v)
{
	tg_buf_addf(out, "%.0f", v);
}

static void put_row(const struct groups *g, const struct group *group, struct tg_sheet *s)
{
	static const struct {
		enum tg_repeated cost;
		void (*format)(struct tg_buf *, double);
		bool most, in_all;
	} told[] = {
		{ TG_REPEATED_WALL, tg_fmt_seconds, true, true },
		{ TG_REPEATED_CPU, tg_fmt_seconds, true, true },
		{ TG_REPEATED_CORES, tg_fmt_number, true, false },
		{ TG_REPEATED_MEMORY, tg_fmt_bytes, true, false },
		{ TG_REPEATED_STORAGE, tg_fmt_bytes, false, true },
	};

	tg_sheet_text(s, name_of(g, group));
	put_value(s, (double)group->n, put_count);
	for (size_t i = 0; i < TG_ARRAY_SIZE(told); i++) {
		struct tg_description d;

		describe(g, group, told[i].cost, &d);
		put_value(s, d.q50, told[i].format);
		if (told[i].most)
			put_value(s, d.max, told[i].format);
		if (told[i].in_all)
			put_value(s, sum_of(g, group, told[i].cost), told[i].format);
	}
}

static char *explain(const struct groups *g)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_adds(&text, "A box is the middle half of the times that a name ran, the line in it "
			   "the median; the thin line goes from the least to the most.");
	if (g->n > DRAWN_MAX)
		tg_buf_addf(&text, " The %d names that took most CPU time are drawn, of %zu.",
			DRAWN_MAX, g->n);
	return tg_buf_detach(&text);
}

void tg_report_repeats(struct tg_told *t, size_t n)
{
	struct groups g = { 0 };
	struct tg_report_part *p;

	collect(&g, t, n);
	if (g.n) {
		p = tg_report_add(t->report, 2, "names", "By name", NULL);
		p->text = explain(&g);
		p->has_chart = true;
		draw_costs(&g, &p->chart);
		put_columns(&p->sheet);
		for (size_t i = 0; i < g.n; i++)
			put_row(&g, &g.group[i], &p->sheet);
	}
	keep_requested(&g);
	if (g.n) {
		p = tg_report_add(t->report, 3, "names-requested", "Of what was requested", NULL);
		p->has_chart = true;
		draw_shares(&g, &p->chart);
	}
	release(&g);
}
