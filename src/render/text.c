/* SPDX-License-Identifier: BSD-3-Clause */
/* The plain text of a chart: headline, a line for each series, the table. */
#include "render/text.h"

#include <math.h>

#include "render/axis.h"
#include "render/chart.h"
#include "render/draw.h"
#include "render/font.h"
#include "render/layout.h"
#include "render/resample.h"

#include "base/mem.h"

#define SPARK_WIDTH 40
#define NAME_CHARS  40
#define LINE_CHARS  400

void tg_sparkline(struct tg_buf *out, const double *value, size_t n, double max, bool ascii)
{
	static const char *const block[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char plain[] = " .:-=+*#@";

	if (max <= 0)
		for (size_t i = 0; i < n; i++)
			max = isfinite(value[i]) ? fmax(max, value[i]) : max;
	for (size_t i = 0; i < n; i++) {
		double v = value[i];
		size_t k;

		if (!isfinite(v)) {
			tg_buf_adds(out, ascii ? "?" : "·");
			continue;
		}
		k = max > 0 && v > 0 ? (size_t)ceil(fmin(v / max, 1) * 8) : 0;
		if (ascii)
			tg_buf_addc(out, plain[k]);
		else
			tg_buf_adds(out, block[k]);
	}
}

static size_t columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void pad(struct tg_buf *out, size_t n)
{
	while (n--)
		tg_buf_addc(out, ' ');
}

/* `s` in `width` columns, cut where longer. */
static void put_cell(struct tg_buf *out, const char *s, size_t width, bool right)
{
	struct tg_buf text = TG_BUF_INIT;
	size_t w;

	if (s)
		tg_text_clean(s, width ? width - 1 : 0, &text);
	w = columns(text.data);
	if (right)
		pad(out, width - w);
	tg_buf_add(out, text.data, text.len);
	if (!right)
		pad(out, width - w);
	tg_buf_release(&text);
}

static void trim_line(struct tg_buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	out->data[out->len] = '\0';
	tg_buf_addc(out, '\n');
}

static void put_line(struct tg_buf *out, const char *s)
{
	if (!s)
		return;
	tg_text_clean(s, LINE_CHARS, out);
	trim_line(out);
}

static void put_series(
	struct tg_buf *out, const struct tg_panel *p, size_t which, double t_end, size_t width)
{
	const struct tg_series *s = &p->series[which];
	struct tg_bucket slot[SPARK_WIDTH];
	double edge[SPARK_WIDTH + 1], value[SPARK_WIDTH], max = 0;
	char label[TG_PEAK_SIZE];
	bool any = false;

	for (size_t i = 0; i <= SPARK_WIDTH; i++)
		edge[i] = t_end * (double)i / SPARK_WIDTH;
	tg_resample(s, edge, SPARK_WIDTH, slot);
	for (size_t i = 0; i < SPARK_WIDTH; i++) {
		value[i] = slot[i].max;
		any = any || isfinite(value[i]);
		max = isfinite(value[i]) ? fmax(max, value[i]) : max;
	}
	tg_buf_adds(out, "  ");
	put_cell(out, s->name, width, false);
	tg_buf_addc(out, ' ');
	tg_sparkline(out, value, SPARK_WIDTH, max, false);
	if (any) {
		tg_peak_label(p, s, max, t_end, label);
		tg_buf_addf(out, "  %s ", label);
		if (p->unit)
			tg_text_clean(p->unit, NAME_CHARS, out);
	}
	trim_line(out);
}

static size_t width_of(const char *s, size_t least)
{
	struct tg_buf text = TG_BUF_INIT;

	if (s)
		tg_text_clean(s, NAME_CHARS, &text);
	least = TG_MAX(least, columns(text.data) + 1);
	tg_buf_release(&text);
	return least;
}

static void put_table(struct tg_buf *out, const struct tg_chart *c)
{
	static const char *const head[] = { "", "mean", "max", "total", "" };
	size_t width[TG_ARRAY_SIZE(head)];

	for (size_t k = 0; k < TG_ARRAY_SIZE(head); k++) {
		width[k] = width_of(head[k], 1);
		for (size_t r = 0; r < c->n_rows; r++)
			width[k] = width_of(c->row[r].cell[k], width[k]);
	}
	for (size_t r = 0; r <= c->n_rows; r++) {
		for (size_t k = 0; k < TG_ARRAY_SIZE(head); k++) {
			const char *s = r ? c->row[r - 1].cell[k] : head[k];

			if (k)
				tg_buf_addc(out, ' ');
			put_cell(out, s, width[k], k >= 1 && k <= 3);
		}
		trim_line(out);
	}
}

static void put_flags(struct tg_buf *out, const struct tg_chart *c, double t_end)
{
	char at[TG_NUM_SIZE];

	for (size_t i = 0; i < c->n_flags; i++) {
		if (!tg_flag_is_drawn(&c->flag[i], t_end))
			continue;
		tg_num_seconds(c->flag[i].t, at);
		tg_buf_addf(out, "at %s: ", at);
		put_line(out, c->flag[i].name ? c->flag[i].name : "");
	}
}

static void put_cells(struct tg_buf *out, const struct tg_chart *c)
{
	size_t shown[TG_CELLS_SHOWN], width = 1;
	char number[TG_NUM_SIZE], *more;
	size_t n = tg_cells_choose(c, shown, &more);

	for (size_t i = 0; i < n; i++)
		width = width_of(c->cell[shown[i]].label, width);
	for (size_t i = 0; i < n; i++) {
		const struct tg_cell *cell = &c->cell[shown[i]];

		put_cell(out, cell->label, width, false);
		tg_num_seconds(cell->t1 - cell->t0, number);
		put_cell(out, number, 13, true);
		tg_num_short(cell->cores, number);
		put_cell(out, number, 8, true);
		tg_buf_adds(out, strcmp(number, "1") != 0 ? " cores" : " core ");
		tg_num_short(cell->memory, number);
		put_cell(out, number, 8, true);
		tg_buf_addc(out, ' ');
		if (c->memory_unit)
			tg_text_clean(c->memory_unit, NAME_CHARS, out);
		if (cell->failed)
			tg_buf_adds(out, " failed");
		trim_line(out);
	}
	put_line(out, more);
	free(more);
}

static void put_spread(struct tg_buf *out, const struct tg_chart *c)
{
	size_t width = 1;

	for (size_t i = 0; i < c->n_names; i++)
		width = width_of(c->name[i], width);
	for (size_t k = 0; k < c->n_columns; k++) {
		put_line(out, c->column[k].title);
		for (size_t i = 0; i < c->n_names; i++) {
			tg_buf_adds(out, "  ");
			put_cell(out, c->name[i], width, false);
			tg_buf_addc(out, ' ');
			tg_quartiles_text(&c->column[k], &c->column[k].of[i], out);
			trim_line(out);
		}
	}
}

void tg_chart_text(const struct tg_chart *c, struct tg_buf *out)
{
	double t_end = c->t_end > 0 && isfinite(c->t_end) ? c->t_end : 1;

	put_line(out, c->headline);
	put_line(out, c->note);
	for (size_t i = 0; i < c->n_panels; i++) {
		const struct tg_panel *p = &c->panel[i];
		size_t width = 1;

		put_line(out, p->title);
		for (size_t k = 0; k < p->n_series; k++)
			width = width_of(p->series[k].name, width);
		for (size_t k = 0; k < p->n_series; k++)
			put_series(out, p, k, t_end, width);
	}
	put_flags(out, c, t_end);
	put_cells(out, c);
	put_spread(out, c);
	if (c->n_rows)
		put_table(out, c);
}
