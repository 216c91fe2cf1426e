/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/grid.h"

#include "report/format.h"

#include "base/mem.h"

void tg_grid_add(struct tg_grid *g, struct tg_buf *b)
{
	TG_GROW(g->cell, g->n + 1, g->cap);
	g->cell[g->n++] = tg_buf_detach(b);
}

static void add_row(
	struct tg_buf *out, const struct tg_grid *g, const char *const *cell, const size_t *width)
{
	for (size_t k = 0; k < g->columns; k++) {
		bool last = k + 1 == g->columns;

		if (g->left >> k & 1)
			tg_fmt_left(out, cell[k], last ? 0 : width[k]);
		else
			tg_fmt_right(out, cell[k], width[k]);
		tg_buf_adds(out, last ? "" : "  ");
	}
	while (out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	tg_buf_addc(out, '\n');
}

void tg_grid_print(struct tg_command *c, const struct tg_grid *g)
{
	size_t width[TG_GRID_COLUMNS];
	struct tg_buf out = TG_BUF_INIT;

	for (size_t k = 0; k < g->columns; k++) {
		width[k] = tg_fmt_width(g->head[k]);
		for (size_t i = k; i < g->n; i += g->columns)
			width[k] = TG_MAX(width[k], tg_fmt_width(g->cell[i]));
	}
	if (c->colour)
		tg_buf_adds(&out, "\033[1m");
	add_row(&out, g, g->head, width);
	if (c->colour)
		tg_buf_adds(&out, "\033[0m");
	for (size_t i = 0; i < g->n; i += g->columns)
		add_row(&out, g, (const char *const *)&g->cell[i], width);
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
}

void tg_grid_release(struct tg_grid *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->cell[i]);
	free(g->cell);
	g->cell = NULL;
	g->n = g->cap = 0;
}
