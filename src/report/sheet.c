/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/sheet.h"

#include <math.h>

#include "base/mem.h"

void tg_sheet_column(struct tg_sheet *s, const char *title, bool number, const char *help)
{
	TG_GROW(s->column, s->n_columns + 1, s->cap_columns);
	s->column[s->n_columns++] = (struct tg_sheet_column){ tg_xstrdup(title),
		help ? tg_xstrdup(help) : NULL, number };
}

static void add(struct tg_sheet *s, char *text, double value)
{
	TG_GROW(s->cell, s->n_cells + 1, s->cap_cells);
	s->cell[s->n_cells++] = (struct tg_sheet_cell){ text, value };
}

void tg_sheet_text(struct tg_sheet *s, const char *text)
{
	add(s, tg_xstrdup(text ? text : ""), NAN);
}

void tg_sheet_value(struct tg_sheet *s, double value, struct tg_buf *text)
{
	add(s, tg_xstrdup(text->data), value);
	tg_buf_clear(text);
}

size_t tg_sheet_rows(const struct tg_sheet *s)
{
	return s->n_columns ? s->n_cells / s->n_columns : 0;
}

void tg_sheet_release(struct tg_sheet *s)
{
	for (size_t i = 0; i < s->n_columns; i++) {
		free(s->column[i].title);
		free(s->column[i].help);
	}
	for (size_t i = 0; i < s->n_cells; i++)
		free(s->cell[i].text);
	free(s->column);
	free(s->cell);
	*s = (struct tg_sheet){ 0 };
}
