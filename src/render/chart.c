/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/chart.h"

#include "base/mem.h"

/*
 * Lists have no capacity of their own: it is the next power of two of the count, so a list grows
 * just before its count becomes one.
 */
static void *grown(void *list, size_t n, size_t size)
{
	return n & (n - 1) ? list : tg_xrealloc(list, n ? 2 * n : 1, size);
}

static char *copy(const char *s)
{
	return s ? tg_xstrdup(s) : NULL;
}

struct tg_panel *tg_chart_panel(struct tg_chart *c, const char *title, const char *unit)
{
	struct tg_panel *p;

	c->panel = grown(c->panel, c->n_panels, sizeof(*c->panel));
	p = &c->panel[c->n_panels++];
	*p = (struct tg_panel){ .title = copy(title), .unit = copy(unit) };
	return p;
}

struct tg_series *tg_panel_series(
	struct tg_panel *p, const char *name, enum tg_hue hue, unsigned style)
{
	struct tg_series *s;

	p->series = grown(p->series, p->n_series, sizeof(*p->series));
	s = &p->series[p->n_series++];
	*s = (struct tg_series){ .name = copy(name), .hue = hue, .style = style };
	return s;
}

void tg_panel_limit(struct tg_panel *p, const char *label, double value)
{
	p->limit = grown(p->limit, p->n_limits, sizeof(*p->limit));
	p->limit[p->n_limits++] = (struct tg_limit){ .label = copy(label), .value = value };
}

void tg_chart_band(struct tg_chart *c, const char *label, double t0, double t1, bool failed)
{
	c->band = grown(c->band, c->n_bands, sizeof(*c->band));
	c->band[c->n_bands++] =
		(struct tg_band){ .label = copy(label), .t0 = t0, .t1 = t1, .failed = failed };
}

void tg_chart_flag(struct tg_chart *c, const char *name, double t)
{
	c->flag = grown(c->flag, c->n_flags, sizeof(*c->flag));
	c->flag[c->n_flags++] = (struct tg_flag){ .name = copy(name), .t = t };
}

void tg_chart_cell(struct tg_chart *c, const char *label, double t0, double t1, double cores,
	double memory, bool failed)
{
	c->cell = grown(c->cell, c->n_cells, sizeof(*c->cell));
	c->cell[c->n_cells++] = (struct tg_cell){ copy(label), t0, t1, cores, memory, failed };
}

void tg_chart_name(struct tg_chart *c, const char *name)
{
	c->name = grown(c->name, c->n_names, sizeof(*c->name));
	c->name[c->n_names++] = tg_xstrdup(name);
}

struct tg_spread_column *tg_chart_spread(
	struct tg_chart *c, const char *title, const char *unit, enum tg_hue hue)
{
	struct tg_spread_column *column;

	c->column = grown(c->column, c->n_columns, sizeof(*c->column));
	column = &c->column[c->n_columns++];
	*column = (struct tg_spread_column){ .title = copy(title),
		.unit = copy(unit),
		.hue = hue,
		.of = tg_xcalloc(c->n_names, sizeof(*column->of)) };
	return column;
}

void tg_chart_row(struct tg_chart *c, const char *const cell[5])
{
	struct tg_row *r;

	c->row = grown(c->row, c->n_rows, sizeof(*c->row));
	r = &c->row[c->n_rows++];
	for (size_t i = 0; i < TG_ARRAY_SIZE(r->cell); i++)
		r->cell[i] = copy(cell[i]);
}

static void release_panel(struct tg_panel *p)
{
	for (size_t i = 0; i < p->n_series; i++) {
		free(p->series[i].name);
		free(p->series[i].bucket);
	}
	for (size_t i = 0; i < p->n_limits; i++)
		free(p->limit[i].label);
	free(p->series);
	free(p->limit);
	free(p->title);
	free(p->second_unit);
	free(p->unit);
}

void tg_chart_free(struct tg_chart *c)
{
	for (size_t i = 0; i < c->n_panels; i++)
		release_panel(&c->panel[i]);
	for (size_t i = 0; i < c->n_bands; i++)
		free(c->band[i].label);
	for (size_t i = 0; i < c->n_flags; i++)
		free(c->flag[i].name);
	for (size_t i = 0; i < c->n_rows; i++)
		for (size_t k = 0; k < TG_ARRAY_SIZE(c->row[i].cell); k++)
			free(c->row[i].cell[k]);
	free(c->panel);
	for (size_t i = 0; i < c->n_cells; i++)
		free(c->cell[i].label);
	free(c->cell);
	free(c->memory_unit);
	for (size_t i = 0; i < c->n_names; i++)
		free(c->name[i]);
	free(c->name);
	for (size_t i = 0; i < c->n_columns; i++) {
		free(c->column[i].title);
		free(c->column[i].unit);
		free(c->column[i].of);
	}
	free(c->column);
	free(c->band);
	free(c->flag);
	free(c->row);
	free(c->headline);
	free(c->note);
	free(c->x_label);
	*c = (struct tg_chart){ 0 };
}
