/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/draw.h"

#include <math.h>

#include "render/resample.h"

#include "base/mem.h"

#define HALF_GLYPH 4.0 /* from the middle of a small text to its baseline */

struct box {
	double x0, y0, x1, y1;
};

/* A panel while it is drawn. */
struct view {
	const struct tg_layout *l;
	struct tg_canvas *cv;
	const struct tg_panel *panel;
	const struct tg_panel_box *box;
	struct tg_bucket **bucket; /* of each series, as drawn */
	size_t *n_buckets;
	struct tg_point *point; /* scratch: room for a path through any series */
	struct box taken; /* by the label of the peak */
	double title_end, far_start; /* the row above the plot is free between them */
};

struct tg_bucket *tg_series_drawn(
	const struct tg_layout *l, const struct tg_series *s, size_t *n_buckets)
{
	size_t pixels = (size_t)(l->right - l->left);
	struct tg_bucket *out;
	double *edge;

	*n_buckets = s->n_buckets;
	if (s->n_buckets <= 2 * pixels) {
		out = tg_xcalloc(s->n_buckets, sizeof(*out));
		if (s->n_buckets)
			memcpy(out, s->bucket, s->n_buckets * sizeof(*out));
		return out;
	}
	*n_buckets = pixels;
	out = tg_xcalloc(pixels, sizeof(*out));
	edge = tg_xcalloc(pixels + 1, sizeof(*edge));
	for (size_t i = 0; i <= pixels; i++)
		edge[i] = l->t_end * (double)i / (double)pixels;
	tg_resample(s, edge, pixels, out);
	free(edge);
	return out;
}

static enum tg_ink ink_of(const struct tg_series *s)
{
	/* Context is grey, not pale: a pale thin line is below the contrast that it needs. */
	return s->style & TG_STYLE_FAINT ? TG_INK_HUE + TG_HUE_OTHER : TG_INK_HUE + s->hue;
}

/* ---- one series ---- */

/* End of the run of values that starts at `i`. */
static size_t run_end(const struct tg_bucket *b, size_t i, size_t n)
{
	while (i < n && tg_bucket_is_value(&b[i]))
		i++;
	return i;
}

/*
 * Points of one run, its ends drawn out to the edges of its first and last bucket, so that a run of
 * one bucket has its true width. `field` picks min, max or mean.
 */
static size_t trace(const struct view *v, const struct tg_bucket *b, size_t n, size_t field,
	struct tg_point *out)
{
	size_t k = 0;
	const struct tg_layout *l = v->l;

#define FIELD(p) (field == 0 ? (p)->min : field == 1 ? (p)->max : (p)->mean)
	out[k++] = (struct tg_point){ tg_layout_x(l, b[0].t0), tg_layout_y(v->box, FIELD(&b[0])) };
	for (size_t i = 0; i < n && n > 1; i++)
		out[k++] = (struct tg_point){ tg_layout_x(l, (b[i].t0 + b[i].t1) / 2),
			tg_layout_y(v->box, FIELD(&b[i])) };
	out[k++] = (struct tg_point){ tg_layout_x(l, b[n - 1].t1),
		tg_layout_y(v->box, FIELD(&b[n - 1])) };
#undef FIELD
	/* A run narrower than a pixel would be invisible as an area. */
	if (out[k - 1].x - out[0].x < 1) {
		double mid = (out[k - 1].x + out[0].x) / 2;

		out[0].x = mid - 0.5;
		out[k - 1].x = mid + 0.5;
	}
	return k;
}

static void draw_area(const struct view *v, const struct tg_bucket *b, size_t n, enum tg_ink ink)
{
	struct tg_pen pen = { .ink = ink, .opacity = 0.16, .role = "area" };
	size_t k = trace(v, b, n, 2, v->point);

	v->point[k] = (struct tg_point){ v->point[k - 1].x, v->box->bottom };
	v->point[k + 1] = (struct tg_point){ v->point[0].x, v->box->bottom };
	v->cv->path(v->cv, v->point, k + 2, &pen);
}

static void draw_envelope(
	const struct view *v, const struct tg_bucket *b, size_t n, const struct tg_series *s)
{
	bool wanted = s->style & TG_STYLE_BAND;
	struct tg_pen rim = { .ink = ink_of(s), .opacity = 0.5, .width = 0.75, .role = "rim" };
	struct tg_pen pen = { .ink = ink_of(s), .opacity = wanted ? 0.32 : 0.22, .role = "band" };
	double tallest = 0;
	size_t k;

	for (size_t i = 0; i < n; i++)
		tallest = fmax(
			tallest, tg_layout_y(v->box, b[i].min) - tg_layout_y(v->box, b[i].max));
	if (tallest < 0.75)
		return; /* hidden by the line */
	k = trace(v, b, n, 1, v->point);
	k += trace(v, b, n, 0, v->point + k);
	for (size_t i = k / 2, j = k - 1; i < j; i++, j--) { /* min runs back */
		struct tg_point swap = v->point[i];

		v->point[i] = v->point[j];
		v->point[j] = swap;
	}
	v->cv->path(v->cv, v->point, k, &pen);
	v->cv->path(v->cv, v->point, k / 2, &rim); /* a spike of one pixel is seen */
}

static void draw_line(
	const struct view *v, const struct tg_bucket *b, size_t n, const struct tg_series *s)
{
	struct tg_pen pen = { .ink = ink_of(s),
		.opacity = s->style & TG_STYLE_RAW ? 0.45 : 1,
		.width = s->style & (TG_STYLE_FAINT | TG_STYLE_RAW) ? 1 : 1.5,
		.dashed = s->style & TG_STYLE_DASHED,
		.role = "line" };
	size_t k = trace(v, b, n, 2, v->point);

	v->cv->path(v->cv, v->point, k, &pen);
	if (v->point[k - 1].x - v->point[0].x > 3)
		return;
	pen.width = 0;
	v->cv->dot(v->cv, (v->point[0].x + v->point[k - 1].x) / 2, v->point[k / 2].y, 1.7, &pen);
}

static void draw_series(const struct view *v, size_t which)
{
	const struct tg_series *s = &v->panel->series[which];
	const struct tg_bucket *b = v->bucket[which];
	size_t n = v->n_buckets[which];

	v->cv->begin(v->cv, "series", s->name);
	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0, end; i < n; i = end + 1) {
			end = run_end(b, i, n);
			if (end == i)
				continue;
			if (pass == 0 && (s->style & TG_STYLE_AREA))
				draw_area(v, b + i, end - i, ink_of(s));
			else if (pass == 1 && !(s->style & TG_STYLE_FAINT))
				draw_envelope(v, b + i, end - i, s);
			else if (pass == 2)
				draw_line(v, b + i, end - i, s);
		}
	}
	v->cv->end(v->cv);
}

/* ---- labels within a plot ---- */

static bool overlap(const struct box *a, const struct box *b)
{
	return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

/* How much data a label at `box` would cover: buckets of any series that pass through it. */
static size_t covered(const struct view *v, const struct box *box)
{
	size_t hits = overlap(box, &v->taken) ? 1000000 : 0;

	for (size_t i = 0; i < v->panel->n_limits; i++) {
		double y = tg_layout_y(v->box, v->panel->limit[i].value);

		hits += y > box->y0 && y < box->y1 ? 50 : 0;
	}

	for (size_t s = 0; s < v->panel->n_series; s++) {
		for (size_t i = 0; i < v->n_buckets[s]; i++) {
			const struct tg_bucket *b = &v->bucket[s][i];
			struct box data;

			if (!tg_bucket_is_value(b))
				continue;
			data = (struct box){ tg_layout_x(v->l, b->t0) - 1,
				tg_layout_y(v->box, b->max) - 1, tg_layout_x(v->l, b->t1) + 1,
				tg_layout_y(v->box, b->min) + 1 };
			hits += overlap(box, &data);
		}
	}
	return hits;
}

/* A dot on the highest value of the panel, and the number beside it; of a mean the number alone. */
static void draw_peak(struct view *v)
{
	const struct tg_bucket *peak = NULL;
	const struct tg_series *of = NULL;
	struct tg_pen pen = { .opacity = 1, .role = "peak" };
	struct tg_label at = { .size = TG_SIZE_SMALL, .ink = TG_INK_TEXT, .halo = true };
	char text[TG_PEAK_SIZE];
	struct box best = { 0 };
	size_t least = SIZE_MAX;
	double x, y, w;

	for (size_t s = 0; s < v->panel->n_series; s++) {
		if (v->panel->series[s].style & TG_STYLE_FAINT)
			continue;
		for (size_t i = 0; i < v->n_buckets[s]; i++) {
			const struct tg_bucket *b = &v->bucket[s][i];

			if (!tg_bucket_is_value(b) || (peak && b->max <= peak->max))
				continue;
			peak = b;
			of = &v->panel->series[s];
		}
	}
	if (!peak || peak->max <= 0)
		return;
	tg_peak_label(v->panel, of, peak->max, v->l->t_end, text);
	w = tg_font_width(v->l->font, text, at.size, false);
	x = tg_layout_x(v->l, (peak->t0 + peak->t1) / 2);
	y = tg_layout_y(v->box, peak->max);
	pen.ink = TG_INK_HUE + of->hue;
	if (!v->panel->mean_only)
		v->cv->dot(v->cv, x, y, 2.2, &pen);
	/* above, right, left, below: the first that covers least */
	for (int k = 0; k < 4; k++) {
		double dx = k == 1 ? 6 : k == 2 ? -6 - w : -w / 2;
		double dy = k == 0 ? -14 : k == 3 ? 4 : -6;
		struct box b = { x + dx, y + dy, x + dx + w, y + dy + 12 };
		double shift = fmax(v->l->left + 2 - b.x0, 0) - fmax(b.x1 - v->l->right, 0);
		size_t hits;

		b.x0 += shift;
		b.x1 += shift;
		if (b.y1 > v->box->bottom ||
			(b.y0 < v->box->top - 4 && (b.x0 < v->title_end || b.x1 > v->far_start)))
			continue;
		hits = covered(v, &b);
		if (hits < least) {
			least = hits;
			best = b;
		}
	}
	if (least == SIZE_MAX)
		return;
	v->taken = best;
	at.x = best.x0;
	at.y = best.y0 + 10;
	v->cv->text(v->cv, &at, text);
}

/* A dashed rule with its label above it, at the end where it covers less. */
static void draw_limit(struct view *v, const struct tg_limit *limit)
{
	double y = floor(tg_layout_y(v->box, limit->value)) + 0.5;
	double left = v->l->left, right = v->l->right;
	struct tg_point line[] = { { left, y }, { right, y } };
	struct tg_pen pen = {
		.ink = TG_INK_TEXT, .opacity = 0.8, .width = 1, .dashed = true, .role = "limit"
	};
	struct tg_label at = { .size = TG_SIZE_SMALL, .ink = TG_INK_TEXT, .halo = true };
	struct tg_buf text = TG_BUF_INIT;
	struct box a, b;
	double w;

	v->cv->path(v->cv, line, 2, &pen);
	tg_font_fit(v->l->font, limit->label ? limit->label : "", at.size, false,
		(right - left) * 0.45, &text);
	w = tg_font_width(v->l->font, text.data, at.size, false);
	a = (struct box){ left + 4, y - 14, left + 4 + w, y };
	b = (struct box){ right - w - 2, y - 14, right - 2, y };
	if (covered(v, &b) < covered(v, &a))
		a = b;
	at.x = a.x0;
	at.y = y - 4;
	if (text.len)
		v->cv->text(v->cv, &at, text.data);
	tg_buf_release(&text);
}

/* ---- around a plot ---- */

/* The same ticks on the right, in the other unit. */
static void draw_second_scale(const struct view *v)
{
	const struct tg_ticks *t = &v->box->ticks;
	struct tg_label at = { .x = v->l->right + 6, .size = TG_SIZE_SMALL, .ink = TG_INK_MUTED };

	for (size_t i = 0; i < t->n; i++) {
		char text[TG_NUM_SIZE];
		struct tg_buf b = TG_BUF_INIT;

		tg_num_short((double)i * t->step * v->panel->second_factor, text);
		tg_buf_addf(&b, "%s %s", text, v->panel->second_unit);
		at.y = tg_layout_y(v->box, (double)i * t->step) + HALF_GLYPH;
		tg_canvas_fit(v->cv, v->l->font, &at, b.data, v->l->width - at.x);
		tg_buf_release(&b);
	}
}

static void draw_grid(const struct view *v)
{
	const struct tg_ticks *t = &v->box->ticks;
	struct tg_label at = { .x = v->l->left - 6,
		.size = TG_SIZE_SMALL,
		.ink = TG_INK_MUTED,
		.anchor = TG_ANCHOR_END };
	char text[TG_NUM_SIZE];

	for (size_t i = 0; i < t->n; i++) {
		struct tg_pen pen = { .ink = TG_INK_GRID, .opacity = i ? 0.18 : 0.5 };
		double y = floor(tg_layout_y(v->box, (double)i * t->step));

		v->cv->rect(v->cv, v->l->left, y, v->l->right - v->l->left, 1, 0, &pen, NULL);
		at.y = y + HALF_GLYPH;
		tg_tick_label(t, i, text);
		v->cv->text(v->cv, &at, text);
	}
	if (v->panel->second_factor > 0)
		draw_second_scale(v);
}

/* Limits above the axis, named at the right of the title. Returns where they begin. */
static double draw_far_limits(const struct view *v)
{
	struct tg_label at = { .y = v->box->title_y,
		.size = TG_SIZE_SMALL,
		.ink = TG_INK_MUTED,
		.anchor = TG_ANCHOR_END };
	double x = v->l->right;

	for (size_t i = 0; i < v->panel->n_limits; i++) {
		const struct tg_limit *limit = &v->panel->limit[i];
		struct tg_buf text = TG_BUF_INIT;
		double w;

		if (!limit->label || !(limit->value > v->box->y_max))
			continue;
		tg_buf_addf(&text, "↑ %.200s", limit->label);
		at.x = x;
		w = tg_canvas_fit(
			v->cv, v->l->font, &at, text.data, (v->l->right - v->l->left) * 0.3);
		x -= w > 0 ? w + 16 : 0;
		tg_buf_release(&text);
	}
	return x;
}

/* Title, then the series' names, each behind a piece of its line. */
static void draw_title(struct view *v)
{
	double end = draw_far_limits(v), x = v->l->left, y = v->box->title_y;
	struct tg_label at = {
		.x = x, .y = y, .size = TG_SIZE_TITLE, .ink = TG_INK_TEXT, .bold = true
	};

	x += tg_canvas_fit(v->cv, v->l->font, &at, v->panel->title, (end - x) * 0.7) + 18;
	at = (struct tg_label){ .y = y, .size = TG_SIZE_TEXT, .ink = TG_INK_TEXT };
	for (size_t i = 0; i < v->panel->n_series; i++) {
		const struct tg_series *s = &v->panel->series[i];
		struct tg_point line[] = { { x, y - HALF_GLYPH }, { x + 18, y - HALF_GLYPH } };
		struct tg_pen pen = { .ink = ink_of(s),
			.opacity = s->style & TG_STYLE_RAW ? 0.45 : 1,
			.width = s->style & (TG_STYLE_FAINT | TG_STYLE_RAW) ? 1 : 2,
			.dashed = s->style & TG_STYLE_DASHED };
		struct tg_pen shade = { .ink = ink_of(s), .opacity = 0.32 };

		if (i && end - x < 23 + tg_font_width(
						v->l->font, s->name ? s->name : "", at.size, false))
			break;
		if (s->style & TG_STYLE_BAND)
			v->cv->rect(v->cv, x, y - 9, 18, 10, 1, &shade, NULL);
		v->cv->path(v->cv, line, 2, &pen);
		at.x = x + 23;
		x = at.x + tg_canvas_fit(v->cv, v->l->font, &at, s->name, end - at.x) + 18;
	}
	v->title_end = x;
	v->far_start = end;
}

/* ---- bands ---- */

/* A strip's label: all of it, else its first word ("#12"), else what fits of that. */
static void draw_band_label(const struct tg_layout *l, struct tg_canvas *cv,
	const struct tg_band_box *b, double x0, double x1, double y)
{
	struct tg_label at = { .x = x0 + 6, .y = y, .size = TG_SIZE_TEXT, .ink = TG_INK_TEXT };
	size_t word = strcspn(b->label, " ");
	double room;
	char *first;

	if (b->failed && x1 - x0 > 60) {
		struct tg_label mark = at;

		mark.ink = TG_INK_FAILED;
		mark.bold = true;
		at.x += tg_canvas_fit(cv, l->font, &mark, "✗", x1 - at.x) + 4;
	}
	room = x1 - at.x - 4;
	if (tg_font_width(l->font, b->label, at.size, false) > room && word < 16) {
		if (b->narrow)
			return;
		first = tg_xmemdup0(b->label, word);
		if (tg_font_width(l->font, first, at.size, false) <= room)
			tg_canvas_fit(cv, l->font, &at, first, room);
		free(first);
		return;
	}
	tg_canvas_fit(cv, l->font, &at, b->label, room);
}

/* The strip (top < 0), or the shades in one panel. Failed ones are two pixels wide at least. */
static void draw_some_bands(
	const struct tg_layout *l, struct tg_canvas *cv, bool failed, double top, double bottom)
{
	double drawn[TG_LANES] = { 0 };

	for (size_t i = 0; i < l->n_bands; i++) {
		const struct tg_band_box *b = &l->band[i];
		struct tg_pen pen = { .ink = failed ? TG_INK_FAILED : TG_INK_GRID, .role = "cell" };
		double x0 = tg_layout_x(l, b->t0), x1 = tg_layout_x(l, b->t1), y, w;

		x1 = fmax(x1, x0 + (failed ? 2 : 1));
		x0 = fmax(x0, drawn[b->lane]);
		w = x1 - x0;
		if (b->failed != failed || w <= 0)
			continue;
		drawn[b->lane] = x1;
		if (top >= 0) {
			pen.opacity = failed ? 0.08 : 0.07;
			pen.role = NULL;
			if (b->lane == 0 && w >= 3 && (b->odd || failed))
				cv->rect(cv, x0, top, w, bottom - top, 0, &pen, NULL);
			continue;
		}
		y = l->strip_y + TG_STRIP_HEIGHT * (double)b->lane;
		pen.opacity = failed ? (w > 6 ? 0.25 : 1) : b->odd ? 0.3 : 0.16;
		cv->rect(cv, x0, y, w > 3 ? w - 1 : w, TG_STRIP_HEIGHT - 2, w > 6 ? 2 : 0, &pen,
			b->label);
		if (w >= 24 && b->label)
			draw_band_label(l, cv, b, x0, x1, y + 14.5);
	}
}

static void draw_bands(const struct tg_layout *l, struct tg_canvas *cv, double top, double bottom)
{
	draw_some_bands(l, cv, false, top, bottom);
	draw_some_bands(l, cv, true, top, bottom);
}

/* ---- the rest ---- */

static void draw_panel(const struct tg_layout *l, struct tg_canvas *cv, size_t which)
{
	const struct tg_panel *p = &l->chart->panel[which];
	struct view v = { .l = l, .cv = cv, .panel = p, .box = &l->panel[which] };
	size_t most = 0;

	if (p->heat) {
		tg_heat_draw(l, cv, which);
		return;
	}
	v.bucket = tg_xcalloc(p->n_series, sizeof(struct tg_bucket *));
	v.n_buckets = tg_xcalloc(p->n_series, sizeof(*v.n_buckets));
	for (size_t i = 0; i < p->n_series; i++) {
		v.bucket[i] = tg_series_drawn(l, &p->series[i], &v.n_buckets[i]);
		most = TG_MAX(most, v.n_buckets[i]);
	}
	v.point = tg_xcalloc(2 * most + 8, sizeof(*v.point));

	cv->begin(cv, "panel", p->title);
	cv->begin(cv, "shades", NULL);
	draw_bands(l, cv, v.box->top, v.box->bottom);
	cv->end(cv);
	draw_grid(&v);
	draw_title(&v);
	for (size_t i = p->n_series; i-- > 0;) /* the first on top */
		draw_series(&v, i);
	draw_peak(&v);
	for (size_t i = 0; i < p->n_limits; i++)
		if (isfinite(p->limit[i].value) && p->limit[i].value <= v.box->y_max)
			draw_limit(&v, &p->limit[i]);
	cv->end(cv);

	for (size_t i = 0; i < p->n_series; i++)
		free(v.bucket[i]);
	free(v.bucket);
	free(v.n_buckets);
	free(v.point);
}

static void draw_time(const struct tg_layout *l, struct tg_canvas *cv)
{
	struct tg_label at = { .y = l->axis_y,
		.size = TG_SIZE_SMALL,
		.ink = TG_INK_MUTED,
		.anchor = TG_ANCHOR_MIDDLE };
	struct tg_pen pen = { .ink = TG_INK_GRID, .opacity = 0.5 };
	char text[TG_NUM_SIZE];

	cv->begin(cv, "axis", NULL);
	for (size_t i = 0; i < l->time.n; i++) {
		at.x = tg_layout_x(l, (double)i * l->time.step);
		cv->rect(cv, floor(at.x - 0.5), l->axis_y - 16, 1, 4, 0, &pen, NULL);
		tg_tick_label(&l->time, i, text);
		cv->text(cv, &at, text);
	}
	cv->end(cv);
	at.x = (l->left + l->right) / 2;
	at.y += 18;
	tg_canvas_fit(cv, l->font, &at, l->chart->x_label, l->right - l->left);
}

static void draw_table(const struct tg_layout *l, struct tg_canvas *cv)
{
	static const char *const head[] = { "", "mean", "max", "total", "" };
	double place[TG_COLUMNS], room[TG_COLUMNS];
	double width = l->right - 12;
	struct tg_pen rule = { .ink = TG_INK_GRID, .opacity = 0.25 };

	tg_layout_columns(l->chart, width, place, room);
	for (size_t r = 0; r <= l->chart->n_rows; r++) {
		double y = l->table_y + TG_ROW_HEIGHT * (double)r;

		for (size_t k = 0; k < TG_ARRAY_SIZE(head); k++) {
			const char *s = r ? l->chart->row[r - 1].cell[k] : head[k];
			bool number = k >= 1 && k <= 3;
			struct tg_label at = { .x = 12 + place[k],
				.y = y,
				.size = TG_SIZE_TEXT,
				.ink = r && (k == 0 || number) ? TG_INK_TEXT : TG_INK_MUTED,
				.anchor = number ? TG_ANCHOR_END : TG_ANCHOR_START,
				.bold = r && k == 0 };

			tg_canvas_fit(cv, l->font, &at, s, room[k]);
		}
		cv->rect(cv, 12, y + 6, width, 1, 0, &rule, NULL);
	}
}

void tg_chart_draw(const struct tg_layout *l, struct tg_canvas *cv)
{
	struct tg_label at = { .x = 12,
		.y = l->headline_y,
		.size = TG_SIZE_HEADLINE,
		.ink = TG_INK_TEXT,
		.bold = true };

	for (size_t i = 0; i < l->n_headline; i++) {
		at.y = l->headline_y + 22 * (double)i;
		cv->text(cv, &at, l->headline[i]);
	}
	if (l->note) {
		at = (struct tg_label){
			.x = 12, .y = l->note_y, .size = TG_SIZE_TEXT, .ink = TG_INK_MUTED
		};
		tg_canvas_fit(cv, l->font, &at, l->note, l->width - 24);
	}
	if (l->n_lanes) {
		cv->begin(cv, "strip", NULL);
		draw_bands(l, cv, -1, -1);
		cv->end(cv);
	}
	if (l->n_flags)
		tg_flags_draw(l, cv);
	for (size_t i = 0; i < l->chart->n_panels; i++)
		draw_panel(l, cv, i);
	if (l->axis_y > 0)
		draw_time(l, cv);
	if (l->chart->n_cells)
		tg_cells_draw(l, cv);
	if (l->spread.n_columns)
		tg_spread_draw(l, cv);
	if (l->chart->n_rows)
		draw_table(l, cv);
}
