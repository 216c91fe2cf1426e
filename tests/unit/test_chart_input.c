/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts of odd data and hostile labels: nothing breaks, nothing leaves its place. */
#include "sample_chart.h"

#include <ctype.h>

#include "base/json.h"
#include "render/font.h"
#include "render/layout.h"
#include "render/palette.h"
#include "render/text.h"

#include "base/mem.h"

/* All writers at once; the SVG is left in `svg`. */
static void draw_all(const struct tg_chart *c, struct tg_buf *svg)
{
	struct tg_buf other = TG_BUF_INIT;
	struct tg_json *json;
	int controls = 0;

	tg_buf_clear(svg);
	tg_chart_svg(c, "x9", svg);
	T_OK(!strncmp(svg->data, "<svg ", 5));
	T_OK(!strcmp(svg->data + svg->len - 7, "</svg>\n"));
	tg_chart_vega(c, &other);
	json = tg_json_parse(other.data, other.len, NULL);
	T_OK(tg_json_is_object(json));
	tg_json_free(json);
	tg_buf_clear(&other);
	T_EQ_I(tg_chart_png(c, 1, &other, NULL), 0);
	T_OK(other.len > 100);
	tg_buf_clear(&other);
	tg_chart_text(c, &other);
	for (size_t i = 0; i < other.len; i++)
		if ((unsigned char)other.data[i] < 0x20 && other.data[i] != '\n')
			controls++;
	T_EQ_I(controls, 0);
	tg_buf_release(&other);
}

static struct tg_series *flat_series(struct tg_chart *c, size_t n, double value)
{
	struct tg_series *s = tg_panel_series(tg_chart_panel(c, "title", "unit"), "name",
		TG_HUE_READ, TG_STYLE_BAND | TG_STYLE_AREA);

	s->n_buckets = n;
	s->bucket = tg_xcalloc(n, sizeof(*s->bucket));
	for (size_t i = 0; i < n; i++)
		s->bucket[i] = (struct tg_bucket){ c->t_end * (double)i / (double)n,
			c->t_end * (double)(i + 1) / (double)n, value / 2, value, value * 0.75 };
	return s;
}

static void test_odd_data(void)
{
	struct tg_buf svg = TG_BUF_INIT;
	struct tg_chart c = { .t_end = 0 };

	draw_all(&c, &svg); /* nothing at all */
	tg_chart_panel(&c, NULL, NULL); /* no series, no title */
	flat_series(&c, 0, 1);
	flat_series(&c, 1, NAN);
	flat_series(&c, 200, NAN);
	draw_all(&c, &svg);
	T_OK(!strstr(svg.data, "nan"));
	tg_chart_free(&c);

	for (double v = 1e-12; v <= 1e15; v *= 1000) {
		c = (struct tg_chart){ .t_end = v };
		flat_series(&c, 3, v);
		flat_series(&c, 3, 0);
		tg_panel_limit(&c.panel[0], "limit", v);
		tg_panel_limit(&c.panel[0], "far", 1000 * v);
		tg_panel_limit(&c.panel[0], NULL, NAN);
		tg_panel_limit(&c.panel[0], NULL, INFINITY);
		tg_chart_band(&c, "all", 0, v, false);
		tg_chart_band(&c, "wrong", v, 0, true);
		draw_all(&c, &svg);
		T_OK(strstr(svg.data, ">limit</text>") != NULL);
		T_OK(strstr(svg.data, ">↑ far</text>") != NULL);
		T_OK(!strstr(svg.data, "inf") && !strstr(svg.data, "nan"));
		tg_chart_free(&c);
	}
	tg_buf_release(&svg);
}

/* One bucket between gaps has a mark of its own, also where it is narrower than a pixel. */
static void test_lone_bucket(void)
{
	struct tg_buf svg = TG_BUF_INIT;
	struct tg_chart c = { .t_end = 1000 };
	struct tg_series *s = flat_series(&c, 1500, NAN);

	s->bucket[700] = (struct tg_bucket){ s->bucket[700].t0, s->bucket[700].t1, 5, 5, 5 };
	draw_all(&c, &svg);
	T_OK(strstr(svg.data, "r=\"1.7\" class=\"tg-line\"") != NULL);
	tg_chart_free(&c);
	tg_buf_release(&svg);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

/* However many there are: what can be seen is drawn, what cannot is drawn together and counted. */
static void test_many_bands(void)
{
	static const char note[] = "19999 cells are too short to be drawn alone";
	struct tg_buf svg = TG_BUF_INIT, vega = TG_BUF_INIT;
	struct tg_chart c = { .t_end = 20000 };

	flat_series(&c, 100, 3);
	for (int i = 0; i < 20000; i++)
		if (i < 8000 || i >= 9000)
			tg_chart_band(&c, "#1 cell", i, i + 0.9, i == 5000);
	tg_chart_band(&c, "#7 long", 8000, 9000, false);
	for (int i = 0; i < 1000; i++) /* beside the long one and each other */
		tg_chart_band(&c, "#2 nothing", 20000, 20000, false);
	draw_all(&c, &svg);
	T_OK(svg.len < 40000 && count(svg.data, " tg-cell\"") < 10);
	tg_chart_vega(&c, &vega);
	T_OK(vega.len < 40000 && count(vega.data, "\"k2\"") < 10);
	T_OK(strstr(svg.data, note) && strstr(vega.data, note));
	T_OK(strstr(svg.data, " short ones") && strstr(vega.data, " short ones"));
	T_OK(strstr(svg.data, "#7 long") && strstr(vega.data, "#7 long"));
	T_OK(strstr(vega.data, "#d1383d") &&
		strstr(svg.data, "width=\"2\" height=\"20\" class=\"tg-cell\" fill=\"#d1383d\""));
	tg_buf_release(&svg);
	tg_buf_release(&vega);
	tg_chart_free(&c);
}

/* As many as pixels allow, in as many lanes and of both kinds: still bounded. */
static void test_dense_bands(void)
{
	struct tg_buf svg = TG_BUF_INIT;
	struct tg_chart c = { .t_end = 10000 };

	for (int i = 0; i < 10000; i++)
		tg_chart_band(&c, "#1 cell", i * 0.99, i * 0.99 + 40 * (i % 7), i % 3 == 0);
	draw_all(&c, &svg);
	T_OK(count(svg.data, " tg-cell\"") <= 2 * 300 + 2 * TG_LANES);
	tg_buf_clear(&svg);
	tg_chart_vega(&c, &svg);
	T_OK(svg.len < 100000);
	tg_buf_release(&svg);
	tg_chart_free(&c);
}

static void test_overlapping_bands(void)
{
	struct tg_chart c = { .t_end = 10 };
	struct tg_layout l;

	tg_chart_band(&c, "outer", 0, 10, false);
	tg_chart_band(&c, "first", 1, 4, false);
	tg_chart_band(&c, "second", 4, 8, false);
	tg_chart_band(&c, "beside", 5, 9, false);
	tg_layout_init(&l, &c);
	T_EQ_I(l.n_lanes, 3);
	T_EQ_I(l.band[0].lane, 0);
	T_EQ_I(l.band[1].lane, 1);
	T_EQ_I(l.band[2].lane, 1);
	T_EQ_I(l.band[3].lane, 2);
	tg_layout_release(&l);
	for (int i = 0; i < 20; i++)
		tg_chart_band(&c, "more", 5, 9, false);
	tg_layout_init(&l, &c);
	T_EQ_I(l.n_lanes, TG_LANES);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

static void test_hostile_labels(void)
{
	static const char *const hostile[] = { "<script>alert(1)</script>", "]]><!--",
		"&amp;&lt;\"'", "a\x01\x02\x1b[31m\x7f\r\n\tb", "\xff\xfe\xc3(\xed\xa0\x80",
		"\xe2\x80\xae gnp.exe", "中文字符 العربية 🎉", "\xef\xbf\xbe\xef\xbf\xbf", "" };
	struct tg_buf svg = TG_BUF_INIT, big = TG_BUF_INIT;

	for (size_t i = 0; i <= TG_ARRAY_SIZE(hostile); i++) {
		struct tg_chart c = { .t_end = 10 };
		const char *s = i < TG_ARRAY_SIZE(hostile) ? hostile[i] : big.data;
		const char *row[] = { s, s, s, s, s };
		int controls = 0;

		while (i + 1 == TG_ARRAY_SIZE(hostile) && big.len < 65536)
			tg_buf_adds(&big, "x<&\xff\x01 ");
		flat_series(&c, 10, 5);
		tg_panel_series(&c.panel[0], s, TG_HUE_OTHER, 0);
		free(c.panel[0].title);
		free(c.panel[0].unit);
		c.panel[0].title = tg_xstrdup(s);
		c.panel[0].unit = tg_xstrdup(s);
		tg_panel_limit(&c.panel[0], s, 5);
		tg_panel_limit(&c.panel[0], s, 50000);
		tg_chart_band(&c, s, 0, 10, true);
		tg_chart_row(&c, row);
		tg_chart_cell(&c, s, 0, 5, 1, 1, true);
		c.memory_unit = tg_xstrdup(s);
		c.headline = tg_xstrdup(s);
		c.note = tg_xstrdup(s);
		c.x_label = tg_xstrdup(s);
		draw_all(&c, &svg);
		T_OK(svg.len < 30000);
		T_OK(!strstr(svg.data, "<script") && !strstr(svg.data, "<!--"));
		T_OK(!strstr(svg.data, "\xe2\x80\xae") && !strstr(svg.data, "\xef\xbf\xbe"));
		for (size_t k = 0; k < svg.len; k++)
			if ((unsigned char)svg.data[k] < 0x20 && svg.data[k] != '\n')
				controls++;
		T_EQ_I(controls, 0);
		tg_chart_free(&c);
	}
	tg_buf_release(&svg);
	tg_buf_release(&big);
}

static double attribute(const char *tag, const char *name)
{
	const char *s = strstr(tag, name);

	return s && s < strchr(tag, '>') ? strtod(s + strlen(name), NULL) : NAN;
}

/* Texts stay within the picture, numbers have at most one decimal, panels do not overlap. */
static void test_widths(void)
{
	struct tg_buf svg = TG_BUF_INIT;

	for (int k = 0; k < 30; k++) {
		int width = 320 + k / 2 * 120, outside = 0, texts = 0, long_numbers = 0;
		struct tg_chart c;
		struct tg_layout l;

		if (k & 1)
			sample_cells(&c);
		else
			sample_chart(&c, 310);
		c.width = width;
		tg_layout_init(&l, &c);
		T_EQ_I(l.width, width);
		T_OK(l.left > 20 && l.right > l.left + 200 && l.right < width);
		for (size_t i = 1; i < c.n_panels; i++)
			T_OK(l.panel[i].top > l.panel[i - 1].bottom + 20);
		tg_buf_clear(&svg);
		tg_chart_svg(&c, "w", &svg);
		for (const char *p = svg.data; (p = strstr(p, "<text ")); p++) {
			const char *tag_end = strchr(p, '>');
			char *text = tg_xmemdup0(tag_end + 1, strcspn(tag_end + 1, "<"));
			double x = attribute(p, " x=\""), y = attribute(p, " y=\"");
			bool bold = strstr(p, "font-weight") && strstr(p, "font-weight") < tag_end;
			double w = tg_font_width(l.font, text, attribute(p, " font-size=\""), bold);
			const char *anchor = strstr(p, "text-anchor=\"");

			if (anchor && anchor < tag_end)
				x -= anchor[13] == 'e' ? w : w / 2;
			outside += x < 0 || x + w > width || y < 8 || y > l.height;
			texts++;
			free(text);
		}
		T_OK(texts > 25);
		T_EQ_I(outside, 0);
		for (const char *p = svg.data; (p = strstr(p, " d=\"")); p++)
			for (const char *d = p + 4; *d != '"'; d++)
				long_numbers += *d == '.' && isdigit((unsigned char)d[2]);
		T_EQ_I(long_numbers, 0);
		tg_layout_release(&l);
		tg_chart_free(&c);
	}
	tg_buf_release(&svg);
}

static double luminance(uint32_t rgb)
{
	double sum = 0;
	static const double weight[] = { 0.0722, 0.7152, 0.2126 };

	for (int i = 0; i < 3; i++) {
		double c = (double)(rgb >> 8 * i & 255) / 255;

		sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

/* WCAG's ratio. */
static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

static void test_contrast(void)
{
	uint32_t grey = (uint32_t)strtoul(&TG_GREY_BOTH[1], NULL, 16);

	T_NEAR(contrast(0, 0xffffff), 21, 1e-9);
	for (int ink = TG_INK_HUE; ink <= TG_INK_FAILED; ink++) {
		T_EQ_I(tg_ink_light((enum tg_ink)ink), tg_ink_dark((enum tg_ink)ink));
		T_OK(contrast(tg_ink_light((enum tg_ink)ink), 0xffffff) >= 3);
		T_OK(contrast(tg_ink_light((enum tg_ink)ink), 0x111111) >= 3);
		T_OK(contrast(tg_ink_dark((enum tg_ink)ink), tg_ink_dark(TG_INK_BACK)) >= 3);
	}
	for (int ink = TG_INK_TEXT; ink <= TG_INK_MUTED; ink++) {
		T_OK(contrast(tg_ink_light((enum tg_ink)ink), tg_ink_light(TG_INK_BACK)) >= 4.5);
		T_OK(contrast(tg_ink_dark((enum tg_ink)ink), tg_ink_dark(TG_INK_BACK)) >= 4.5);
	}
	/* 4.34 is the most that one grey can have on both. */
	T_OK(contrast(grey, 0xffffff) >= 4.2 && contrast(grey, 0x111111) >= 4.2);
}

static void test_fit(void)
{
	struct tg_font *f = tg_font_new();
	struct tg_buf b = TG_BUF_INIT;

	tg_font_fit(f, "short", 12, false, 100, &b);
	T_EQ_S(b.data, "short");
	tg_buf_clear(&b);
	tg_font_fit(f, "a long label that is cut", 12, false, 60, &b);
	T_OK(strstr(b.data, "…") != NULL && tg_font_width(f, b.data, 12, false) <= 60);
	tg_buf_clear(&b);
	tg_font_fit(f, "anything", 12, false, 2, &b);
	T_EQ_S(b.data, "");
	T_NEAR(tg_font_width(f, "0", 100, false), 63.6, 0.1); /* DejaVu Sans' digit */
	T_OK(tg_font_width(f, "中", 12, false) > 4); /* the box for what it lacks */
	tg_buf_release(&b);
	tg_font_free(f);
}

static void test_sparkline(void)
{
	static const double v[] = { 0, 0.001, 4, 8, NAN };
	struct tg_buf b = TG_BUF_INIT;

	tg_sparkline(&b, v, 5, 0, false);
	T_EQ_S(b.data, " ▁▄█·");
	tg_buf_clear(&b);
	tg_sparkline(&b, v, 5, 0, true);
	T_EQ_S(b.data, " .=@?");
	tg_buf_clear(&b);
	tg_sparkline(&b, v, 1, 0, false);
	T_EQ_S(b.data, " ");
	tg_buf_release(&b);
}

/* Odd lists: more cells than are shown, unknown values, times that are none. */
static void test_cells(void)
{
	struct tg_buf svg = TG_BUF_INIT, text = TG_BUF_INIT;
	struct tg_chart c = { .t_end = 1000 };
	struct tg_layout l;

	for (int i = 0; i < 1000; i++) {
		char label[32];

		snprintf(label, sizeof(label), "#%d cell", i);
		tg_chart_cell(&c, label, i, i + (i % 25 ? 0.5 : 0.9),
			i == 950 ? 1
			: i % 7  ? 3
				 : NAN,
			NAN, i == 3);
	}
	draw_all(&c, &svg);
	T_OK(strstr(svg.data, ">and 960 shorter ones, 8 min") != NULL);
	tg_layout_init(&l, &c);
	T_EQ_I(l.cells.n_shown, TG_CELLS_SHOWN);
	T_EQ_I(l.cells.shown[0], 0);
	T_EQ_I(l.cells.shown[1], 3); /* the failed one */
	T_EQ_I(l.cells.shown[2], 25);
	T_NEAR(l.cells.full[0], 3, 0);
	T_NEAR(l.cells.full[1], 1, 0); /* nothing is known */
	tg_layout_release(&l);
	tg_chart_text(&c, &text);
	T_OK(strstr(text.data, "\nand 960 shorter ones, 8 min") != NULL);
	T_OK(strstr(text.data, "\n#950 cell") && !strstr(text.data, "\n#975 cell"));
	T_OK(strstr(text.data, " 1 core  ") && strstr(text.data, " 3 cores "));
	tg_chart_free(&c);

	c = (struct tg_chart){ .width = 320 };
	tg_chart_cell(&c, NULL, NAN, NAN, INFINITY, -1, false);
	tg_chart_cell(&c, "late", 5, 4, 1e15, 1e-12, false);
	draw_all(&c, &svg);
	T_OK(!strstr(svg.data, "nan") && !strstr(svg.data, "inf"));
	tg_chart_free(&c);
	tg_buf_release(&svg);
	tg_buf_release(&text);
}

/* Long and hostile names, infinite values, more columns than are drawn, little room. */
static void test_spread(void)
{
	struct tg_buf svg = TG_BUF_INIT;
	struct tg_chart c = { .width = TG_WIDTH_MIN };
	char name[4096];
	struct tg_layout l;

	memset(name, 'w', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name, "\"</svg>\x1b\xff", 10);
	tg_chart_name(&c, name);
	tg_chart_name(&c, "");
	for (int k = 0; k < 2 * TG_SPREAD_COLUMNS; k++) {
		struct tg_quartiles *of =
			tg_chart_spread(&c, k ? name : "", k % 2 ? name : NULL, TG_HUE_OTHER)->of;

		of[0] = (struct tg_quartiles){ 1, -1, NAN, INFINITY, 1e300, INFINITY };
		of[1] = (struct tg_quartiles){ 2, 0, 0, 0, 0, 0 };
	}
	draw_all(&c, &svg);
	T_OK(!strstr(svg.data, "\"nan") && !strstr(svg.data, "\"inf") &&
		!strstr(svg.data, "\"-nan"));
	tg_layout_init(&l, &c);
	T_EQ_I(l.spread.n_columns, TG_SPREAD_COLUMNS);
	tg_layout_release(&l);
	tg_chart_free(&c);
	tg_buf_release(&svg);
}

/* In Vega-Lite, which measures no text: the label of a limit is not where the peak's may be. */
static void test_limit_beside_peak(void)
{
	for (int at = 0; at < 2; at++) {
		struct tg_chart c = { .t_end = 10 };
		struct tg_buf vega = TG_BUF_INIT, want = TG_BUF_INIT;

		flat_series(&c, 100, 1)->bucket[at ? 95 : 4].max = 2;
		tg_panel_limit(&c.panel[0], "full", 2);
		tg_chart_vega(&c, &vega);
		tg_buf_addf(&want,
			"\"align\":\"%s\",\"baseline\":\"bottom\",\"fontSize\":11,\"text\":"
			"\"full\"",
			at ? "left" : "right");
		T_OK(strstr(vega.data, want.data) != NULL);
		tg_buf_release(&vega);
		tg_buf_release(&want);
		tg_chart_free(&c);
	}
}

int main(void)
{
	test_limit_beside_peak();
	test_cells();
	test_spread();
	test_odd_data();
	test_lone_bucket();
	test_many_bands();
	test_dense_bands();
	test_overlapping_bands();
	test_hostile_labels();
	test_widths();
	test_contrast();
	test_fit();
	test_sparkline();
	return t_done();
}
