/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chart that tests draw: four cells of a notebook, six panels, one of everything (band, area,
 * dashes, context, near and far limits, a gap, a lone bucket, a spike, a failed cell, flags, a
 * table). The same numbers on every machine: integers and small fractions only, no libm.
 */
#ifndef TG_TESTS_SAMPLE_CHART_H
#define TG_TESTS_SAMPLE_CHART_H

#include "tap.h"

#include "render/chart.h"

#include "base/mem.h"

static inline double sample_noise(uint64_t *seed)
{
	return (double)(t_random(seed) >> 40) / (double)(1 << 24);
}

/* A triangle wave between 0 and 1. */
static inline double sample_wave(double t, double period)
{
	double x = t / period - floor(t / period);

	return x < 0.5 ? 2 * x : 2 - 2 * x;
}

static inline double sample_value(const char *what, double t, uint64_t *seed)
{
	double r = sample_noise(seed);

	if (!strcmp(what, "cpu"))
		return t < 9.5  ? 1 + r / 2
		       : t < 31 ? 25 + 6 * sample_wave(t, 7) + r
		       : t < 52 ? 9 + 3 * sample_wave(t, 4) + r
				: 1.5 + r / 2;
	if (!strcmp(what, "node"))
		return 3 + r + (t < 9.5 ? 1 : t < 31 ? 28 : t < 52 ? 10 : 1);
	if (!strcmp(what, "rss"))
		return t < 9.5 ? 8 + t / 20 : t < 31 ? 8.5 + (t - 9.5) * 2.165 : 55 - (t - 31) / 8;
	if (!strcmp(what, "pss"))
		return sample_value("rss", t, seed) * 0.86;
	if (!strcmp(what, "read"))
		return t > 2 && t < 9.5 ? 1900 + 500 * r : 0;
	if (!strcmp(what, "write"))
		return t > 52 && t < 60 ? 800 + 300 * r : 0;
	if (!strcmp(what, "receive"))
		return t > 31 && t < 52 ? 200 + 250 * sample_wave(t, 3) + 60 * r : 2 + r;
	if (!strcmp(what, "send"))
		return t > 31 && t < 52 ? 80 + 60 * sample_wave(t, 3) + 30 * r : 1;
	if (!strcmp(what, "gpu"))
		return t > 31 && t < 52 ? 80 + 18 * sample_wave(t, 2) + 2 * r : 0;
	return t < 31 ? 0.5 : t < 52 ? 61 : 58; /* memory of the GPU */
}

static inline void sample_series(struct tg_panel *p, const char *name, enum tg_hue hue,
	unsigned style, const char *what, size_t n, double t_end)
{
	struct tg_series *s = tg_panel_series(p, name, hue, style);
	uint64_t seed = 88172645463325252u + (uint64_t)what[0] * 131 + (uint64_t)what[1];

	s->bucket = tg_xcalloc(n, sizeof(*s->bucket));
	s->n_buckets = n;
	for (size_t i = 0; i < n; i++) {
		struct tg_bucket *b = &s->bucket[i];
		double spread = hue == TG_HUE_MEMORY ? 0 : 0.12 * sample_noise(&seed);

		b->t0 = t_end * (double)i / (double)n;
		b->t1 = t_end * (double)(i + 1) / (double)n;
		b->mean = sample_value(what, (b->t0 + b->t1) / 2, &seed);
		b->min = b->mean * (1 - spread);
		b->max = b->mean * (1 + spread);
		if (hue == TG_HUE_GPU)
			b->max = fmin(b->max, 100);
	}
}

/* `n` buckets a series over 62 seconds; with n >= 100 there are a gap, a lone bucket and a spike.
 */
static inline void sample_chart(struct tg_chart *c, size_t n)
{
	static const char *const rows[][5] = {
		{ "CPU", "13.6 cores", "31.7 cores", "846.6 core·s", "42 % of 32 cores" },
		{ "Memory RSS", "38.2 GB", "55.1 GB", NULL, "76 % of the limit" },
		{ "Disk read", "266 MB/s", "2.5 GB/s", "16.6 GB", NULL },
		{ "Disk write", "126 MB/s", "1.1 GB/s", "7.8 GB", NULL },
		{ "Network receive", "108 MB/s", "492 MB/s", "6.7 GB", NULL },
		{ "GPU 0", "29.7 %", "99.1 %", "18.5 GPU·s", NULL },
	};
	struct tg_panel *p;
	struct tg_series *s;

	*c = (struct tg_chart){ .t_end = 62 };
	c->headline = tg_xstrdup("Cells #12–#15 · 62.0 s · mean 13.6 of 32 cores · peak 55.1 GB");
	c->note = tg_xstrdup("gpu07 · 32 of 64 cores allowed · NVIDIA A100 80GB");
	c->x_label = tg_xstrdup("since the first cell");
	tg_chart_band(c, "#12 9.5 s", 0, 9.5, false);
	tg_chart_band(c, "#13 21.5 s", 9.5, 31, false);
	tg_chart_band(c, "#14 21 s", 31, 52, false);
	tg_chart_band(c, "#15 10 s KeyError", 52, 62, true);
	tg_chart_flag(c, "loaded", 8.2);
	tg_chart_flag(c, "first worker joined", 33);
	tg_chart_flag(c, "second worker joined", 35); /* no room for its name */
	tg_chart_flag(c, "checkpoint written", 58.5); /* left of its line */

	p = tg_chart_panel(c, "CPU · cores busy", "cores");
	sample_series(p, "mean, with min–max", TG_HUE_CPU, TG_STYLE_BAND, "cpu", n, 62);
	sample_series(p, "whole node", TG_HUE_CPU, TG_STYLE_FAINT, "node", n, 62);
	tg_panel_limit(p, "32 allowed", 32);
	if (n >= 100) {
		s = &p->series[0];
		s->bucket[n * 5 / 62].max = 18.4; /* the spike */
		for (size_t i = n * 43 / 62; i < n * 46 / 62; i++)
			if (i != n * 45 / 62) /* the lone bucket */
				s->bucket[i].min = s->bucket[i].max = s->bucket[i].mean = NAN;
	}
	p = tg_chart_panel(c, "Memory · GB", "GB");
	sample_series(p, "RSS", TG_HUE_MEMORY, TG_STYLE_AREA, "rss", n, 62);
	sample_series(p, "PSS", TG_HUE_MEMORY, TG_STYLE_DASHED, "pss", n, 62);
	tg_panel_limit(p, "cgroup limit 72 GB", 72);
	p = tg_chart_panel(c, "Disk · MB/s", "MB/s");
	sample_series(p, "read", TG_HUE_READ, TG_STYLE_AREA, "read", n, 62);
	sample_series(p, "write", TG_HUE_WRITE, TG_STYLE_AREA, "write", n, 62);
	tg_panel_limit(p, "7 GB/s sequential", 7000);
	p = tg_chart_panel(c, "Network · MB/s", "MB/s");
	sample_series(p, "receive", TG_HUE_RECEIVE, 0, "receive", n, 62);
	sample_series(p, "send", TG_HUE_SEND, TG_STYLE_DASHED, "send", n, 62);
	p = tg_chart_panel(c, "GPU 0 · % busy", "%");
	sample_series(p, "busy", TG_HUE_GPU, TG_STYLE_AREA | TG_STYLE_BAND, "gpu", n, 62);
	p->y_max = 100;
	p = tg_chart_panel(c, "GPU 0 · memory GB", "GB");
	sample_series(p, "used", TG_HUE_MEMORY, TG_STYLE_AREA, "gmem", n, 62);
	tg_panel_limit(p, "80 GB", 80);
	for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++)
		tg_chart_row(c, rows[i]);
}

/* A notebook of a dozen cells, as a list without panels. */
static inline void sample_cells(struct tg_chart *c)
{
	static const struct {
		const char *label;
		double t0, t1, cores, memory;
	} cell[] = {
		{ "#1 imports", 0, 2.1, 1, 0.4 },
		{ "#2 read parquet", 2.7, 16.9, 5.2, 9 },
		{ "#3 clean", 17.5, 27.3, 8.1, 12 },
		{ "#4 join", 27.9, 50.3, 14, 26 },
		{ "#5 features", 51, 82, 27.5, 38 },
		{ "#6 split", 82.5, 85.6, 1, 38 },
		{ "#7 train xgb", 86, 150, 30.8, 44 },
		{ "#8 predict", 150.5, 158.5, 18, 41 },
		{ "#9 metrics", 159, 160.2, NAN, NAN },
		{ "#10 plot roc of a model with a long name", 161, 165.2, 1, 38 },
		{ "#11 train nn", 166, 254, 3.2, 22 },
		{ "#12 export", 254.5, 265.5, 1.6, 22 },
	};

	*c = (struct tg_chart){ .t_end = 266, .cores_full = 32, .memory_full = 72 };
	c->headline = tg_xstrdup("Notebook · 12 cells · 266 s · 3,744 core·s of 8,518 available");
	c->memory_unit = tg_xstrdup("GB");
	for (size_t i = 0; i < TG_ARRAY_SIZE(cell); i++)
		tg_chart_cell(c, cell[i].label, cell[i].t0, cell[i].t1, cell[i].cores,
			cell[i].memory, i == 7);
}

#endif
