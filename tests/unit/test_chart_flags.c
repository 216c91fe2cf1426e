/* SPDX-License-Identifier: BSD-3-Clause */
/* Named moments: which names have room where, and that all writers have the same moments. */
#include "sample_chart.h"

#include "base/json.h"
#include "render/layout.h"

#include "base/mem.h"

#define T_END 100.0

/* A chart of one panel and these flags; `name` ends with NULL. */
static struct tg_chart chart_of(int width, const char *const *name, const double *time)
{
	struct tg_chart c = { .t_end = T_END, .width = width };

	sample_series(tg_chart_panel(&c, "CPU", "cores"), "job", TG_HUE_CPU, 0, "cpu", 20, T_END);
	for (size_t i = 0; name && name[i]; i++)
		tg_chart_flag(&c, name[i], time[i]);
	return c;
}

/* The names as they are placed: ">right <left -" (left out) with a blank behind each. */
static void placed(int width, const char *const *name, const double *time, const char *want)
{
	struct tg_chart c = chart_of(width, name, time);
	struct tg_buf got = TG_BUF_INIT;
	double taken = 0;
	struct tg_layout l;

	tg_layout_init(&l, &c);
	for (size_t i = 0; i < l.n_flags; i++) {
		const struct tg_flag_box *b = &l.flag[i];
		double w = b->name ? tg_font_width(l.font, b->name, TG_SIZE_SMALL, false) : 0;
		double start = b->left ? b->name_x - w : b->name_x;

		T_NEAR(b->x, tg_layout_x(&l, time[b->of]), 1e-9);
		T_EQ_I(b->top, b->name ? 0 : TG_FLAG_HEIGHT - TG_FLAG_TICK);
		tg_buf_addf(&got, "%s%s ",
			!b->name  ? "-"
			: b->left ? "<"
				  : ">",
			b->name ? b->name : "");
		if (!b->name)
			continue;
		T_OK(b->left ? b->name_x < b->x : b->name_x > b->x);
		T_OK(start >= l.left && start + w <= l.right + 1e-6);
		T_OK(start >= taken); /* on no other name, and on the line of none */
		T_OK(b->left || b->x >= taken);
		taken = start + w;
	}
	T_EQ_S(got.data, want);
	tg_buf_release(&got);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

#define PLACED(width, want, ...)                                                                   \
	do {                                                                                       \
		static const struct {                                                              \
			const char *name;                                                          \
			double t;                                                                  \
		} flag[] = { __VA_ARGS__ };                                                        \
		const char *name[TG_ARRAY_SIZE(flag) + 1] = { NULL };                              \
		double time[TG_ARRAY_SIZE(flag)];                                                  \
		for (size_t i_ = 0; i_ < TG_ARRAY_SIZE(flag); i_++) {                              \
			name[i_] = flag[i_].name;                                                  \
			time[i_] = flag[i_].t;                                                     \
		}                                                                                  \
		placed(width, name, time, want);                                                   \
	} while (0)

static void test_places(void)
{
	PLACED(960, ">loaded ", { "loaded", 20 });
	PLACED(960, ">a >b >c ", { "a", 0 }, { "b", 40 }, { "c", 60 });
	PLACED(960, "<the end ", { "the end", 100 });
	PLACED(960, ">first <before the end ", { "first", 80 }, { "before the end", 99 });
	/* one that would stand on another is left out, on either side; its line is there */
	PLACED(960, ">first - >third ", { "first", 40 }, { "second", 41 }, { "third", 60 });
	PLACED(960, ">first - ", { "first", 95 }, { "second", 99 });
	PLACED(960, ">twice - ", { "twice", 50 }, { "twice", 50 });
	/* too long for one side, for both, and for any chart */
	PLACED(240, "<warmed up ", { "warmed up", 80 });
	PLACED(240, ">the second epoc… ", { "the second epoch was over by then", 40 });
	PLACED(240, "<the second epoc… ", { "the second epoch was over by then", 60 });
	PLACED(960, ">the second epoch was over by then, and… ",
		{ "the second epoch was over by then, and the third began", 10 });
	PLACED(960, ">a  [31m b ", { "a\n\x1b[31m\tb", 10 });
	PLACED(960, "- >b ", { "", 10 }, { "b", 10 });
}

/* What is not in the chart's time is nowhere; without flags there is no row. */
static void test_absent(void)
{
	static const char *const name[] = { "early", "late", "not", "ever", "never", NULL };
	static const double time[] = { -0.001, 100.001, NAN, INFINITY, -INFINITY };
	struct tg_chart with = chart_of(960, name, time), without = chart_of(960, NULL, NULL);
	struct tg_buf a = TG_BUF_INIT, b = TG_BUF_INIT;
	struct tg_layout l, m;

	tg_layout_init(&l, &with);
	tg_layout_init(&m, &without);
	T_EQ_I(l.n_flags, 0);
	T_NEAR(l.height, m.height, 0);
	tg_layout_release(&l);
	tg_chart_svg(&with, "t", &a);
	tg_chart_svg(&without, "t", &b);
	T_EQ_S(a.data, b.data);
	tg_buf_clear(&a);
	tg_buf_clear(&b);
	tg_chart_vega(&with, &a);
	tg_chart_vega(&without, &b);
	T_EQ_S(a.data, b.data);
	tg_buf_clear(&a);
	tg_chart_text(&with, &a);
	T_OK(!strstr(a.data, "at "));
	tg_chart_flag(&with, NULL, 50);
	tg_layout_init(&l, &with);
	T_EQ_I(l.n_flags, 1);
	T_NEAR(l.height, m.height + 6 + TG_FLAG_HEIGHT, 0);
	tg_layout_release(&l);
	tg_layout_release(&m);
	tg_chart_free(&without);
	without = (struct tg_chart){ .t_end = T_END }; /* no panels: there is nothing to mark */
	tg_chart_flag(&without, "loaded", 50);
	tg_layout_init(&l, &without);
	T_EQ_I(l.n_flags, 0);
	tg_layout_release(&l);
	tg_buf_release(&a);
	tg_buf_release(&b);
	tg_chart_free(&with);
	tg_chart_free(&without);
}

/* How often `mark` draws the flags in a view, and with a tooltip. */
static int flag_layers(const struct tg_json *view, const char *mark, int *tips)
{
	const struct tg_json *layers = tg_json_get(view, "layer");
	int n = 0;

	for (size_t i = 0; i < tg_json_len(layers); i++) {
		const struct tg_json *l = tg_json_at(layers, i), *e = tg_json_get(l, "encoding");
		const struct tg_json *x = tg_json_get(e, "x");

		if (strcmp(tg_json_str(tg_json_get(tg_json_get(l, "data"), "name"), ""), "flags") ||
			strcmp(tg_json_str(tg_json_get(tg_json_get(l, "mark"), "type"), ""), mark))
			continue;
		T_EQ_S(tg_json_str(tg_json_get(x, "field"), ""), "t");
		T_NEAR(tg_json_num(
			       tg_json_at(tg_json_get(tg_json_get(x, "scale"), "domain"), 1), NAN),
			T_END, 1e-9);
		*tips += tg_json_len(tg_json_get(e, "tooltip")) == 2;
		n++;
	}
	return n;
}

static void test_writers(void)
{
	static const char *const name[] = { "loaded <b>", "left out", "the end", NULL };
	static const double time[] = { 22, 22.5, 98.5 };
	struct tg_chart c = chart_of(700, name, time);
	struct tg_buf out = TG_BUF_INIT;
	const struct tg_json *rows, *views;
	const char *at;
	struct tg_json *json;
	struct tg_layout l;
	int tips = 0;

	sample_series(
		tg_chart_panel(&c, "Memory", "GB"), "RSS", TG_HUE_MEMORY, 0, "rss", 20, T_END);
	tg_layout_init(&l, &c);
	tg_chart_svg(&c, "t", &out);
	at = strstr(out.data, "<g class=\"tg-flags\"");
	/* a line in the row of names, and one through each panel, but not through its title */
	for (size_t i = 0; i < 3 * TG_ARRAY_SIZE(time) && T_OK(at != NULL); i++) {
		double bottom = i % 3 ? l.panel[i % 3 - 1].bottom : l.flag_y + TG_FLAG_HEIGHT;
		double x, y, height;

		at = strstr(at + 1, "<rect");
		x = strtod(strstr(at, " x=\"") + 4, NULL);
		y = strtod(strstr(at, " y=\"") + 4, NULL);
		height = strtod(strstr(at, " height=\"") + 9, NULL);
		T_NEAR(x + 0.5, tg_layout_x(&l, time[i / 3]), 1);
		T_NEAR(y + height, bottom, 0.1);
		if (i % 3)
			T_NEAR(y, l.panel[i % 3 - 1].top, 0.1);
	}
	T_OK(strstr(out.data, "<title>loaded &lt;b&gt;</title></rect>"));
	T_OK(strstr(out.data, ">loaded &lt;b&gt;</text>") && strstr(out.data, ">the end</text>"));
	T_OK(strstr(out.data, "<title>left out</title></rect>"));
	T_OK(!strstr(out.data, ">left out</text>"));

	tg_buf_clear(&out);
	tg_chart_vega(&c, &out);
	json = tg_json_parse(out.data, out.len, NULL);
	rows = tg_json_get(tg_json_get(json, "datasets"), "flags");
	T_EQ_I(tg_json_len(rows), 3);
	for (size_t i = 0; i < TG_ARRAY_SIZE(time); i++) {
		const struct tg_json *row = tg_json_at(rows, i);

		T_NEAR(tg_json_num(tg_json_get(row, "t"), NAN), time[i], 1e-9);
		T_EQ_S(tg_json_str(tg_json_get(row, "n"), ""), name[i]);
		T_EQ_S(tg_json_str(tg_json_get(row, "l"), "?"), i == 1 ? "" : name[i]);
		T_EQ_I(tg_json_int(tg_json_get(row, "left"), -1), i == 2);
	}
	views = tg_json_get(json, "vconcat");
	T_EQ_I(tg_json_len(views), 3);
	T_EQ_I(flag_layers(tg_json_at(views, 0), "text", &tips), 2);
	T_EQ_I(flag_layers(tg_json_at(views, 0), "rule", &tips), 1);
	T_EQ_I(tips, 3);
	T_EQ_I(flag_layers(tg_json_at(views, 1), "rule", &tips), 1);
	T_EQ_I(flag_layers(tg_json_at(views, 2), "rule", &tips), 1);
	tg_json_free(json);

	tg_buf_clear(&out);
	tg_chart_text(&c, &out);
	T_OK(strstr(
		out.data, "GB\nat 22.0 s: loaded <b>\nat 22.5 s: left out\nat 98.5 s: the end\n"));
	tg_buf_clear(&out);
	T_EQ_I(tg_chart_png(&c, 1, &out, NULL), 0);
	tg_buf_release(&out);
	tg_layout_release(&l);
	tg_chart_free(&c);
}

int main(void)
{
	test_places();
	test_absent();
	test_writers();
	return t_done();
}
