/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SVG as text: real <text>, ids under the caller's prefix, no script, no external thing. Text and
 * background follow JupyterLab's theme where its CSS variables exist, else the system's; hues are
 * the same in both. The background is drawn, so that text is legible wherever the file is opened.
 */
#include <math.h>

#include "base/xml.h"
#include "render/canvas.h"
#include "render/chart.h"
#include "render/draw.h"
#include "render/layout.h"

#include "base/mem.h"

struct svg {
	struct tg_canvas canvas;
	struct tg_buf *out;
};

static const char *const ink_class[TG_N_INKS] = { [TG_INK_TEXT] = "tg-t",
	[TG_INK_MUTED] = "tg-m",
	[TG_INK_GRID] = "tg-g",
	[TG_INK_BACK] = "tg-b" };

/* Coordinates have one decimal: a tenth of a pixel. `out` has room for 24 bytes. */
static size_t write_tenths(double v, char *out)
{
	char digit[24];
	size_t n = 0, k = 0;
	long long tenths = (long long)(fabs(v) * 10 + 0.5);
	long long whole = tenths / 10;

	if (v < 0 && tenths)
		out[n++] = '-';
	do
		digit[k++] = (char)('0' + whole % 10);
	while (whole /= 10);
	while (k)
		out[n++] = digit[--k];
	if (tenths % 10) {
		out[n++] = '.';
		out[n++] = (char)('0' + tenths % 10);
	}
	return n;
}

static void put_num(struct tg_buf *out, double v)
{
	char text[24];

	tg_buf_add(out, text, write_tenths(v, text));
}

static void put_attr(struct tg_buf *out, const char *name, double v)
{
	tg_buf_addc(out, ' ');
	tg_buf_adds(out, name);
	tg_buf_adds(out, "=\"");
	put_num(out, v);
	tg_buf_addc(out, '"');
}

static void put_opacity(struct tg_buf *out, const char *name, double v)
{
	char text[TG_NUM_SIZE];

	if (v >= 1)
		return;
	tg_num_fixed(v, 2, text);
	tg_buf_addf(out, " %s=\"%s\"", name, text);
}

/* Any bytes, cleaned and bounded. */
static void put_name(struct tg_buf *out, const char *s)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_text_clean(s, 200, &text);
	tg_xml_text(out, text.data);
	tg_buf_release(&text);
}

/* Hues are written out; the rest is a class, which the style sheet gives its variable. */
static void put_paint(struct tg_buf *out, const struct tg_pen *pen)
{
	const char *attr = pen->width > 0 ? "stroke" : "fill";
	const char *cls = ink_class[pen->ink];

	if (cls || pen->role)
		tg_buf_addf(out, " class=\"%s%s%s%s%s\"", cls ? cls : "",
			cls && pen->width > 0 ? "l" : "", cls && pen->role ? " " : "",
			pen->role ? "tg-" : "", pen->role ? pen->role : "");
	if (!cls)
		tg_buf_addf(out, " %s=\"#%06x\"", attr, tg_ink_light(pen->ink));
	put_opacity(out, pen->width > 0 ? "stroke-opacity" : "fill-opacity", pen->opacity);
	if (pen->width > 0) {
		put_attr(out, "stroke-width", pen->width);
		tg_buf_adds(out,
			pen->dashed ? " fill=\"none\" stroke-dasharray=\"5 3\"" : " fill=\"none\"");
	}
}

static void svg_begin(struct tg_canvas *cv, const char *role, const char *name)
{
	struct tg_buf *out = ((struct svg *)cv)->out;

	tg_buf_addf(out, "<g class=\"tg-%s\" data-name=\"", role);
	put_name(out, name ? name : "");
	tg_buf_adds(out, "\">\n");
}

static void svg_end(struct tg_canvas *cv)
{
	tg_buf_adds(((struct svg *)cv)->out, "</g>\n");
}

static void svg_rect(struct tg_canvas *cv, double x, double y, double w, double h, double radius,
	const struct tg_pen *pen, const char *tip)
{
	struct tg_buf *out = ((struct svg *)cv)->out;

	tg_buf_adds(out, "<rect");
	put_attr(out, "x", x);
	put_attr(out, "y", y);
	put_attr(out, "width", w);
	put_attr(out, "height", h);
	if (radius > 0)
		put_attr(out, "rx", radius);
	put_paint(out, pen);
	if (tip) {
		tg_buf_adds(out, "><title>");
		put_name(out, tip);
		tg_buf_adds(out, "</title></rect>\n");
	} else {
		tg_buf_adds(out, "/>\n");
	}
}

static void svg_path(
	struct tg_canvas *cv, const struct tg_point *p, size_t n, const struct tg_pen *pen)
{
	struct tg_buf *out = ((struct svg *)cv)->out;
	char *at;

	tg_buf_adds(out, "<path");
	put_paint(out, pen);
	tg_buf_adds(out, " d=\"");
	tg_buf_reserve(out, 50 * n);
	at = out->data + out->len;
	for (size_t i = 0; i < n; i++) {
		*at++ = i ? ' ' : 'M';
		at += write_tenths(p[i].x, at);
		*at++ = ',';
		at += write_tenths(p[i].y, at);
	}
	*at = '\0';
	out->len = (size_t)(at - out->data);
	tg_buf_adds(out, pen->width > 0 ? "\"/>\n" : "z\"/>\n");
}

static void svg_runs(
	struct tg_canvas *cv, const struct tg_run *run, size_t n, const struct tg_pen *pen)
{
	struct tg_buf *out = ((struct svg *)cv)->out;

	tg_buf_adds(out, "<path");
	put_paint(out, pen);
	tg_buf_adds(out, " d=\"");
	for (size_t i = 0; i < n; i++) {
		tg_buf_addc(out, 'M');
		put_num(out, run[i].x);
		tg_buf_addc(out, ',');
		put_num(out, run[i].y);
		tg_buf_addc(out, 'h');
		put_num(out, run[i].length);
	}
	tg_buf_adds(out, "\"/>\n");
}

static void svg_dot(struct tg_canvas *cv, double x, double y, double r, const struct tg_pen *pen)
{
	struct tg_buf *out = ((struct svg *)cv)->out;

	tg_buf_adds(out, "<circle");
	put_attr(out, "cx", x);
	put_attr(out, "cy", y);
	put_attr(out, "r", r);
	put_paint(out, pen);
	tg_buf_adds(out, "/>\n");
}

static void svg_text(struct tg_canvas *cv, const struct tg_label *at, const char *text)
{
	static const char *const anchor[] = { "", " text-anchor=\"middle\"",
		" text-anchor=\"end\"" };
	struct tg_buf *out = ((struct svg *)cv)->out;
	const char *cls = ink_class[at->ink];

	tg_buf_adds(out, "<text");
	put_attr(out, "x", at->x);
	put_attr(out, "y", at->y);
	put_attr(out, "font-size", at->size);
	tg_buf_addf(out, " class=\"%s%s\"", cls ? cls : "", at->halo ? " tg-h" : "");
	if (!cls)
		tg_buf_addf(out, " fill=\"#%06x\"", tg_ink_light(at->ink));
	if (at->bold)
		tg_buf_adds(out, " font-weight=\"600\"");
	tg_buf_adds(out, anchor[at->anchor]);
	tg_buf_addc(out, '>');
	tg_xml_text(out, text);
	tg_buf_adds(out, "</text>\n");
}

static void put_style(struct tg_buf *out, const char *id)
{
	static const struct {
		const char *name, *jupyter;
		enum tg_ink ink;
	} var[] = {
		{ "back", "--jp-layout-color0", TG_INK_BACK },
		{ "text", "--jp-ui-font-color1", TG_INK_TEXT },
		{ "mute", "--jp-ui-font-color2", TG_INK_MUTED },
		{ "grid", "--jp-ui-font-color2", TG_INK_GRID },
	};
	static const struct {
		const char *cls, *property, *name;
		enum tg_ink ink;
	} rule[] = {
		{ "tg-t", "fill", "text", TG_INK_TEXT },
		{ "tg-tl", "stroke", "text", TG_INK_TEXT },
		{ "tg-m", "fill", "mute", TG_INK_MUTED },
		{ "tg-g", "fill", "grid", TG_INK_GRID },
		{ "tg-gl", "stroke", "grid", TG_INK_GRID },
		{ "tg-b", "fill", "back", TG_INK_BACK },
	};

	tg_buf_adds(out, "<style>\n");
	for (int dark = 0; dark < 2; dark++) {
		tg_buf_addf(out, "%s#%s{", dark ? "@media(prefers-color-scheme:dark){" : "", id);
		for (size_t i = 0; i < TG_ARRAY_SIZE(var); i++)
			tg_buf_addf(out, "--tg-%s:var(%s,#%06x);", var[i].name, var[i].jupyter,
				dark ? tg_ink_dark(var[i].ink) : tg_ink_light(var[i].ink));
		tg_buf_adds(out, dark ? "}}\n" : "}\n");
	}
	/* Programs without CSS variables skip the second declaration and keep the first. */
	for (size_t i = 0; i < TG_ARRAY_SIZE(rule); i++)
		tg_buf_addf(out, "#%s .%s{%s:#%06x;%s:var(--tg-%s)}\n", id, rule[i].cls,
			rule[i].property, tg_ink_light(rule[i].ink), rule[i].property,
			rule[i].name);
	tg_buf_addf(out,
		"#%s "
		".tg-h{paint-order:stroke;stroke-width:3px;stroke-linejoin:round;stroke:#ffffff;"
		"stroke:var(--tg-back)}\n"
		"#%s path{stroke-linejoin:round;stroke-linecap:round}\n"
		"#%s .tg-heat,#%s .tg-limit,#%s "
		"[stroke-dasharray]{stroke-linecap:butt}\n</style>\n",
		id, id, id, id, id);
}

void tg_chart_svg(const struct tg_chart *c, const char *prefix, struct tg_buf *out)
{
	struct svg svg = { .canvas = { svg_begin, svg_end, svg_rect, svg_path, svg_runs, svg_dot,
				   svg_text },
		.out = out };
	struct tg_pen back = { .ink = TG_INK_BACK, .opacity = 1 };
	struct tg_buf text = TG_BUF_INIT;
	struct tg_layout l;

	tg_layout_init(&l, c);
	tg_buf_addf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"%s\" role=\"img\" "
		"aria-labelledby=\"%s-title %s-desc\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" style=\"max-width:100%%;height:auto\" "
		"font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
		"Sans',sans-serif\">\n",
		prefix, prefix, prefix, (int)l.width, (int)l.height, (int)l.width, (int)l.height);
	tg_buf_addf(out, "<title id=\"%s-title\">", prefix);
	put_name(out, c->headline ? c->headline : "");
	tg_buf_addf(out, "</title>\n<desc id=\"%s-desc\">", prefix);
	tg_chart_text(c, &text);
	tg_xml_text(out, text.data);
	tg_buf_release(&text);
	tg_buf_adds(out, "</desc>\n");
	put_style(out, prefix);
	svg_rect(&svg.canvas, 0, 0, l.width, l.height, 0, &back, NULL);
	tg_chart_draw(&l, &svg.canvas);
	tg_buf_adds(out, "</svg>\n");
	tg_layout_release(&l);
}
