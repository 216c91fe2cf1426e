/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/vega_part.h"

#include "base/mem.h"

#define LABEL_CHARS 120

void tg_vega_put_number(struct tg_jw *w, double v, int digits)
{
	char text[TG_NUM_SIZE];

	tg_jw_raw(w, text, tg_num_digits(v, digits, text));
}

void tg_vega_put_key_number(struct tg_jw *w, const char *key, double v)
{
	tg_jw_key(w, key);
	tg_vega_put_number(w, v, 6);
}

void tg_vega_put_text(struct tg_jw *w, const char *key, const char *s)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_text_clean(s ? s : "", LABEL_CHARS, &text);
	tg_jw_kstr(w, key, text.data);
	tg_buf_release(&text);
}

void tg_vega_begin_object(struct tg_jw *w, const char *key)
{
	tg_jw_key(w, key);
	tg_jw_begin_object(w);
}

void tg_vega_begin_array(struct tg_jw *w, const char *key)
{
	tg_jw_key(w, key);
	tg_jw_begin_array(w);
}

void tg_vega_put_domain(struct tg_jw *w, double end, bool reverse)
{
	tg_vega_begin_object(w, "scale");
	tg_vega_begin_array(w, "domain");
	tg_jw_int(w, 0);
	tg_vega_put_number(w, end, 9);
	tg_jw_end_array(w);
	tg_jw_kbool(w, "nice", false);
	tg_jw_kbool(w, "zero", false);
	if (reverse)
		tg_jw_kbool(w, "reverse", true);
	tg_jw_end_object(w);
}

/* "values" and "labelExpr": the ticks of the other writers, not Vega's. */
void tg_vega_put_axis(struct tg_jw *w, const struct tg_ticks *t, bool labels, bool grid)
{
	struct tg_buf expr = TG_BUF_INIT;
	char text[TG_NUM_SIZE];

	tg_vega_begin_object(w, "axis");
	tg_vega_begin_array(w, "values");
	for (size_t i = 0; i < t->n; i++)
		tg_vega_put_number(w, (double)i * t->step, 12);
	tg_jw_end_array(w);
	tg_jw_kbool(w, "grid", grid);
	if (labels) {
		tg_buf_addc(&expr, '[');
		for (size_t i = 0; i < t->n; i++) {
			tg_buf_adds(&expr, i ? ",'" : "'");
			tg_tick_label(t, i, text);
			tg_buf_adds(&expr, text);
			tg_buf_addc(&expr, '\'');
		}
		tg_buf_adds(&expr, "][round(datum.value/");
		tg_num_digits(t->step, 12, text);
		tg_buf_addf(&expr, "%s)]", text);
		tg_jw_kstr(w, "labelExpr", expr.data);
		tg_buf_release(&expr);
	} else {
		tg_jw_kbool(w, "labels", false);
	}
	tg_jw_end_object(w);
}

void tg_vega_put_x(struct tg_vega *v, const char *field)
{
	tg_vega_begin_object(&v->w, "x");
	tg_jw_kstr(&v->w, "field", field);
	tg_jw_kstr(&v->w, "type", "quantitative");
	tg_vega_put_domain(&v->w, v->l->t_end, false);
	if (v->time_axis) {
		tg_vega_put_axis(&v->w, &v->l->time, true, false);
	} else {
		tg_jw_key(&v->w, "axis");
		tg_jw_null(&v->w);
	}
	tg_jw_end_object(&v->w);
}

void tg_vega_put_y(struct tg_vega *v, const struct tg_panel_box *box, const char *field)
{
	tg_vega_begin_object(&v->w, "y");
	tg_jw_kstr(&v->w, "field", field);
	tg_jw_kstr(&v->w, "type", "quantitative");
	tg_vega_put_domain(&v->w, box->y_max, false);
	tg_vega_put_axis(&v->w, &box->ticks, true, true);
	tg_jw_end_object(&v->w);
}

void tg_vega_put_pixels(struct tg_jw *w, const char *channel, double value)
{
	tg_vega_begin_object(w, channel);
	tg_jw_key(w, "value");
	tg_vega_put_number(w, value, 6);
	tg_jw_end_object(w);
}

void tg_vega_begin_mark(struct tg_jw *w, const char *type, const char *colour)
{
	tg_vega_begin_object(w, "mark");
	tg_jw_kstr(w, "type", type);
	tg_jw_kstr(w, "color", colour);
}

/* A layer of one text at a place in pixels of the view. */
void tg_vega_put_label(struct tg_vega *v, const struct tg_vega_label *at, const char *s)
{
	struct tg_jw *w = &v->w;

	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	TG_RAW(w, "{\"values\":[{}]}");
	tg_vega_begin_mark(w, "text", TG_GREY_BOTH);
	tg_jw_kstr(w, "align", at->align);
	tg_jw_kstr(w, "baseline", at->baseline);
	tg_vega_put_key_number(w, "fontSize", at->size);
	if (at->bold)
		tg_jw_kint(w, "fontWeight", 600);
	tg_vega_put_text(w, "text", s);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_pixels(w, "x", at->x);
	tg_vega_put_pixels(w, "y", at->y);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}
