/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vega-Lite version 5, features of 5.6 only (JupyterLab 4 pins 5.6.1 and draws no version 6). Every
 * scale has its domain written down and nothing is sorted by the data: with anything left to the
 * program, the same spec draws other charts in other versions. One grey for all text, transparent
 * background: JupyterLab does not draw again when its theme changes.
 */
#include <math.h>

#include "render/resample.h"
#include "render/vega_part.h"

#include "base/mem.h"

#define FONT "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

/* ---- panels ---- */

static const char *colour_of(const struct tg_series *s)
{
	return s->style & TG_STYLE_FAINT ? TG_GREY_BOTH : tg_hue_hex(s->hue);
}

static void put_dash(struct tg_jw *w, bool dashed)
{
	if (!dashed)
		return;
	tg_jw_key(w, "strokeDash");
	TG_RAW(w, "[5,3]");
}

/* An area between the columns `low` (NULL: zero) and `high` of series `n`. */
static void put_area(struct tg_vega *v, const struct tg_series *s, const struct tg_panel_box *box,
	size_t n, bool band)
{
	struct tg_jw *w = &v->w;
	char field[32];

	tg_jw_begin_object(w);
	tg_vega_begin_mark(w, "area", colour_of(s));
	tg_vega_put_key_number(w, "opacity", !band ? 0.16 : s->style & TG_STYLE_BAND ? 0.32 : 0.22);
	tg_jw_kbool(w, "clip", true);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	snprintf(field, sizeof(field), "%s%zu", band ? "b" : "m", n);
	tg_vega_put_y(v, box, field);
	tg_vega_begin_object(w, "y2");
	snprintf(field, sizeof(field), "a%zu", n);
	if (band)
		tg_jw_kstr(w, "field", field);
	else
		tg_jw_kint(w, "datum", 0);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

static void put_line(
	struct tg_vega *v, const struct tg_series *s, const struct tg_panel_box *box, size_t n)
{
	struct tg_jw *w = &v->w;
	char field[32];

	snprintf(field, sizeof(field), "m%zu", n);
	tg_jw_begin_object(w);
	tg_vega_begin_mark(w, "line", colour_of(s));
	tg_vega_put_key_number(
		w, "strokeWidth", s->style & (TG_STYLE_FAINT | TG_STYLE_RAW) ? 1 : 1.5);
	if (s->style & TG_STYLE_RAW)
		tg_vega_put_key_number(w, "strokeOpacity", 0.45);
	put_dash(w, s->style & TG_STYLE_DASHED);
	tg_jw_kbool(w, "clip", true);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	tg_vega_put_y(v, box, field);
	tg_jw_key(w, "order");
	TG_RAW(w, "{\"field\":\"t\",\"type\":\"quantitative\"}");
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

/* Slots between two gaps: a line through one point draws nothing. */
static void put_lone_points(
	struct tg_vega *v, const struct tg_series *s, const struct tg_panel_box *box, size_t n)
{
	const struct tg_bucket *b = tg_vega_data_of(&v->data, n);
	struct tg_jw *w = &v->w;
	bool any = false;

	for (size_t k = 0; k < v->data.n_slots; k++)
		any = any || tg_vega_data_is_alone(&v->data, n, k);
	if (!any)
		return;
	tg_jw_begin_object(w);
	tg_vega_begin_object(w, "data");
	tg_vega_begin_array(w, "values");
	for (size_t k = 0; k < v->data.n_slots; k++) {
		if (!tg_vega_data_is_alone(&v->data, n, k))
			continue;
		tg_jw_begin_object(w);
		tg_vega_put_key_number(w, "t", (b[k].t0 + b[k].t1) / 2);
		tg_jw_key(w, "v");
		tg_vega_put_number(w, b[k].max, 4);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
	tg_jw_end_object(w);
	tg_vega_begin_mark(w, "point", colour_of(s));
	tg_jw_kbool(w, "filled", true);
	tg_jw_kint(w, "opacity", 1);
	tg_jw_kint(w, "size", 10);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	tg_vega_put_y(v, box, "v");
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

/* A dashed rule, its label in the half in which the peak's is not. */
static void put_limit(struct tg_vega *v, const struct tg_limit *limit,
	const struct tg_panel_box *box, double peak_share)
{
	double y = (box->bottom - box->top) * (1 - limit->value / box->y_max);
	bool right = peak_share < 0.5;
	struct tg_vega_label at = { right ? v->width - 4 : 4, y - 3, TG_SIZE_SMALL,
		right ? "right" : "left", "bottom", false };
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"values\":[{}]}");
	tg_vega_begin_mark(w, "rule", TG_GREY_BOTH);
	put_dash(w, true);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_begin_object(w, "y");
	tg_vega_put_key_number(w, "datum", limit->value);
	tg_jw_kstr(w, "type", "quantitative");
	tg_vega_put_domain(w, box->y_max, false);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_vega_put_label(v, &at, limit->label);
}

/* A piece of a series' line beside the title, or of the band behind it. */
static void put_legend_rule(struct tg_vega *v, const struct tg_series *s, double x, bool band)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"values\":[{}]}");
	tg_vega_begin_mark(w, "rule", colour_of(s));
	tg_jw_kint(w, "strokeWidth", band ? 10 : s->style & TG_STYLE_FAINT ? 1 : 2);
	tg_vega_put_key_number(w, "opacity", band ? 0.32 : 1);
	put_dash(w, s->style & TG_STYLE_DASHED);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_pixels(w, "x", x);
	tg_vega_put_pixels(w, "x2", x + 18);
	tg_vega_put_pixels(w, "y", -13);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

/* Title, names behind pieces of their lines, and limits above the axis at the right. */
static void put_panel_title(
	struct tg_vega *v, const struct tg_panel *p, const struct tg_panel_box *box)
{
	struct tg_vega_label at = { 0, -7, TG_SIZE_TITLE, "left", "bottom", true };
	double x = 18;
	struct tg_buf far = TG_BUF_INIT;

	tg_vega_put_label(v, &at, p->title);
	if (p->title)
		x += tg_font_width(v->l->font, p->title, TG_SIZE_TITLE, true);
	at = (struct tg_vega_label){ 0, -7, TG_SIZE_TEXT, "left", "bottom", false };
	for (size_t i = 0; i < p->n_series && !p->heat && x < v->width - 40; i++) {
		const struct tg_series *s = &p->series[i];

		if (s->style & TG_STYLE_BAND)
			put_legend_rule(v, s, x, true);
		put_legend_rule(v, s, x, false);
		at.x = x + 23;
		tg_vega_put_label(v, &at, s->name);
		x = at.x + 18;
		if (s->name)
			x += tg_font_width(v->l->font, s->name, TG_SIZE_TEXT, false);
	}
	for (size_t i = 0; i < p->n_limits; i++)
		if (p->limit[i].label && p->limit[i].value > box->y_max)
			tg_buf_addf(&far, "%s↑ %.100s", far.len ? "   " : "", p->limit[i].label);
	if (far.len && x < v->width - 60) {
		at = (struct tg_vega_label){ v->width, -7, TG_SIZE_SMALL, "right", "bottom",
			false };
		tg_vega_put_label(v, &at, far.data);
	}
	tg_buf_release(&far);
}

/* Returns where in the width it is, 0 to 1; 1 without a peak. */
static double put_peak(struct tg_vega *v, const struct tg_panel *p, const struct tg_panel_box *box)
{
	const struct tg_bucket *peak = NULL;
	const struct tg_series *of = NULL;
	struct tg_jw *w = &v->w;
	char text[TG_PEAK_SIZE];
	double share;

	for (size_t i = 0; i < p->n_series; i++) {
		const struct tg_bucket *b = tg_vega_data_of(&v->data, v->first + i);

		for (size_t k = 0; k < v->data.n_slots; k++) {
			if (p->series[i].style & TG_STYLE_FAINT || isnan(b[k].max) ||
				(peak && b[k].max <= peak->max))
				continue;
			peak = &b[k];
			of = &p->series[i];
		}
	}
	if (!peak || peak->max <= 0)
		return 1;
	tg_peak_label(p, of, peak->max, v->l->t_end, text);
	share = (peak->t0 + peak->t1) / 2 / v->l->t_end;
	for (int part = p->mean_only; part < 2; part++) {
		tg_jw_begin_object(w);
		tg_vega_begin_object(w, "data");
		tg_vega_begin_array(w, "values");
		tg_jw_begin_object(w);
		tg_vega_put_key_number(w, "t", (peak->t0 + peak->t1) / 2);
		tg_jw_key(w, "v");
		tg_vega_put_number(w, peak->max, 4);
		tg_jw_end_object(w);
		tg_jw_end_array(w);
		tg_jw_end_object(w);
		tg_vega_begin_mark(w, part ? "text" : "point", part ? TG_GREY_BOTH : colour_of(of));
		if (part) {
			tg_jw_kstr(w, "text", text);
			tg_jw_kstr(w, "align",
				share < 0.06   ? "left"
				: share > 0.94 ? "right"
					       : "center");
			tg_jw_kstr(w, "baseline", "bottom");
			tg_jw_kint(w, "dy", -3);
			tg_vega_put_key_number(w, "fontSize", TG_SIZE_SMALL);
		} else {
			tg_jw_kbool(w, "filled", true);
			tg_jw_kint(w, "opacity", 1);
			tg_jw_kint(w, "size", 18);
		}
		tg_jw_end_object(w);
		tg_vega_begin_object(w, "encoding");
		tg_vega_put_x(v, "t");
		tg_vega_put_y(v, box, "v");
		tg_jw_end_object(w);
		tg_jw_end_object(w);
	}
	return share;
}

/* Invisible points that take the pointer, and the rule that all panels show for any of them. */
static void put_cross_hair(struct tg_vega *v, const struct tg_panel *p, size_t which)
{
	struct tg_jw *w = &v->w;
	struct tg_buf name = TG_BUF_INIT;

	tg_jw_begin_object(w);
	tg_buf_addf(&name,
		"[{\"name\":\"hover%zu\",\"select\":{\"type\":\"point\",\"on\":\"pointermove\","
		"\"clear\":\"pointerout\",\"nearest\":true,\"fields\":[\"t\"]}}]",
		which);
	tg_jw_key(w, "params");
	tg_jw_raw(w, name.data, name.len);
	tg_jw_key(w, "mark");
	TG_RAW(w, "{\"type\":\"point\",\"opacity\":0}");
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	tg_vega_begin_array(w, "tooltip");
	TG_RAW(w, "{\"field\":\"t\",\"type\":\"quantitative\",\"title\":\"time s\"}");
	for (size_t i = 0; i < p->n_series; i++) {
		size_t n = v->first + i;
		bool band = !p->mean_only && tg_vega_data_has_band(&v->data, n);

		for (int max = 0; max <= (band ? 1 : 0); max++) {
			tg_buf_clear(&name);
			tg_jw_begin_object(w);
			tg_buf_addf(&name, "%s%zu", max ? "b" : "m", n);
			tg_jw_kstr(w, "field", name.data);
			tg_jw_kstr(w, "type", "quantitative");
			tg_buf_clear(&name);
			tg_text_clean(p->series[i].name ? p->series[i].name : "", 60, &name);
			tg_buf_adds(&name, max ? ", max " : " ");
			tg_text_clean(p->unit ? p->unit : "", 20, &name);
			tg_jw_kstr(w, "title", name.data);
			tg_jw_end_object(w);
		}
	}
	tg_jw_end_array(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);

	tg_jw_begin_object(w);
	tg_buf_clear(&name);
	tg_buf_adds(&name, "[{\"filter\":{\"or\":[");
	for (size_t i = 0; i < v->l->chart->n_panels; i++)
		tg_buf_addf(&name, "%s{\"param\":\"hover%zu\",\"empty\":false}", i ? "," : "", i);
	tg_buf_adds(&name, "]}}]");
	tg_jw_key(w, "transform");
	tg_jw_raw(w, name.data, name.len);
	tg_vega_begin_mark(w, "rule", TG_GREY_BOTH);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_buf_release(&name);
}

static void put_panel(struct tg_vega *v, size_t which)
{
	const struct tg_chart *c = v->l->chart;
	const struct tg_panel *p = &c->panel[which];
	const struct tg_panel_box *box = &v->l->panel[which];
	struct tg_jw *w = &v->w;
	bool last = which + 1 == c->n_panels;
	double peak_share;

	tg_jw_begin_object(w);
	tg_vega_put_key_number(w, "width", v->width);
	tg_vega_put_key_number(w, "height", box->bottom - box->top);
	tg_vega_begin_array(w, "layer");
	v->time_axis = last;
	if (c->n_bands) {
		tg_vega_begin_band_rects(v, "s");
		tg_jw_end_object(w);
		tg_jw_end_object(w);
	}
	if (v->l->n_flags)
		tg_vega_put_flag_rules(v);
	if (p->heat)
		tg_vega_put_heat(v, p, box);
	for (size_t i = p->heat ? 0 : p->n_series; i-- > 0;) {
		const struct tg_series *s = &p->series[i];
		size_t n = v->first + i;

		if (s->style & TG_STYLE_AREA)
			put_area(v, s, box, n, false);
		if (tg_vega_data_has_band(&v->data, n) && !(s->style & TG_STYLE_FAINT))
			put_area(v, s, box, n, true);
		put_line(v, s, box, n);
		put_lone_points(v, s, box, n);
	}
	peak_share = p->heat ? 1 : put_peak(v, p, box);
	for (size_t i = 0; i < p->n_limits; i++)
		if (isfinite(p->limit[i].value) && p->limit[i].value <= box->y_max)
			put_limit(v, &p->limit[i], box, peak_share);
	put_panel_title(v, p, box);
	put_cross_hair(v, p, which);
	if (last && c->x_label) {
		struct tg_vega_label at = { v->width / 2, box->bottom - box->top + 24,
			TG_SIZE_SMALL, "center", "top", false };

		tg_vega_put_label(v, &at, c->x_label);
	}
	tg_jw_end_array(w);
	tg_jw_end_object(w);
	v->first += p->n_series;
	v->time_axis = false;
}

/* ---- the rest ---- */

static void put_table(struct tg_vega *v)
{
	static const char *const head[] = { "", "mean", "max", "total", "" };
	double place[TG_COLUMNS], room[TG_COLUMNS];
	const struct tg_chart *c = v->l->chart;
	struct tg_jw *w = &v->w;

	tg_layout_columns(c, v->width, place, room);
	tg_jw_begin_object(w);
	tg_vega_put_key_number(w, "width", v->width);
	tg_vega_put_key_number(w, "height", TG_ROW_HEIGHT * (double)(c->n_rows + 1));
	tg_vega_begin_array(w, "layer");
	for (size_t r = 0; r <= c->n_rows; r++) {
		for (size_t k = 0; k < TG_ARRAY_SIZE(head); k++) {
			const char *s = r ? c->row[r - 1].cell[k] : head[k];
			bool number = k >= 1 && k <= 3;
			struct tg_vega_label at = { place[k], TG_ROW_HEIGHT * ((double)r + 0.5),
				TG_SIZE_TEXT, number ? "right" : "left", "middle", r && k == 0 };

			if (s && *s && room[k] > 0)
				tg_vega_put_label(v, &at, s);
		}
		tg_jw_begin_object(w);
		tg_jw_key(w, "data");
		TG_RAW(w, "{\"values\":[{}]}");
		tg_vega_begin_mark(w, "rule", TG_GREY_BOTH);
		tg_vega_put_key_number(w, "opacity", 0.3);
		tg_jw_end_object(w);
		tg_vega_begin_object(w, "encoding");
		tg_vega_put_pixels(w, "x", 0);
		tg_vega_put_pixels(w, "x2", v->width);
		tg_vega_put_pixels(w, "y", TG_ROW_HEIGHT * (double)(r + 1));
		tg_jw_end_object(w);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
	tg_jw_end_object(w);
}

static void put_data(struct tg_vega *v)
{
	struct tg_buf csv = TG_BUF_INIT;
	char field[32];

	tg_vega_data_csv(&v->data, &csv);
	tg_vega_begin_object(&v->w, "data");
	tg_jw_kstr(&v->w, "name", "samples");
	tg_jw_kstr(&v->w, "values", csv.data);
	tg_buf_release(&csv);
	tg_vega_begin_object(&v->w, "format");
	tg_jw_kstr(&v->w, "type", "csv");
	tg_vega_begin_object(&v->w, "parse");
	tg_jw_kstr(&v->w, "t", "number");
	for (size_t i = 0; i < v->data.n_series; i++) {
		bool band = tg_vega_data_has_band(&v->data, i);

		for (const char *kind = "mab"; *kind; kind++) {
			if (*kind != 'm' && !band)
				continue;
			snprintf(field, sizeof(field), "%c%zu", *kind, i);
			tg_jw_kstr(&v->w, field, "number");
		}
	}
	tg_jw_end_object(&v->w);
	tg_jw_end_object(&v->w);
	tg_jw_end_object(&v->w);
}

static void put_head(struct tg_vega *v)
{
	static const char config[] =
		"{\"font\":\"" FONT
		"\",\"view\":{\"stroke\":null},\"axis\":{\"labelColor\":\"" TG_GREY_BOTH
		"\",\"gridColor\":\"" TG_GREY_BOTH "\",\"gridOpacity\":0.22,\"domain\":false,"
		"\"ticks\":false,\"labelFontSize\":11,\"labelPadding\":5,\"title\":null,"
		"\"labelOverlap\":false},\"title\":{\"color\":"
		"\"" TG_GREY_BOTH "\",\"subtitleColor\":\"" TG_GREY_BOTH "\",\"anchor\":\"start\","
		"\"frame\":\"group\",\"fontSize\":16,\"fontWeight\":600,\"subtitleFontSize\":12,"
		"\"offset\":10}}";
	struct tg_jw *w = &v->w;

	tg_jw_kstr(w, "$schema", "https://vega.github.io/schema/vega-lite/v5.json");
	tg_jw_kstr(w, "background", "transparent");
	tg_jw_kint(w, "padding", 6);
	tg_jw_key(w, "config");
	tg_jw_raw(w, config, sizeof(config) - 1);
	tg_vega_begin_object(w, "title");
	tg_vega_begin_array(w, "text");
	for (size_t i = 0; i < v->l->n_headline; i++)
		tg_jw_str(w, v->l->headline[i]);
	tg_jw_end_array(w);
	if (v->l->note)
		tg_vega_put_text(w, "subtitle", v->l->note);
	tg_jw_end_object(w);
}

void tg_chart_vega(const struct tg_chart *c, struct tg_buf *out)
{
	struct tg_layout l;
	struct tg_vega v = { .l = &l };
	struct tg_jw *w = &v.w;

	tg_layout_init(&l, c);
	tg_vega_data_init(&v.data, &l);
	v.width = l.right - l.left;
	tg_jw_init(w, out);
	tg_jw_begin_object(w);
	put_head(&v);
	tg_vega_begin_object(w, "datasets");
	tg_vega_put_bands(&v);
	if (l.n_flags)
		tg_vega_put_flags(&v);
	tg_jw_end_object(w);
	if (v.data.n_series)
		put_data(&v);
	tg_jw_kint(w, "spacing", 10);
	tg_vega_begin_array(w, "vconcat");
	if (l.n_lanes)
		tg_vega_put_strip(&v);
	if (l.n_flags)
		tg_vega_put_flag_row(&v);
	for (size_t i = 0; i < c->n_panels; i++)
		put_panel(&v, i);
	if (c->n_cells)
		tg_vega_put_cells(&v);
	if (c->n_rows)
		put_table(&v);
	tg_jw_end_array(w);
	tg_jw_end_object(w);
	tg_vega_data_release(&v.data);
	tg_layout_release(&l);
}
