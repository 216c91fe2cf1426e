/* SPDX-License-Identifier: BSD-3-Clause */
/* What a script needs to read values from a chart that tg_chart_svg has drawn. */
#include <math.h>

#include "base/json.h"
#include "render/chart.h"
#include "render/layout.h"
#include "render/palette.h"

#include "base/mem.h"

#define DIGITS 4

static void put_number(struct tg_jw *w, double v)
{
	char text[TG_NUM_SIZE];

	if (isfinite(v))
		tg_jw_raw(w, text, tg_num_digits(v, DIGITS, text));
	else
		tg_jw_null(w);
}

static void put_values(struct tg_jw *w, const char *key, const struct tg_series *s, bool max)
{
	tg_jw_key(w, key);
	tg_jw_begin_array(w);
	for (size_t i = 0; i < s->n_buckets; i++)
		put_number(w, max ? s->bucket[i].max : s->bucket[i].mean);
	tg_jw_end_array(w);
}

static bool has_extremes(const struct tg_series *s)
{
	for (size_t i = 0; i < s->n_buckets; i++)
		if (s->bucket[i].max > s->bucket[i].mean * 1.001)
			return true;
	return false;
}

static void put_series(struct tg_jw *w, const struct tg_series *s)
{
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "name", s->name ? s->name : "");
	tg_jw_kstr(w, "hue", tg_hue_hex(s->hue));
	tg_jw_key(w, "t0");
	put_number(w, s->n_buckets ? s->bucket[0].t0 : NAN);
	tg_jw_key(w, "t1");
	put_number(w, s->n_buckets ? s->bucket[s->n_buckets - 1].t1 : NAN);
	put_values(w, "mean", s, false);
	if (!(s->style & TG_STYLE_FAINT) && has_extremes(s))
		put_values(w, "max", s, true);
	tg_jw_end_object(w);
}

void tg_chart_data(const struct tg_chart *c, struct tg_buf *out)
{
	struct tg_layout l;
	struct tg_jw w;

	tg_layout_init(&l, c);
	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_key(&w, "end");
	tg_jw_num(&w, l.t_end);
	tg_jw_key(&w, "left");
	tg_jw_fixed(&w, l.left, 1);
	tg_jw_key(&w, "right");
	tg_jw_fixed(&w, l.right, 1);
	tg_jw_key(&w, "panels");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < c->n_panels; i++) {
		const struct tg_panel *p = &c->panel[i];

		tg_jw_begin_object(&w);
		tg_jw_kstr(&w, "unit", p->unit ? p->unit : "");
		tg_jw_key(&w, "top");
		tg_jw_fixed(&w, l.panel[i].top, 1);
		tg_jw_key(&w, "bottom");
		tg_jw_fixed(&w, l.panel[i].bottom, 1);
		tg_jw_kbool(&w, "heat", p->heat);
		tg_jw_key(&w, "series");
		tg_jw_begin_array(&w);
		for (size_t k = 0; k < p->n_series; k++)
			put_series(&w, &p->series[k]);
		tg_jw_end_array(&w);
		tg_jw_end_object(&w);
	}
	tg_jw_end_array(&w);
	tg_jw_end_object(&w);
	tg_layout_release(&l);
}
