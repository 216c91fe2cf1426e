/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a picture is drawn on: SVG text or a PNG image. Pictures are drawn once, through this, so
 * that both agree by construction. Coordinates are pixels from the top left; colours are meanings.
 */
#ifndef TG_RENDER_CANVAS_H
#define TG_RENDER_CANVAS_H

#include "render/font.h"
#include "render/palette.h"

struct tg_point {
	double x, y;
};

/* A bar of the pen's width, from its left end along its middle. */
struct tg_run {
	double x, y, length;
};

struct tg_pen {
	enum tg_ink ink;
	double opacity;
	double width; /* of the stroke; 0: filled */
	bool dashed;
	const char *role; /* "line", "band", "area": class tg-line… in SVG; or NULL */
};

enum tg_anchor { TG_ANCHOR_START, TG_ANCHOR_MIDDLE, TG_ANCHOR_END };

struct tg_label {
	double x, y; /* of the baseline */
	double size;
	enum tg_ink ink;
	enum tg_anchor anchor;
	bool bold;
	bool halo; /* on top of data: with a rim in the colour of the background */
};

struct tg_canvas {
	/* A part with a name: a panel, a series. Nests. `name` may be any bytes. */
	void (*begin)(struct tg_canvas *cv, const char *role, const char *name);
	void (*end)(struct tg_canvas *cv);
	/* `tip` is shown where a pointer rests on it; any bytes, or NULL. */
	void (*rect)(struct tg_canvas *cv, double x, double y, double w, double h, double radius,
		const struct tg_pen *pen, const char *tip);
	void (*path)(
		struct tg_canvas *cv, const struct tg_point *p, size_t n, const struct tg_pen *pen);
	/* Many bars with one pen: they do not touch, and have square ends. */
	void (*runs)(
		struct tg_canvas *cv, const struct tg_run *run, size_t n, const struct tg_pen *pen);
	void (*dot)(struct tg_canvas *cv, double x, double y, double r, const struct tg_pen *pen);
	/* `text` is clean and already fits: see tg_font_fit(). */
	void (*text)(struct tg_canvas *cv, const struct tg_label *at, const char *text);
};

/* Draw `s`, cut to `width` pixels measured in `font`. Returns the width taken, 0 for nothing. */
double tg_canvas_fit(struct tg_canvas *cv, const struct tg_font *font, const struct tg_label *at,
	const char *s, double width);

#endif
