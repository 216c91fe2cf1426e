/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of cells: three views side by side (time line, CPU, memory) over one data set. Lines are
 * places on a numeric axis with a domain of its own, never an ordinal scale that is sorted by
 * whatever program draws: JupyterLab's once paired bars with the wrong cells.
 */
#include <math.h>

#include "render/draw.h"
#include "render/vega_part.h"

#include "base/mem.h"

#define TOP    (4.0 / TG_CELL_HEIGHT) /* of a bar within its line */
#define BOTTOM ((4.0 + TG_CELL_BAR) / TG_CELL_HEIGHT)
#define NUMBER 46

static void put_rows(struct tg_vega *v)
{
	const struct tg_cells_box *b = &v->l->cells;
	struct tg_jw *w = &v->w;
	char text[TG_NUM_SIZE];

	tg_vega_begin_object(w, "data");
	tg_vega_begin_array(w, "values");
	for (size_t i = 0; i < b->n_shown; i++) {
		const struct tg_cell *cell = &v->l->chart->cell[b->shown[i]];
		bool known = isfinite(cell->cores);
		struct tg_buf label = TG_BUF_INIT;
		double room;

		tg_jw_begin_object(w);
		tg_vega_put_key_number(w, "y", (double)i + TOP);
		tg_vega_put_key_number(w, "y2", (double)i + BOTTOM);
		if (cell->failed)
			tg_buf_adds(&label, "✗ ");
		room = b->time0 - b->left - 8 - (cell->failed ? 14 : 0);
		tg_font_fit(v->l->font, cell->label ? cell->label : "", TG_SIZE_TEXT, false, room,
			&label);
		tg_jw_kstr(w, "n", label.data);
		tg_buf_release(&label);
		tg_vega_put_key_number(w, "a", fmax(cell->t0, 0));
		tg_vega_put_key_number(w, "b", fmin(cell->t1, v->l->t_end));
		tg_num_seconds(cell->t1 - cell->t0, text);
		tg_jw_kstr(w, "d", text);
		/* the text stands left of what ends late */
		tg_jw_kint(w, "late", cell->t1 > 0.85 * v->l->t_end);
		tg_vega_put_key_number(
			w, "o", known ? tg_cell_shade(cell->cores / b->full[0]) : 0.2);
		tg_jw_kstr(w, "f", tg_hue_hex(known ? TG_HUE_CPU : TG_HUE_OTHER));
		tg_jw_kstr(w, "s", cell->failed ? "#d1383d" : tg_hue_hex(TG_HUE_CPU));
		for (int k = 0; k < 2; k++) {
			double value = tg_cell_value(cell, k);

			tg_jw_key(w, k ? "m" : "c");
			tg_vega_put_number(w, value, 4);
			tg_num_short(value, text);
			tg_jw_kstr(w, k ? "mt" : "ct", isfinite(value) ? text : "");
		}
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
	tg_jw_end_object(w);
}

static void put_domain(struct tg_jw *w, double from, double to)
{
	tg_vega_begin_object(w, "scale");
	tg_vega_begin_array(w, "domain");
	tg_vega_put_number(w, from, 9);
	tg_vega_put_number(w, to, 9);
	tg_jw_end_array(w);
	tg_jw_kbool(w, "nice", false);
	tg_jw_kbool(w, "zero", false);
	tg_jw_end_object(w);
}

static void put_line_y(struct tg_vega *v)
{
	tg_vega_begin_object(&v->w, "y");
	tg_jw_kstr(&v->w, "field", "y");
	tg_jw_kstr(&v->w, "type", "quantitative");
	tg_vega_put_domain(&v->w, (double)v->l->cells.n_shown, true);
	tg_jw_key(&v->w, "axis");
	tg_jw_null(&v->w);
	tg_jw_end_object(&v->w);
}

/* x of a field between two ends; with `ticks`, labelled. */
static void put_field_x(
	struct tg_vega *v, const char *field, double from, double to, const struct tg_ticks *ticks)
{
	struct tg_jw *w = &v->w;

	tg_vega_begin_object(w, "x");
	tg_jw_kstr(w, "field", field);
	tg_jw_kstr(w, "type", "quantitative");
	put_domain(w, from, to);
	if (ticks) {
		tg_vega_put_axis(w, ticks, true, true);
	} else {
		tg_jw_key(w, "axis");
		tg_jw_null(w);
	}
	tg_jw_end_object(w);
}

static void begin_text(struct tg_vega *v, const char *align, double dx)
{
	struct tg_jw *w = &v->w;

	tg_vega_begin_mark(w, "text", TG_GREY_BOTH);
	tg_jw_kstr(w, "align", align);
	tg_jw_kstr(w, "baseline", "middle");
	tg_vega_put_key_number(w, "dx", dx);
	tg_jw_kint(w, "dy", TG_CELL_BAR / 2);
	tg_vega_put_key_number(w, "fontSize", TG_SIZE_SMALL);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	put_line_y(v);
}

static void put_text_field(struct tg_jw *w, const char *field)
{
	tg_vega_begin_object(w, "text");
	tg_jw_kstr(w, "field", field);
	tg_jw_kstr(w, "type", "nominal");
	tg_jw_end_object(w);
}

static void put_unscaled(struct tg_jw *w, const char *channel, const char *field, const char *type)
{
	tg_vega_begin_object(w, channel);
	tg_jw_kstr(w, "field", field);
	tg_jw_kstr(w, "type", type);
	tg_jw_key(w, "scale");
	tg_jw_null(w);
	tg_jw_end_object(w);
}

static void begin_view(struct tg_vega *v, double width, const char *title, double title_x)
{
	struct tg_vega_label at = { title_x, -7, TG_SIZE_TEXT, "left", "bottom", true };

	tg_jw_begin_object(&v->w);
	tg_vega_put_key_number(&v->w, "width", width);
	tg_vega_put_key_number(&v->w, "height", TG_CELL_HEIGHT * (double)v->l->cells.n_shown);
	tg_vega_begin_array(&v->w, "layer");
	tg_vega_put_label(v, &at, title);
}

static void end_view(struct tg_vega *v)
{
	tg_jw_end_array(&v->w);
	tg_jw_end_object(&v->w);
}

static void put_tooltip(struct tg_vega *v)
{
	struct tg_jw *w = &v->w;
	struct tg_buf title = TG_BUF_INIT;

	tg_vega_begin_array(w, "tooltip");
	TG_RAW(w, "{\"field\":\"n\",\"type\":\"nominal\",\"title\":\"cell\"}");
	TG_RAW(w, "{\"field\":\"d\",\"type\":\"nominal\",\"title\":\"time\"}");
	TG_RAW(w, "{\"field\":\"c\",\"type\":\"quantitative\",\"title\":\"mean cores\"}");
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "field", "m");
	tg_jw_kstr(w, "type", "quantitative");
	tg_buf_adds(&title, "peak memory ");
	if (v->l->chart->memory_unit)
		tg_text_clean(v->l->chart->memory_unit, 20, &title);
	tg_jw_kstr(w, "title", title.data);
	tg_buf_release(&title);
	tg_jw_end_object(w);
	tg_jw_end_array(w);
}

/* Labels stand within the view, at times before 0, so that all views begin at one edge. */
static void put_time_line(struct tg_vega *v)
{
	const struct tg_cells_box *b = &v->l->cells;
	double start = -v->l->t_end * (b->time0 - b->left) / (b->time1 - b->time0);
	struct tg_jw *w = &v->w;

	begin_view(v, b->time1 - b->left, "time, coloured by CPU", b->time0 - b->left);
	tg_jw_begin_object(w);
	tg_vega_begin_mark(w, "rect", tg_hue_hex(TG_HUE_CPU));
	tg_jw_kint(w, "cornerRadius", 2);
	tg_jw_kint(w, "strokeWidth", 1);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	put_line_y(v);
	TG_RAW((tg_jw_key(w, "y2"), w), "{\"field\":\"y2\"}");
	put_field_x(v, "a", start, v->l->t_end, &b->ticks);
	TG_RAW((tg_jw_key(w, "x2"), w), "{\"field\":\"b\"}");
	put_unscaled(w, "fill", "f", "nominal");
	put_unscaled(w, "stroke", "s", "nominal");
	put_unscaled(w, "fillOpacity", "o", "quantitative");
	put_tooltip(v);
	tg_jw_end_object(w);
	tg_jw_end_object(w);

	tg_jw_begin_object(w);
	begin_text(v, "left", 0);
	tg_vega_put_pixels(w, "x", 0);
	put_text_field(w, "n");
	tg_jw_end_object(w);
	tg_jw_end_object(w);

	for (int late = 0; late < 2; late++) {
		tg_jw_begin_object(w);
		tg_jw_key(w, "transform");
		if (late)
			TG_RAW(w, "[{\"filter\":\"datum.late\"}]");
		else
			TG_RAW(w, "[{\"filter\":\"!datum.late\"}]");
		begin_text(v, late ? "right" : "left", late ? -5 : 5);
		put_field_x(v, late ? "a" : "b", start, v->l->t_end, &b->ticks);
		put_text_field(w, "d");
		tg_jw_end_object(w);
		tg_jw_end_object(w);
	}
	if (b->more) {
		struct tg_vega_label at = { 0, TG_CELL_HEIGHT * (double)b->n_shown + 22,
			TG_SIZE_SMALL, "left", "top", false };

		tg_vega_put_label(v, &at, b->more);
	}
	end_view(v);
}

static void put_bars(struct tg_vega *v, int k)
{
	const struct tg_cells_box *b = &v->l->cells;
	double width = b->bar1[k] - b->bar0[k];
	struct tg_jw *w = &v->w;

	begin_view(v, fmax(width, 1), b->title[k], 0);
	for (int track = 1; track >= 0 && width > 0; track--) {
		tg_jw_begin_object(w);
		tg_vega_begin_mark(w, "rect",
			track ? TG_GREY_BOTH : tg_hue_hex(k ? TG_HUE_MEMORY : TG_HUE_CPU));
		tg_vega_put_key_number(w, "opacity", track ? 0.14 : 1);
		tg_jw_kbool(w, "clip", true);
		tg_jw_end_object(w);
		tg_vega_begin_object(w, "encoding");
		put_line_y(v);
		TG_RAW((tg_jw_key(w, "y2"), w), "{\"field\":\"y2\"}");
		if (track) {
			tg_vega_put_pixels(w, "x", 0);
			tg_vega_put_pixels(w, "x2", width);
		} else {
			put_field_x(v, k ? "m" : "c", 0, b->full[k], NULL);
			TG_RAW((tg_jw_key(w, "x2"), w), "{\"datum\":0}");
		}
		tg_jw_end_object(w);
		tg_jw_end_object(w);
	}
	tg_jw_begin_object(w);
	begin_text(v, "left", 0);
	tg_vega_put_pixels(w, "x", width + 6);
	put_text_field(w, k ? "mt" : "ct");
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	end_view(v);
}

void tg_vega_put_cells(struct tg_vega *v)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	put_rows(v);
	tg_jw_kint(w, "spacing", NUMBER);
	tg_vega_begin_array(w, "hconcat");
	put_time_line(v);
	put_bars(v, 0);
	put_bars(v, 1);
	tg_jw_end_array(w);
	tg_jw_end_object(w);
}
