/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values that the three writers draw, read back from what they wrote: coordinates of SVG paths,
 * rows of Vega-Lite's data, pixels of the PNG. A chart can look fine and be wrong.
 */
#include "sample_chart.h"

#include <zlib.h>

#include "base/json.h"
#include "render/draw.h"
#include "render/layout.h"
#include "render/vega_data.h"

#include "base/mem.h"

#define T_END 40.0

/* A slow wave with a gap, and a lone bucket in the middle of the gap. */
static double wave(size_t panel, double t)
{
	return panel == 0 ? 2 + 10 * sample_wave(t, 40) : panel == 1 ? 900 - 20 * t : 0.001 * t;
}

static bool in_gap(double t)
{
	return t > 12 && t < 16 && !(t > 13.9 && t < 14.1);
}

static void waves(struct tg_chart *c, size_t n)
{
	static const enum tg_hue hue[] = { TG_HUE_CPU, TG_HUE_MEMORY, TG_HUE_GPU };

	*c = (struct tg_chart){ .t_end = T_END, .width = 700 };
	for (size_t p = 0; p < 3; p++) {
		struct tg_panel *panel = tg_chart_panel(c, "Panel", "units");
		struct tg_series *s = tg_panel_series(panel, "wave", hue[p], 0);

		s->n_buckets = n;
		s->bucket = tg_xcalloc(n, sizeof(*s->bucket));
		for (size_t i = 0; i < n; i++) {
			struct tg_bucket *b = &s->bucket[i];
			double v;

			b->t0 = T_END * (double)i / (double)n;
			b->t1 = T_END * (double)(i + 1) / (double)n;
			v = wave(p, (b->t0 + b->t1) / 2);
			b->min = b->max = b->mean = in_gap((b->t0 + b->t1) / 2) ? NAN : v;
		}
	}
}

/* ---- SVG ---- */

/* Points of all paths with this class in the `which`-th series; a NaN between paths. */
static size_t svg_points(const char *svg, size_t which, const char *cls, struct tg_point **out)
{
	const char *s = svg, *end;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i <= which && s; i++)
		s = strstr(s + 1, "<g class=\"tg-series\"");
	if (!s)
		return 0;
	end = strstr(s, "</g>");
	*out = NULL;
	while ((s = strstr(s, "<path class=\"")) && s < end) {
		bool wanted = !strncmp(s + 13, cls, strlen(cls)) && s[13 + strlen(cls)] == '"';

		s = strstr(s, " d=\"M") + 5;
		while (wanted && *s != '"' && *s != 'z') {
			char *next;

			TG_GROW(*out, n + 2, cap);
			(*out)[n].x = strtod(s, &next);
			(*out)[n++].y = strtod(next + 1, &next);
			s = next + (*next == ' ');
		}
		if (wanted)
			(*out)[n++] = (struct tg_point){ NAN, NAN };
	}
	return n;
}

/* The value that is drawn at pixel x, between two points of one path; NaN: nothing is. */
static double drawn_at(const struct tg_point *p, size_t n, double x)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (p[i].x <= x && x <= p[i + 1].x && p[i + 1].x > p[i].x)
			return p[i].y +
			       (p[i + 1].y - p[i].y) * (x - p[i].x) / (p[i + 1].x - p[i].x);
	return NAN;
}

/* ---- PNG ---- */

struct image {
	uint32_t w, h;
	unsigned char *index; /* with the filter byte in front of each row */
	uint32_t palette[256];
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool decode_png(const struct tg_buf *png, struct image *image)
{
	const unsigned char *p = (const unsigned char *)png->data + 8;
	const unsigned char *end = (const unsigned char *)png->data + png->len;

	*image = (struct image){ 0 };
	while (p + 12 <= end) {
		uint32_t len = be32(p);

		if (!memcmp(p + 4, "IHDR", 4)) {
			image->w = be32(p + 8);
			image->h = be32(p + 12);
		} else if (!memcmp(p + 4, "PLTE", 4)) {
			for (uint32_t i = 0; i < len / 3; i++)
				image->palette[i] = be32(p + 7 + 3 * i) & 0xffffff;
		} else if (!memcmp(p + 4, "IDAT", 4)) {
			uLongf size = (uLongf)(image->w + 1) * image->h;

			image->index = tg_xmalloc(size);
			if (uncompress(image->index, &size, p + 8, len) != Z_OK)
				return false;
		}
		p += len + 12;
	}
	return image->index != NULL;
}

static uint32_t pixel(const struct image *image, uint32_t x, uint32_t y)
{
	return image->palette[image->index[(image->w + 1) * y + 1 + x]];
}

/* How much of `ink` over white a pixel has, 0 to 1; 0 for what is no such blend. */
static double share_of(uint32_t rgb, uint32_t ink)
{
	double least = 1, most = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		double full = 255 - (double)(ink >> shift & 255);
		double share = (255 - (double)(rgb >> shift & 255)) / full;

		if (full < 40)
			continue; /* too coarse to tell */
		least = fmin(least, share);
		most = fmax(most, share);
	}
	return most - least > 0.1 ? 0 : least;
}

/* Middle of what has the colour in one column of pixels, in rows [y0, y1); NaN: nothing has. */
static double colour_at(
	const struct image *image, uint32_t x, uint32_t y0, uint32_t y1, uint32_t ink)
{
	double sum = 0, weight = 0;

	for (uint32_t y = y0; y < y1; y++) {
		double share = share_of(pixel(image, x, y), ink);

		if (share < 0.25)
			continue;
		sum += share * ((double)y + 0.5);
		weight += share;
	}
	return weight > 0.7 ? sum / weight : NAN;
}

/* ---- Vega-Lite ---- */

/* Column `name` of a CSV text; -1: absent. */
static int csv_column(const char *csv, const char *name)
{
	int column = 0;

	for (const char *s = csv;; s++) {
		size_t n = strcspn(s, ",\n");

		if (n == strlen(name) && !strncmp(s, name, n))
			return column;
		s += n;
		if (*s != ',')
			return -1;
		column++;
	}
}

/* The cell in row `row` (0: the first after the head). NaN: empty, or no such row. */
static double csv_value(const char *csv, size_t row, int column)
{
	for (size_t i = 0; csv && i <= row; i++) {
		csv = strchr(csv, '\n');
		csv = csv ? csv + 1 : NULL;
	}
	for (; csv && column > 0; column--)
		csv = csv + strcspn(csv, ",\n") + 1;
	return csv && *csv && *csv != ',' && *csv != '\n' ? strtod(csv, NULL) : NAN;
}

/* The field on `channel` of the first layer of a view with this mark. */
static const char *layer_field(
	const struct tg_json *view, const char *mark, const char *channel, double *domain_end)
{
	const struct tg_json *layers = tg_json_get(view, "layer");

	for (size_t i = 0; i < tg_json_len(layers); i++) {
		const struct tg_json *l = tg_json_at(layers, i), *c;

		if (strcmp(tg_json_str(tg_json_get(tg_json_get(l, "mark"), "type"), ""), mark))
			continue;
		c = tg_json_get(tg_json_get(l, "encoding"), channel);
		*domain_end = tg_json_num(
			tg_json_at(tg_json_get(tg_json_get(c, "scale"), "domain"), 1), NAN);
		return tg_json_str(tg_json_get(c, "field"), NULL);
	}
	return NULL;
}

/* ---- the comparison ---- */

static void test_values_agree(void)
{
	struct tg_buf svg = TG_BUF_INIT, vega = TG_BUF_INIT, png = TG_BUF_INIT;
	const size_t n = 120;
	struct tg_chart c;
	struct tg_layout l;
	struct tg_json *json;
	struct image image;
	const char *csv;

	waves(&c, n);
	tg_layout_init(&l, &c);
	tg_chart_svg(&c, "t", &svg);
	tg_chart_vega(&c, &vega);
	T_EQ_I(tg_chart_png(&c, 2, &png, NULL), 0);
	json = tg_json_parse(vega.data, vega.len, NULL);
	T_OK(json != NULL);
	csv = tg_json_str(tg_json_get(tg_json_get(json, "data"), "values"), "");
	T_OK(decode_png(&png, &image));
	T_EQ_I(image.w, 1400);
	T_EQ_I(image.h, 2 * (int)l.height);

	for (size_t p = 0; p < 3; p++) {
		const struct tg_panel_box *box = &l.panel[p];
		const struct tg_json *view = tg_json_at(tg_json_get(json, "vconcat"), p);
		double pixel_value = box->y_max / (box->bottom - box->top), x_end, y_end;
		struct tg_point *points = NULL;
		size_t n_points = svg_points(svg.data, p, "tg-line", &points);
		const char *x_field = layer_field(view, "line", "x", &x_end);
		const char *y_field = layer_field(view, "line", "y", &y_end);
		uint32_t ink = tg_ink_light(TG_INK_HUE + c.panel[p].series[0].hue);
		int wrong_svg = 0, wrong_vega = 0, wrong_png = 0, values = 0, gaps = 0;

		T_EQ_S(x_field, "t");
		T_NEAR(x_end, T_END, 1e-9);
		T_NEAR(y_end, box->y_max, 1e-6 * box->y_max);
		for (size_t i = 0; i < n; i++) {
			const struct tg_bucket *b = &c.panel[p].series[0].bucket[i];
			double x = tg_layout_x(&l, (b->t0 + b->t1) / 2);
			double y = drawn_at(points, n_points, x);
			double from_svg = (box->bottom - y) * pixel_value;
			double from_vega = csv_value(csv, i, csv_column(csv, y_field));
			double row = colour_at(&image, (uint32_t)(2 * x), (uint32_t)(2 * box->top),
				(uint32_t)(2 * box->bottom + 2), ink);
			double from_png = (box->bottom - row / 2) * pixel_value;

			wrong_vega += fabs(csv_value(csv, i, 0) - (b->t0 + b->t1) / 2) > 0.01;
			if (isnan(b->mean)) {
				gaps++;
				wrong_svg += !isnan(y);
				wrong_vega += !isnan(from_vega);
				wrong_png += !isnan(row);
				continue;
			}
			values++;
			wrong_svg += !(fabs(from_svg - b->mean) < 0.15 * pixel_value);
			wrong_vega += !(fabs(from_vega - b->mean) <= 0.0006 * b->mean);
			wrong_png += !(fabs(from_png - b->mean) < 1.2 * pixel_value);
		}
		T_EQ_I(wrong_svg, 0);
		T_EQ_I(wrong_vega, 0);
		T_EQ_I(wrong_png, 0);
		T_OK(values > 100 && gaps > 8);
		free(points);
	}
	free(image.index);
	tg_json_free(json);
	tg_buf_release(&svg);
	tg_buf_release(&vega);
	tg_buf_release(&png);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

/* One sample of 100,000 is high: all three must show it. */
static void test_spike(void)
{
	struct tg_buf svg = TG_BUF_INIT, vega = TG_BUF_INIT, png = TG_BUF_INIT;
	struct tg_point *points = NULL;
	struct tg_chart c;
	struct tg_layout l;
	struct tg_json *json;
	struct image image;
	const char *csv;
	double highest = INFINITY, x = 0, most = 0;
	size_t n, rows = 0, coloured = 0;
	uint32_t ink;

	waves(&c, 100000);
	c.panel[0].series[0].bucket[71234].max = 140;
	tg_layout_init(&l, &c);
	tg_chart_svg(&c, "t", &svg);
	T_OK(svg.len < 150000);
	n = svg_points(svg.data, 0, "tg-band", &points);
	T_OK(n > 100 && n < 3000);
	for (size_t i = 0; i < n; i++) {
		if (points[i].y < highest) {
			highest = points[i].y;
			x = points[i].x;
		}
	}
	T_NEAR(highest, tg_layout_y(&l.panel[0], 140), 0.1);
	T_NEAR(x, tg_layout_x(&l, T_END * 71234 / 100000), 1);

	tg_chart_vega(&c, &vega);
	json = tg_json_parse(vega.data, vega.len, NULL);
	csv = tg_json_str(tg_json_get(tg_json_get(json, "data"), "values"), "");
	for (size_t i = 0; !isnan(csv_value(csv, i, 0)); i++, rows++)
		most = fmax(most, csv_value(csv, i, csv_column(csv, "b0")));
	T_NEAR(most, 140, 0.1);
	T_OK(rows > 100 && rows <= TG_VEGA_SLOTS);

	T_EQ_I(tg_chart_png(&c, 1, &png, NULL), 0);
	T_OK(decode_png(&png, &image));
	ink = tg_ink_light(TG_INK_HUE + TG_HUE_CPU);
	for (uint32_t y = (uint32_t)l.panel[0].top; y < l.panel[0].top + 50; y++) {
		double seen = 0;

		for (int dx = -1; dx <= 1; dx++)
			seen = fmax(seen, share_of(pixel(&image, (uint32_t)(x + dx), y), ink));
		coloured += seen > 0.2;
	}
	T_OK(coloured > 30);
	free(points);
	free(image.index);
	tg_json_free(json);
	tg_buf_release(&svg);
	tg_buf_release(&vega);
	tg_buf_release(&png);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

/* A narrow gap has edges of its own in a saved chart, though a slot is wider than it. */
static void test_narrow_gap(void)
{
	struct tg_chart c = { .t_end = 1000 };
	struct tg_panel *p = tg_chart_panel(&c, "p", "u");
	struct tg_series *s = tg_panel_series(p, "s", TG_HUE_CPU, 0);
	struct tg_vega_data d;
	struct tg_layout l;
	size_t missing = 0;

	s->n_buckets = 1000;
	s->bucket = tg_xcalloc(s->n_buckets, sizeof(*s->bucket));
	for (size_t i = 0; i < s->n_buckets; i++) {
		double v = i == 500 ? NAN : 1;

		s->bucket[i] = (struct tg_bucket){ (double)i, (double)i + 1, v, v, v };
	}
	tg_layout_init(&l, &c);
	tg_vega_data_init(&d, &l);
	T_OK(d.n_slots > 140 && d.n_slots <= TG_VEGA_SLOTS);
	for (size_t i = 0; i < d.n_slots; i++) {
		const struct tg_bucket *b = tg_vega_data_of(&d, 0) + i;

		if (!isnan(b->mean))
			continue;
		missing++;
		T_NEAR(b->t0, 500, 1e-6);
		T_NEAR(b->t1, 501, 1e-6);
	}
	T_EQ_I(missing, 1);
	tg_vega_data_release(&d);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

/* The n-th tag of this class after `s`: one of its attributes. */
static double svg_attribute(const char *s, size_t n, const char *cls, const char *name)
{
	for (size_t i = 0; s && i <= n; i++)
		s = strstr(s + 1, cls);
	if (!s)
		return NAN;
	while (*s != '<')
		s--;
	s = strstr(s, name);
	return s ? strtod(s + strlen(name), NULL) : NAN;
}

/* The value at the end of a bar's colour in one row of pixels. */
static double bar_in_png(const struct image *image, double y, double x0, double x1, uint32_t ink)
{
	double sum = 0;

	for (uint32_t x = (uint32_t)x0; x < (uint32_t)x1; x++)
		sum += pixel(image, x, (uint32_t)y) == ink;
	return sum;
}

/* Each cell's bars and place on the time line, by the three writers, in the order of the cells. */
static void test_cells_agree(void)
{
	struct tg_buf svg = TG_BUF_INIT, vega = TG_BUF_INIT, png = TG_BUF_INIT;
	const struct tg_json *rows, *views;
	const struct tg_cells_box *b;
	struct tg_chart c;
	struct tg_layout l;
	struct tg_json *json;
	struct image image;
	size_t bars = 0;
	double end;

	sample_cells(&c);
	tg_layout_init(&l, &c);
	b = &l.cells;
	tg_chart_svg(&c, "t", &svg);
	tg_chart_vega(&c, &vega);
	T_EQ_I(tg_chart_png(&c, 1, &png, NULL), 0);
	T_OK(decode_png(&png, &image));
	json = tg_json_parse(vega.data, vega.len, NULL);
	rows = tg_json_at(tg_json_get(json, "vconcat"), 0);
	views = tg_json_get(rows, "hconcat");
	rows = tg_json_get(tg_json_get(rows, "data"), "values");
	T_EQ_I(tg_json_len(views), 3);
	T_EQ_I(tg_json_len(rows), c.n_cells);
	T_EQ_I(b->n_shown, c.n_cells);
	for (int k = 0; k < 2; k++) {
		const struct tg_json *view = tg_json_at(views, (size_t)k + 1);
		const struct tg_json *bar = tg_json_at(tg_json_get(view, "layer"), 2);
		const struct tg_json *x = tg_json_get(tg_json_get(bar, "encoding"), "x");

		T_EQ_S(tg_json_str(tg_json_get(x, "field"), ""), k ? "m" : "c");
		end = tg_json_num(
			tg_json_at(tg_json_get(tg_json_get(x, "scale"), "domain"), 1), NAN);
		T_NEAR(end, k ? 72 : 32, 0);
	}
	for (size_t i = 0; i < c.n_cells; i++) {
		const struct tg_json *row = tg_json_at(rows, i);
		double y = b->top + TG_CELL_HEIGHT * (double)i;
		double seconds = l.t_end / (b->time1 - b->time0);
		double x = svg_attribute(svg.data, i, "class=\"tg-cell\"", " x=\"");
		double w = svg_attribute(svg.data, i, "class=\"tg-cell\"", " width=\"");

		T_NEAR((x - b->time0) * seconds, c.cell[i].t0, 0.1 * seconds);
		T_NEAR(w * seconds, fmax(c.cell[i].t1 - c.cell[i].t0, 2 * seconds), 0.1 * seconds);
		T_NEAR(tg_json_num(tg_json_get(row, "a"), NAN), c.cell[i].t0, 1e-3);
		T_NEAR(tg_json_num(tg_json_get(row, "b"), NAN), c.cell[i].t1, 1e-3);
		T_EQ_I(floor(tg_json_num(tg_json_get(row, "y"), NAN)), i);
		for (int k = 0; k < 2; k++) {
			double v = tg_cell_value(&c.cell[i], k), room = b->bar1[k] - b->bar0[k];
			uint32_t ink = tg_ink_light(TG_INK_HUE + (k ? TG_HUE_MEMORY : TG_HUE_CPU));
			double pixels = bar_in_png(&image, y + 11, b->bar0[k], b->bar1[k], ink);
			const struct tg_json *value = tg_json_get(row, k ? "m" : "c");

			if (isnan(v)) {
				T_OK(tg_json_is_null(value));
				T_NEAR(pixels, 0, 0);
				continue;
			}
			T_NEAR(tg_json_num(value, NAN), v, 1e-3 * v);
			T_NEAR(svg_attribute(svg.data, bars, "class=\"tg-bar\"", " width=\""),
				fmax(v / b->full[k] * room, 1), 0.06);
			T_NEAR(svg_attribute(svg.data, bars++, "class=\"tg-bar\"", " y=\""), y + 5,
				0.06);
			T_NEAR(pixels, v / b->full[k] * room, 1.5);
		}
	}
	T_EQ_I(bars, 2 * (c.n_cells - 1));
	free(image.index);
	tg_json_free(json);
	tg_buf_release(&svg);
	tg_buf_release(&vega);
	tg_buf_release(&png);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

/* A box's ends, median and whiskers, read back from where they are; what is unknown is not there.
 */
static void test_spread(void)
{
	static const struct tg_quartiles of[] = { { 12, 1, 2, 3, 5, 8 }, { 0 },
		{ 1, 4, 4, 4, 4, 4 } };
	struct tg_buf svg = TG_BUF_INIT, png = TG_BUF_INIT, text = TG_BUF_INIT;
	struct tg_spread_column *column;
	const struct tg_spread_box *b;
	struct tg_chart c = { 0 };
	struct tg_layout l;
	struct image image;
	size_t boxes = 0;
	double scale;

	tg_chart_name(&c, "align");
	tg_chart_name(&c, "<nothing>");
	tg_chart_name(&c, "sort");
	memcpy(tg_chart_spread(&c, "wall", NULL, TG_HUE_CPU)->of, of, sizeof(of));
	column = tg_chart_spread(&c, "memory", "GB", TG_HUE_MEMORY);
	memcpy(column->of, of, sizeof(of));
	column->mark = 10;
	tg_layout_init(&l, &c);
	b = &l.spread;
	T_NEAR(b->full[0], 8, 0);
	T_NEAR(b->full[1], 10, 0); /* the mark is on the scale */
	tg_chart_svg(&c, "t", &svg);
	T_EQ_I(tg_chart_png(&c, 1, &png, NULL), 0);
	T_OK(decode_png(&png, &image));
	for (size_t i = 0; i < TG_ARRAY_SIZE(of); i++)
		for (size_t k = 0; k < 2 && of[i].n; k++, boxes++) {
			double y = b->top + TG_SPREAD_HEIGHT * (double)i + 11, x;
			uint32_t ink = tg_ink_light(TG_INK_HUE + c.column[k].hue);

			scale = (b->x1[k] - b->x0[k]) / b->full[k];
			x = svg_attribute(svg.data, boxes, "class=\"tg-box\"", " x=\"");
			T_NEAR((x - b->x0[k]) / scale, of[i].q25, 0.1 / scale);
			x = svg_attribute(svg.data, boxes, "class=\"tg-box\"", " width=\"");
			T_NEAR(x, fmax((of[i].q75 - of[i].q25) * scale, 3), 0.1);
			x = svg_attribute(svg.data, boxes, "class=\"tg-median\"", " x=\"");
			T_NEAR((x + 1 - b->x0[k]) / scale, of[i].q50, 0.1 / scale);
			/* a line and two ends make a whisker */
			x = svg_attribute(svg.data, 3 * boxes, "class=\"tg-whisker\"", " x=\"");
			T_NEAR((x - b->x0[k]) / scale, of[i].min, 0.1 / scale);
			x = svg_attribute(svg.data, 3 * boxes, "class=\"tg-whisker\"", " width=\"");
			T_NEAR(x, fmax((of[i].max - of[i].min) * scale, 1), 0.1);
			x = floor(b->x0[k] + of[i].q50 * scale);
			T_OK(bar_in_png(&image, y, x - 1, x + 2, ink) >= 1);
		}
	T_OK(isnan(svg_attribute(svg.data, boxes, "class=\"tg-box\"", " x=\"")));
	tg_chart_text(&c, &text);
	T_OK(strstr(text.data,
		"align      least 1.0 s, 25 % 2.0 s, median 3.0 s, 75 % 5.0 s, most 8.0 s (12)\n"));
	T_OK(strstr(text.data, "<nothing>  unknown\n"));
	T_OK(strstr(text.data, "median 4, 75 % 4, most 4 GB (1)\n"));
	T_OK(strstr(svg.data, "align · least 1, 25 % 2, median 3, 75 % 5, most 8 GB (12)"));
	free(image.index);
	tg_buf_release(&svg);
	tg_buf_release(&png);
	tg_buf_release(&text);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

int main(void)
{
	test_cells_agree();
	test_spread();
	test_values_agree();
	test_spike();
	test_narrow_gap();
	return t_done();
}
