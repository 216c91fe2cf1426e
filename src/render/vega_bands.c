/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells and stages: the strip above the panels and the shades within them. */
#include <math.h>

#include "render/vega_part.h"

#include "base/mem.h"

void tg_vega_put_bands(struct tg_vega *v)
{
	double pixel = v->l->t_end / v->width;

	tg_vega_begin_array(&v->w, "bands");
	for (size_t i = 0; i < v->l->n_bands; i++) {
		const struct tg_band_box *b = &v->l->band[i];
		double end = b->failed ? fmax(b->t1, b->t0 + 2 * pixel) : b->t1;
		double pixels = tg_layout_x(v->l, b->t1) - tg_layout_x(v->l, b->t0);
		struct tg_buf text = TG_BUF_INIT;

		tg_jw_begin_object(&v->w);
		tg_vega_put_key_number(&v->w, "a", fmax(b->t0, 0));
		tg_vega_put_key_number(&v->w, "b", fmin(end, v->l->t_end));
		tg_jw_kint(&v->w, "k", b->lane);
		tg_jw_kint(&v->w, "k2", b->lane + 1);
		tg_vega_put_text(&v->w, "n", b->label);
		if (b->failed)
			tg_buf_adds(&text, pixels > 60 ? "✗ " : "");
		if (pixels > 24 && b->label)
			tg_font_fit(v->l->font, b->label, TG_SIZE_TEXT, true,
				pixels - 10 - (b->failed ? 12 : 0), &text);
		tg_jw_kstr(&v->w, "l", text.data);
		tg_buf_release(&text);
		tg_jw_kstr(&v->w, "c", b->failed ? "#d1383d" : TG_GREY_BOTH);
		tg_vega_put_key_number(&v->w, "o", b->failed || b->odd ? 0.3 : 0.16);
		tg_vega_put_key_number(&v->w, "s",
			b->lane     ? 0
			: b->failed ? 0.1
			: b->odd    ? 0.08
				    : 0);
		tg_jw_end_object(&v->w);
	}
	tg_jw_end_array(&v->w);
}

static void put_as_is(struct tg_jw *w, const char *channel, const char *field, const char *type)
{
	tg_vega_begin_object(w, channel);
	tg_jw_kstr(w, "field", field);
	tg_jw_kstr(w, "type", type);
	tg_jw_key(w, "scale");
	tg_jw_null(w);
	tg_jw_end_object(w);
}

void tg_vega_begin_band_rects(struct tg_vega *v, const char *opacity)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"name\":\"bands\"}");
	tg_vega_begin_mark(w, "rect", TG_GREY_BOTH);
	tg_jw_kbool(w, "clip", true);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "a");
	tg_jw_key(w, "x2");
	TG_RAW(w, "{\"field\":\"b\"}");
	put_as_is(w, "color", "c", "nominal");
	put_as_is(w, "opacity", opacity, "quantitative");
}

static void put_strip_y(struct tg_vega *v)
{
	tg_vega_begin_object(&v->w, "y");
	tg_jw_kstr(&v->w, "field", "k");
	tg_jw_kstr(&v->w, "type", "quantitative");
	tg_vega_put_domain(&v->w, (double)v->l->n_lanes, true);
	tg_jw_key(&v->w, "axis");
	tg_jw_null(&v->w);
	tg_jw_end_object(&v->w);
}

void tg_vega_put_strip(struct tg_vega *v)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_vega_put_key_number(w, "width", v->width);
	tg_vega_put_key_number(w, "height", TG_STRIP_HEIGHT * (double)v->l->n_lanes);
	tg_vega_begin_array(w, "layer");

	tg_vega_begin_band_rects(v, "o");
	put_strip_y(v);
	tg_jw_key(w, "y2");
	TG_RAW(w, "{\"field\":\"k2\"}");
	tg_vega_begin_array(w, "tooltip");
	TG_RAW(w, "{\"field\":\"n\",\"type\":\"nominal\",\"title\":\"cell\"}");
	TG_RAW(w, "{\"field\":\"a\",\"type\":\"quantitative\",\"title\":\"from s\"}");
	TG_RAW(w, "{\"field\":\"b\",\"type\":\"quantitative\",\"title\":\"to s\"}");
	tg_jw_end_array(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"name\":\"bands\"}");
	tg_vega_begin_mark(w, "text", TG_GREY_BOTH);
	tg_jw_kstr(w, "align", "left");
	tg_jw_kstr(w, "baseline", "middle");
	tg_jw_kint(w, "dx", 6);
	tg_jw_kint(w, "dy", TG_STRIP_HEIGHT / 2);
	tg_vega_put_key_number(w, "fontSize", TG_SIZE_TEXT);
	tg_jw_kint(w, "fontWeight", 600);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "a");
	put_strip_y(v);
	tg_jw_key(w, "text");
	TG_RAW(w, "{\"field\":\"l\",\"type\":\"nominal\"}");
	tg_jw_end_object(w);
	tg_jw_end_object(w);

	tg_jw_end_array(w);
	tg_jw_end_object(w);
}
