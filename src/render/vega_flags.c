/* SPDX-License-Identifier: BSD-3-Clause */
/* Named moments: a row of names above the panels, and lines through it and each of them. */
#include "render/vega_part.h"

#include "base/mem.h"

void tg_vega_put_flags(struct tg_vega *v)
{
	struct tg_jw *w = &v->w;

	tg_vega_begin_array(w, "flags");
	for (size_t i = 0; i < v->l->n_flags; i++) {
		const struct tg_flag_box *box = &v->l->flag[i];
		const struct tg_flag *flag = &v->l->chart->flag[box->of];

		tg_jw_begin_object(w);
		tg_vega_put_key_number(w, "t", flag->t);
		tg_vega_put_text(w, "n", flag->name);
		tg_jw_kstr(w, "l", box->name ? box->name : "");
		tg_jw_kint(w, "left", box->left);
		tg_vega_put_key_number(w, "y", box->top);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
}

static void put_tooltip(struct tg_jw *w)
{
	tg_vega_begin_array(w, "tooltip");
	TG_RAW(w, "{\"field\":\"n\",\"type\":\"nominal\",\"title\":\"mark\"}");
	TG_RAW(w, "{\"field\":\"t\",\"type\":\"quantitative\",\"title\":\"time s\"}");
	tg_jw_end_array(w);
}

/* Lines through a panel, or in the row of the names. */
static void put_rules(struct tg_vega *v, bool row)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"name\":\"flags\"}");
	tg_vega_begin_mark(w, "rule", TG_GREY_BOTH);
	tg_vega_put_key_number(w, "opacity", 0.6);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	if (row) {
		tg_vega_begin_object(w, "y");
		tg_jw_kstr(w, "field", "y");
		tg_jw_kstr(w, "type", "quantitative");
		tg_vega_put_domain(w, TG_FLAG_HEIGHT, true);
		tg_jw_key(w, "axis");
		tg_jw_null(w);
		tg_jw_end_object(w);
		tg_vega_begin_object(w, "y2");
		tg_jw_kint(w, "datum", TG_FLAG_HEIGHT);
		tg_jw_end_object(w);
		put_tooltip(w);
	}
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

void tg_vega_put_flag_rules(struct tg_vega *v)
{
	put_rules(v, false);
}

static void put_names(struct tg_vega *v, bool left)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"name\":\"flags\"}");
	tg_jw_key(w, "transform");
	if (left)
		TG_RAW(w, "[{\"filter\":\"datum.left\"}]");
	else
		TG_RAW(w, "[{\"filter\":\"!datum.left\"}]");
	tg_vega_begin_mark(w, "text", TG_GREY_BOTH);
	tg_jw_kstr(w, "align", left ? "right" : "left");
	tg_jw_kstr(w, "baseline", "middle");
	tg_jw_kint(w, "dx", left ? -TG_FLAG_GAP : TG_FLAG_GAP);
	tg_vega_put_key_number(w, "fontSize", TG_SIZE_SMALL);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	tg_vega_put_pixels(w, "y", 7);
	tg_jw_key(w, "text");
	TG_RAW(w, "{\"field\":\"l\",\"type\":\"nominal\"}");
	put_tooltip(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

void tg_vega_put_flag_row(struct tg_vega *v)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_vega_put_key_number(w, "width", v->width);
	tg_vega_put_key_number(w, "height", TG_FLAG_HEIGHT);
	tg_vega_begin_array(w, "layer");
	put_rules(v, true);
	put_names(v, false);
	put_names(v, true);
	tg_jw_end_array(w);
	tg_jw_end_object(w);
}
