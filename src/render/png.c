/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PNG: cairo's image surface for shapes, FreeType's outlines as cairo paths for text, so that
 * neither fontconfig nor a font of the machine is ever asked for. White background, on purpose:
 * docs/decisions/0004-pictures.md.
 */
#include <errno.h>
#include <math.h>

#include <cairo.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include "base/utf8.h"
#include "render/canvas.h"
#include "render/chart.h"
#include "render/draw.h"
#include "render/layout.h"
#include "render/png_file.h"

#include "base/mem.h"

#define PIXELS_MOST 30000 /* a side; cairo's own limit is 32767 */
#define DPI_METRE   3780 /* 96 pixels an inch */

struct png {
	struct tg_canvas canvas;
	cairo_t *cr;
	const struct tg_font *font;
	double scale;
};

/* FreeType's outline callbacks draw here; y grows upwards in an outline. */
struct pencil {
	cairo_t *cr;
	double x, y; /* origin of the glyph */
	double px, py; /* where the outline is */
};

static double at_x(const struct pencil *p, const FT_Vector *v)
{
	return p->x + (double)v->x / 64;
}

static double at_y(const struct pencil *p, const FT_Vector *v)
{
	return p->y - (double)v->y / 64;
}

static void settle(struct pencil *p, double x, double y)
{
	p->px = x;
	p->py = y;
}

static int move_to(const FT_Vector *to, void *user)
{
	struct pencil *p = user;

	cairo_close_path(p->cr);
	cairo_move_to(p->cr, at_x(p, to), at_y(p, to));
	settle(p, at_x(p, to), at_y(p, to));
	return 0;
}

static int line_to(const FT_Vector *to, void *user)
{
	struct pencil *p = user;

	cairo_line_to(p->cr, at_x(p, to), at_y(p, to));
	settle(p, at_x(p, to), at_y(p, to));
	return 0;
}

static int conic_to(const FT_Vector *c, const FT_Vector *to, void *user)
{
	struct pencil *p = user;
	double cx = at_x(p, c), cy = at_y(p, c), x = at_x(p, to), y = at_y(p, to);

	cairo_curve_to(p->cr, p->px + (cx - p->px) * 2 / 3, p->py + (cy - p->py) * 2 / 3,
		x + (cx - x) * 2 / 3, y + (cy - y) * 2 / 3, x, y);
	settle(p, x, y);
	return 0;
}

static int cubic_to(const FT_Vector *a, const FT_Vector *b, const FT_Vector *to, void *user)
{
	struct pencil *p = user;

	cairo_curve_to(
		p->cr, at_x(p, a), at_y(p, a), at_x(p, b), at_y(p, b), at_x(p, to), at_y(p, to));
	settle(p, at_x(p, to), at_y(p, to));
	return 0;
}

static const FT_Outline_Funcs outline_funcs = { move_to, line_to, conic_to, cubic_to, 0, 0 };

static void set_source(cairo_t *cr, enum tg_ink ink, double opacity)
{
	uint32_t c = tg_ink_light(ink);

	cairo_set_source_rgba(
		cr, (c >> 16 & 255) / 255.0, (c >> 8 & 255) / 255.0, (c & 255) / 255.0, opacity);
}

/* Fill or stroke the path that is there. */
static void apply(struct png *png, const struct tg_pen *pen)
{
	static const double dash[] = { 5, 3 };

	/* a third of the time; only text shows a difference */
	cairo_set_antialias(png->cr, CAIRO_ANTIALIAS_FAST);
	set_source(png->cr, pen->ink, pen->opacity);
	if (pen->width <= 0) {
		cairo_fill(png->cr);
		return;
	}
	cairo_set_line_width(png->cr, pen->width);
	cairo_set_line_join(png->cr, CAIRO_LINE_JOIN_ROUND);
	cairo_set_line_cap(png->cr, pen->dashed ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
	cairo_set_dash(png->cr, dash, pen->dashed ? 2 : 0, 0);
	cairo_stroke(png->cr);
}

static void png_begin(struct tg_canvas *cv, const char *role, const char *name)
{
	(void)cv, (void)role, (void)name; /* an image has no parts */
}

static void png_end(struct tg_canvas *cv)
{
	(void)cv;
}

static void png_rect(struct tg_canvas *cv, double x, double y, double w, double h, double radius,
	const struct tg_pen *pen, const char *tip)
{
	struct png *png = (struct png *)cv;
	double r = fmin(radius, fmin(w, h) / 2);

	(void)tip;
	if (r > 0) {
		cairo_new_sub_path(png->cr);
		cairo_arc(png->cr, x + w - r, y + r, r, -M_PI / 2, 0);
		cairo_arc(png->cr, x + w - r, y + h - r, r, 0, M_PI / 2);
		cairo_arc(png->cr, x + r, y + h - r, r, M_PI / 2, M_PI);
		cairo_arc(png->cr, x + r, y + r, r, M_PI, 3 * M_PI / 2);
		cairo_close_path(png->cr);
	} else {
		cairo_rectangle(png->cr, x, y, w, h);
	}
	apply(png, pen);
}

static void png_path(
	struct tg_canvas *cv, const struct tg_point *p, size_t n, const struct tg_pen *pen)
{
	struct png *png = (struct png *)cv;

	for (size_t i = 0; i < n; i++)
		cairo_line_to(png->cr, p[i].x, p[i].y);
	if (pen->width <= 0)
		cairo_close_path(png->cr);
	apply(png, pen);
}

static void png_runs(
	struct tg_canvas *cv, const struct tg_run *run, size_t n, const struct tg_pen *pen)
{
	struct png *png = (struct png *)cv;

	set_source(png->cr, pen->ink, pen->opacity);
	for (size_t i = 0; i < n; i++)
		cairo_rectangle(
			png->cr, run[i].x, run[i].y - pen->width / 2, run[i].length, pen->width);
	cairo_fill(png->cr);
}

static void png_dot(struct tg_canvas *cv, double x, double y, double r, const struct tg_pen *pen)
{
	struct png *png = (struct png *)cv;

	cairo_arc(png->cr, x, y, r, 0, 2 * M_PI);
	apply(png, pen);
}

/* Hinted vertically only (FreeType's light mode) on whole pixel rows: crisp at 11 pixels. */
static void png_text(struct tg_canvas *cv, const struct tg_label *at, const char *text)
{
	struct png *png = (struct png *)cv;
	FT_Face face = tg_font_face(png->font);
	double size = at->size * png->scale;
	double w = tg_font_width(png->font, text, size, at->bold);
	size_t len = strlen(text);
	struct pencil pencil = { .cr = png->cr,
		.x = at->x * png->scale - (at->anchor == TG_ANCHOR_END             ? w
						  : at->anchor == TG_ANCHOR_MIDDLE ? w / 2
										   : 0),
		.y = floor(at->y * png->scale + 0.5) };

	if (!face || FT_Set_Char_Size(face, 0, (FT_F26Dot6)(size * 64), 72, 72))
		return;
	cairo_save(png->cr);
	cairo_identity_matrix(png->cr);
	cairo_set_antialias(png->cr, CAIRO_ANTIALIAS_DEFAULT);
	cairo_new_path(png->cr);
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t cp;

		n = tg_utf8_decode(text + i, len - i, &cp);
		if (!n)
			break; /* not clean: a fault of the caller */
		if (!FT_Load_Glyph(face, FT_Get_Char_Index(face, cp),
			    FT_LOAD_TARGET_LIGHT | FT_LOAD_NO_BITMAP) &&
			face->glyph->format == FT_GLYPH_FORMAT_OUTLINE) {
			if (at->bold)
				FT_Outline_EmboldenXY(
					&face->glyph->outline, (FT_Pos)(size * 64 * 0.055), 0);
			FT_Outline_Decompose(&face->glyph->outline, &outline_funcs, &pencil);
			cairo_close_path(png->cr);
		}
		pencil.x += tg_font_advance(png->font, cp, at->bold) * size;
	}
	if (at->halo) {
		set_source(png->cr, TG_INK_BACK, 1);
		cairo_set_dash(png->cr, NULL, 0, 0);
		cairo_set_line_join(png->cr, CAIRO_LINE_JOIN_ROUND);
		cairo_set_line_width(png->cr, 3 * png->scale);
		cairo_stroke_preserve(png->cr);
	}
	set_source(png->cr, at->ink, 1);
	cairo_fill(png->cr);
	cairo_restore(png->cr);
}

/* The surface's pixels as a palette image. */
static void write_surface(cairo_surface_t *surface, double scale, struct tg_buf *out)
{
	size_t w = (size_t)cairo_image_surface_get_width(surface);
	size_t h = (size_t)cairo_image_surface_get_height(surface);
	size_t stride = (size_t)cairo_image_surface_get_stride(surface) / sizeof(uint32_t);
	uint32_t *rgb = (uint32_t *)(void *)cairo_image_surface_get_data(surface);
	uint8_t *index = tg_xmalloc(w * h);
	uint32_t colour[TG_PNG_COLOURS], inks[TG_N_INKS];
	size_t n;

	for (size_t i = 0; i < TG_N_INKS; i++)
		inks[i] = tg_ink_light((enum tg_ink)i);

	for (size_t y = 1; stride != w && y < h; y++)
		memmove(rgb + y * w, rgb + y * stride, w * sizeof(*rgb));
	n = tg_png_quantize(rgb, w * h, inks, TG_N_INKS, index, colour);
	tg_png_write(
		out, index, (uint32_t)w, (uint32_t)h, colour, n, (uint32_t)(DPI_METRE * scale));
	free(index);
}

int tg_chart_png(const struct tg_chart *c, double scale, struct tg_buf *out, struct tg_err *err)
{
	struct png png = { .canvas = { png_begin, png_end, png_rect, png_path, png_runs, png_dot,
				   png_text } };
	cairo_surface_t *surface = NULL;
	struct tg_layout l;
	double w, h;
	int r = 0;

	png.scale = scale >= 1 && scale <= 4 ? scale : 1;
	tg_layout_init(&l, c);
	w = ceil(l.width * png.scale);
	h = ceil(l.height * png.scale);
	if (w > PIXELS_MOST || h > PIXELS_MOST) {
		r = tg_err_set(
			err, -EFBIG, "a picture of %.0f by %.0f pixels is too large for PNG", w, h);
		goto out;
	}
	surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)w, (int)h);
	png.cr = cairo_create(surface);
	png.font = l.font;
	set_source(png.cr, TG_INK_BACK, 1);
	cairo_paint(png.cr);
	cairo_scale(png.cr, png.scale, png.scale);
	tg_chart_draw(&l, &png.canvas);
	if (cairo_status(png.cr)) {
		r = tg_err_set(err, -ENOMEM, "cairo could not draw the picture: %s",
			cairo_status_to_string(cairo_status(png.cr)));
		goto out;
	}
	cairo_surface_flush(surface);
	write_surface(surface, png.scale, out);
out:
	if (png.cr)
		cairo_destroy(png.cr);
	if (surface)
		cairo_surface_destroy(surface);
	tg_layout_release(&l);
	return r;
}
