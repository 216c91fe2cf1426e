/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of a Vega-Lite specification that vega.c and its neighbours are made of. Each writes JSON
 * at the place where the writer is. A scale never comes without its domain.
 */
#ifndef TG_RENDER_VEGA_PART_H
#define TG_RENDER_VEGA_PART_H

#include "base/json.h"
#include "render/layout.h"
#include "render/palette.h"
#include "render/vega_data.h"

struct tg_vega {
	struct tg_jw w;
	const struct tg_layout *l;
	struct tg_vega_data data;
	double width; /* of the plots */
	size_t first; /* series before the panel */
	bool time_axis; /* time is labelled in this view: all its layers must say the same */
};

/* A literal of JSON. */
#define TG_RAW(w, json) tg_jw_raw((w), "" json, sizeof(json) - 1)

void tg_vega_put_number(struct tg_jw *w, double v, int digits);
void tg_vega_put_key_number(struct tg_jw *w, const char *key, double v); /* six digits */
void tg_vega_put_text(struct tg_jw *w, const char *key, const char *s); /* any bytes; NULL: "" */
void tg_vega_begin_object(struct tg_jw *w, const char *key);
void tg_vega_begin_array(struct tg_jw *w, const char *key);

/* "scale" with the domain [0, end]. */
void tg_vega_put_domain(struct tg_jw *w, double end, bool reverse);

/* "axis" with the ticks and labels of the other writers, not Vega's. */
void tg_vega_put_axis(struct tg_jw *w, const struct tg_ticks *t, bool labels, bool grid);

/* Channels: time, a panel's value, a place in pixels. */
void tg_vega_put_x(struct tg_vega *v, const char *field);
void tg_vega_put_y(struct tg_vega *v, const struct tg_panel_box *box, const char *field);
void tg_vega_put_pixels(struct tg_jw *w, const char *channel, double value);

/* "mark", left open for more properties. */
void tg_vega_begin_mark(struct tg_jw *w, const char *type, const char *colour);

struct tg_vega_label {
	double x, y, size; /* pixels of the view */
	const char *align, *baseline;
	bool bold;
};

/* A layer of one text. */
void tg_vega_put_label(struct tg_vega *v, const struct tg_vega_label *at, const char *s);

/* The member "bands" of "datasets"; the strip as a view; the shades of a panel, left open. */
void tg_vega_put_bands(struct tg_vega *v);
void tg_vega_put_strip(struct tg_vega *v);
void tg_vega_begin_band_rects(struct tg_vega *v, const char *opacity);

/* The member "flags" of "datasets"; the row of names as a view; the lines in a view. */
void tg_vega_put_flags(struct tg_vega *v);
void tg_vega_put_flag_row(struct tg_vega *v);
void tg_vega_put_flag_rules(struct tg_vega *v);

/* The rows of a heat map, as layers. */
void tg_vega_put_heat(struct tg_vega *v, const struct tg_panel *p, const struct tg_panel_box *box);

/* The list of cells as views side by side. */
void tg_vega_put_cells(struct tg_vega *v);

#endif
