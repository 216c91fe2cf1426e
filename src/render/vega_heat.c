/* SPDX-License-Identifier: BSD-3-Clause */
/* A heat map in Vega-Lite: a layer of rects for each row, all from the one table of samples. */
#include "render/draw.h"
#include "render/vega_part.h"

#include "base/mem.h"

static void put_row(
	struct tg_vega *v, const struct tg_panel *p, const struct tg_panel_box *box, size_t row)
{
	struct tg_jw *w = &v->w;
	double height = tg_heat_row_height(p);
	char field[32];

	snprintf(field, sizeof(field), "m%zu", v->first + row);
	tg_jw_begin_object(w);
	tg_vega_begin_array(w, "transform");
	tg_jw_begin_object(w);
	tg_vega_begin_object(w, "filter");
	tg_jw_kstr(w, "field", field);
	tg_jw_kbool(w, "valid", true);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_jw_end_array(w);
	tg_vega_begin_mark(w, "rect", tg_hue_hex(p->series[row].hue));
	tg_vega_put_key_number(w, "width", v->width / (double)v->data.n_slots + 0.5);
	tg_vega_put_key_number(w, "height", height >= 6 ? height - 1 : height);
	tg_jw_kbool(w, "clip", true);
	tg_jw_end_object(w);
	tg_vega_begin_object(w, "encoding");
	tg_vega_put_x(v, "t");
	tg_vega_put_pixels(w, "y", height * ((double)row + 0.5));
	tg_vega_begin_object(w, "opacity");
	tg_jw_kstr(w, "field", field);
	tg_jw_kstr(w, "type", "quantitative");
	tg_vega_begin_object(w, "scale");
	tg_vega_begin_array(w, "domain");
	tg_vega_put_number(w, 0, 1);
	tg_vega_put_number(w, box->y_max, 6);
	tg_jw_end_array(w);
	tg_vega_begin_array(w, "range");
	tg_vega_put_number(w, tg_heat_opacity(0), 3);
	tg_vega_put_number(w, tg_heat_opacity(1), 3);
	tg_jw_end_array(w);
	tg_jw_kbool(w, "clamp", true);
	tg_jw_end_object(w);
	tg_jw_key(w, "legend");
	tg_jw_null(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

void tg_vega_put_heat(struct tg_vega *v, const struct tg_panel *p, const struct tg_panel_box *box)
{
	for (size_t row = 0; row < p->n_series; row++)
		put_row(v, p, box, row);
}
