/* SPDX-License-Identifier: BSD-3-Clause */
/* A heat map onto a canvas: a row for each series, paler or fuller by what it is at that time. */
#include <math.h>

#include "render/draw.h"
#include "render/resample.h"

#include "base/mem.h"

#define LEVELS     10 /* shades: a share of each is told apart, and neighbours share a stroke */
#define SLOTS_MOST 20000 /* of all rows together */
#define NAME_LEAST 11 /* pixels from one row's name to the next */
#define RAMP_WIDTH 60

static size_t slots_for(const struct tg_layout *l, const struct tg_panel *p)
{
	double pixels = (l->right - l->left) / 2;

	return (size_t)fmax(20, fmin(pixels, SLOTS_MOST / (double)TG_MAX(p->n_series, (size_t)1)));
}

static int level_of(const struct tg_bucket *b, double full)
{
	if (!tg_bucket_is_value(b))
		return -1;
	return (int)floor(fmin(fmax(b->mean / full, 0), 1) * LEVELS + 0.5);
}

double tg_heat_opacity(double share)
{
	return 0.06 + 0.94 * share;
}

/* All rows' slots on one grid, row by row. Caller frees. */
static struct tg_bucket *slots_of(const struct tg_layout *l, const struct tg_panel *p, size_t n)
{
	struct tg_bucket *slot = tg_xcalloc(n * p->n_series, sizeof(*slot));
	double *edge = tg_xcalloc(n + 1, sizeof(*edge));

	for (size_t i = 0; i <= n; i++)
		edge[i] = l->t_end * (double)i / (double)n;
	for (size_t r = 0; r < p->n_series; r++)
		tg_resample(&p->series[r], edge, n, slot + r * n);
	free(edge);
	return slot;
}

static void draw_names(const struct tg_layout *l, struct tg_canvas *cv, const struct tg_panel *p,
	const struct tg_panel_box *box)
{
	double h = tg_heat_row_height(p);
	size_t every = (size_t)fmax(1, ceil(NAME_LEAST / h));
	struct tg_label at = { .x = l->left - 6,
		.size = TG_SIZE_SMALL,
		.ink = TG_INK_MUTED,
		.anchor = TG_ANCHOR_END };

	for (size_t r = 0; r < p->n_series; r += every) {
		at.y = box->top + h * ((double)r + 0.5) + 4;
		tg_canvas_fit(cv, l->font, &at, p->series[r].name, l->left - 8);
	}
}

/* What pale and full mean, behind the title. */
static void draw_ramp(const struct tg_layout *l, struct tg_canvas *cv, const struct tg_panel *p,
	const struct tg_panel_box *box, double x)
{
	struct tg_label at = { .y = box->title_y, .size = TG_SIZE_TEXT, .ink = TG_INK_TEXT };
	char full[TG_NUM_SIZE];
	struct tg_buf text = TG_BUF_INIT;

	at.x = x;
	x += tg_canvas_fit(cv, l->font, &at, "0", 20) + 5;
	for (int i = 0; i < LEVELS; i++) {
		struct tg_pen pen = { .ink = TG_INK_HUE + (p->n_series ? p->series[0].hue : 0),
			.opacity = tg_heat_opacity((i + 1) / (double)LEVELS) };

		cv->rect(cv, x + RAMP_WIDTH * i / (double)LEVELS, box->title_y - 9,
			RAMP_WIDTH / (double)LEVELS, 10, 0, &pen, NULL);
	}
	tg_num_short(box->y_max, full);
	tg_buf_addf(&text, "%s %s", full, p->unit ? p->unit : "");
	at.x = x + RAMP_WIDTH + 5;
	tg_canvas_fit(cv, l->font, &at, text.data, l->right - at.x);
	tg_buf_release(&text);
}

static void draw_level(const struct tg_layout *l, struct tg_canvas *cv, const struct tg_panel *p,
	const struct tg_panel_box *box, const struct tg_bucket *slot, size_t n, int level)
{
	double h = tg_heat_row_height(p), step = (l->right - l->left) / (double)n;
	struct tg_pen pen = { .ink = TG_INK_HUE + p->series[0].hue,
		.opacity = tg_heat_opacity(level / (double)LEVELS),
		.width = h >= 6 ? h - 1 : h,
		.role = "heat" };
	struct tg_run *run = tg_xcalloc(n * p->n_series / 2 + p->n_series + 1, sizeof(*run));
	size_t k = 0;

	for (size_t r = 0; r < p->n_series; r++) {
		const struct tg_bucket *row = slot + r * n;

		for (size_t i = 0, end; i < n; i = end) {
			int at = level_of(&row[i], box->y_max);

			for (end = i + 1; end < n && level_of(&row[end], box->y_max) == at;)
				end++;
			if (at == level)
				run[k++] = (struct tg_run){ l->left + step * (double)i,
					box->top + h * ((double)r + 0.5),
					step * (double)(end - i) };
		}
	}
	if (k)
		cv->runs(cv, run, k, &pen);
	free(run);
}

void tg_heat_draw(const struct tg_layout *l, struct tg_canvas *cv, size_t which)
{
	const struct tg_panel *p = &l->chart->panel[which];
	const struct tg_panel_box *box = &l->panel[which];
	struct tg_label at = { .x = l->left,
		.y = box->title_y,
		.size = TG_SIZE_TITLE,
		.ink = TG_INK_TEXT,
		.bold = true };
	size_t n = slots_for(l, p);
	struct tg_bucket *slot;
	double x;

	cv->begin(cv, "panel", p->title);
	x = l->left + tg_canvas_fit(cv, l->font, &at, p->title, (l->right - l->left) * 0.6) + 18;
	if (p->n_series) {
		slot = slots_of(l, p, n);
		draw_ramp(l, cv, p, box, x);
		draw_names(l, cv, p, box);
		cv->begin(cv, "series", NULL);
		for (int level = 0; level <= LEVELS; level++)
			draw_level(l, cv, p, box, slot, n, level);
		cv->end(cv);
		free(slot);
	}
	cv->end(cv);
}
