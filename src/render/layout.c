/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/layout.h"

#include <math.h>

#include "render/resample.h"

#include "base/mem.h"

#define PAD          12
#define LABEL_ROOM   15 /* height of a text above a limit or a peak */
#define TITLE_ROOM   30 /* from the end of one plot to the next */
#define GUTTER_LEAST 30
/* A limit is within the axis when the data come at least to this share of it. */
#define LIMIT_NEAR     0.5
#define TICK_GAP       76 /* least distance of time labels */
#define HEADLINE_CHARS 400

double tg_panel_max(const struct tg_panel *p)
{
	double max = 0;

	for (size_t i = 0; i < p->n_series; i++)
		for (size_t k = 0; k < p->series[i].n_buckets; k++)
			if (tg_bucket_is_value(&p->series[i].bucket[k]))
				max = fmax(max, p->series[i].bucket[k].max);
	return max;
}

double tg_heat_row_height(const struct tg_panel *p)
{
	return fmin(14, fmax(2, 300 / (double)TG_MAX(p->n_series, (size_t)1)));
}

static double plot_height(const struct tg_chart *c, const struct tg_panel *p)
{
	if (p->heat)
		return tg_heat_row_height(p) * (double)p->n_series;
	return c->plot_height > 0 ? c->plot_height : TG_PLOT_HEIGHT;
}

static double panel_top(const struct tg_panel *p, double plot)
{
	double max = tg_panel_max(p), top;

	if (p->y_max > 0)
		return fmax(p->y_max, max);
	if (max <= 0)
		return 1;
	top = max * plot / (plot - LABEL_ROOM);
	for (size_t i = 0; i < p->n_limits; i++) {
		double v = p->limit[i].value;

		if (isfinite(v) && max >= LIMIT_NEAR * v)
			top = fmax(top, v * plot / (plot - LABEL_ROOM));
	}
	return top;
}

/* Bytes of the longest run of whole words at the start of `s` that fits; 0: not even one. */
static size_t words_that_fit(const struct tg_font *f, const char *s, double size, double width)
{
	size_t fits = 0;

	for (size_t i = 1; s[i - 1]; i++) {
		char *part;
		bool ok;

		if (s[i] && s[i] != ' ')
			continue;
		part = tg_xmemdup0(s, i);
		ok = tg_font_width(f, part, size, true) <= width;
		free(part);
		if (!ok)
			break;
		fits = i;
	}
	return fits;
}

/* Break the headline at blanks into lines that fit; the last one is cut. */
static void wrap_headline(struct tg_layout *l, const char *headline, double width)
{
	struct tg_buf clean = TG_BUF_INIT;
	const char *s;

	tg_text_clean(headline, HEADLINE_CHARS, &clean);
	s = clean.data;
	while (*s && l->n_headline < TG_HEADLINE_LINES) {
		bool last = l->n_headline + 1 == TG_HEADLINE_LINES;
		size_t n = last ? 0 : words_that_fit(l->font, s, TG_SIZE_HEADLINE, width);
		struct tg_buf line = TG_BUF_INIT;

		if (n)
			tg_buf_add(&line, s, n);
		else
			tg_font_fit(l->font, s, TG_SIZE_HEADLINE, true, width, &line);
		l->headline[l->n_headline++] = tg_buf_detach(&line);
		if (!n)
			break;
		s += n;
		s += strspn(s, " ");
	}
	tg_buf_release(&clean);
}

/* The chart's own, and how many cells cannot be told apart. */
static char *note_of(const struct tg_layout *l)
{
	const char *own = l->chart->note;
	struct tg_buf text = TG_BUF_INIT;

	if (own)
		tg_buf_adds(&text, own);
	if (l->n_merged)
		tg_buf_addf(&text, "%s%zu %s too short to be drawn alone", own ? " · " : "",
			l->n_merged, l->n_merged == 1 ? "cell is" : "cells are");
	return text.len ? tg_buf_detach(&text) : NULL;
}

static void set_panels(struct tg_layout *l, const struct tg_chart *c)
{
	double gutter = GUTTER_LEAST;
	char text[TG_NUM_SIZE];

	l->panel = tg_xcalloc(c->n_panels, sizeof(*l->panel));
	for (size_t i = 0; i < c->n_panels; i++) {
		struct tg_panel_box *b = &l->panel[i];

		b->y_max = panel_top(&c->panel[i], plot_height(c, &c->panel[i]));
		if (c->panel[i].heat)
			continue;
		tg_ticks_value(&b->ticks, b->y_max, 5);
		for (size_t k = 0; k < b->ticks.n; k++) {
			tg_tick_label(&b->ticks, k, text);
			gutter = fmax(
				gutter, tg_font_width(l->font, text, TG_SIZE_SMALL, false) + 6);
		}
	}
	l->left = fmax(ceil(PAD + gutter), c->gutter);
	/* half of the last time label */
	l->right = l->width - fmax(PAD + 8, c->margin);
}

void tg_layout_init(struct tg_layout *l, const struct tg_chart *c)
{
	int width = c->width ? c->width : TG_WIDTH_DEFAULT;
	double y = PAD;

	*l = (struct tg_layout){ .chart = c, .font = tg_font_new() };
	l->width = TG_MIN(TG_MAX(width, TG_WIDTH_MIN), TG_WIDTH_MAX);
	l->t_end = c->t_end > 0 && isfinite(c->t_end) ? c->t_end : 1;
	set_panels(l, c);
	tg_layout_bands(l);
	l->note = note_of(l);
	if (c->headline)
		wrap_headline(l, c->headline, l->width - 2 * PAD);
	l->headline_y = y + 15;
	y += 22 * (double)l->n_headline;
	if (l->note) {
		l->note_y = y + 13;
		y += 19;
	}
	if (l->n_lanes) {
		l->strip_y = y + 6;
		y = l->strip_y + TG_STRIP_HEIGHT * (double)l->n_lanes;
	}
	y = tg_layout_flags(l, y);
	for (size_t i = 0; i < c->n_panels; i++) {
		struct tg_panel_box *b = &l->panel[i];

		b->title_y = y + TITLE_ROOM - 8;
		b->top = y + TITLE_ROOM;
		b->bottom = b->top + plot_height(c, &c->panel[i]);
		y = b->bottom;
	}
	if (c->n_panels || l->n_lanes) {
		tg_ticks_time(
			&l->time, l->t_end, (size_t)fmax(2, (l->right - l->left) / TICK_GAP + 1));
		l->axis_y = y + 16;
		y = l->axis_y + (c->x_label ? 18 : 0) + 4;
	}
	if (c->n_cells)
		y = tg_layout_cells(l, y);
	if (c->n_names && c->n_columns)
		y = tg_layout_spread(l, y);
	if (c->n_rows) {
		l->table_y = y + 22;
		y = l->table_y + 8 + TG_ROW_HEIGHT * (double)c->n_rows;
	}
	l->height = ceil(y + PAD);
}

void tg_layout_release(struct tg_layout *l)
{
	for (size_t i = 0; i < l->n_headline; i++)
		free(l->headline[i]);
	free(l->note);
	tg_layout_bands_release(l);
	tg_layout_flags_release(l);
	free(l->panel);
	tg_layout_cells_release(&l->cells);
	tg_font_free(l->font);
}

void tg_layout_columns(
	const struct tg_chart *c, double width, double place[TG_COLUMNS], double room[TG_COLUMNS])
{
	static const double with[] = { 0, 0.42, 0.60, 0.80, 0.83 };
	static const double without[] = { 0, 0.52, 0.76, 1, 1 };
	bool notes = false;

	for (size_t i = 0; i < c->n_rows; i++)
		notes = notes || (c->row[i].cell[TG_COLUMNS - 1] && width > 560);
	for (size_t k = 0; k < TG_COLUMNS; k++)
		place[k] = width * (notes ? with[k] : without[k]);
	room[0] = width * 0.28;
	for (size_t k = 1; k < TG_COLUMNS - 1; k++)
		room[k] = place[k] - (k > 1 ? place[k - 1] : room[0]) - 8;
	room[TG_COLUMNS - 1] = notes ? width - place[TG_COLUMNS - 1] : 0;
}

double tg_layout_x(const struct tg_layout *l, double t)
{
	return l->left + (l->right - l->left) * fmin(fmax(t / l->t_end, 0), 1);
}

double tg_layout_y(const struct tg_panel_box *box, double value)
{
	return box->bottom - (box->bottom - box->top) * fmin(fmax(value / box->y_max, 0), 1);
}
