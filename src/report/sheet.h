/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of a report: texts as people read them, each with the value that it is sorted by. How it
 * is written is for html.c and notebook.c.
 */
#ifndef TG_REPORT_SHEET_H
#define TG_REPORT_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct tg_sheet_column {
	char *title;
	char *help; /* what it means, in a sentence; or NULL */
	bool number;
};

struct tg_sheet_cell {
	char *text; /* any bytes */
	double value; /* of a number, what `text` says; NaN: unknown, or a text */
};

struct tg_sheet {
	struct tg_sheet_column *column;
	size_t n_columns, cap_columns;
	struct tg_sheet_cell *cell; /* row by row */
	size_t n_cells, cap_cells;
	bool keys; /* the first column names the rows; there is nothing to sort */
};

/* Columns come before cells. `title` and `help` (or NULL) are copied. */
void tg_sheet_column(struct tg_sheet *s, const char *title, bool number, const char *help);

/* The next cell: a text (NULL: nothing), or what is in `text`, which is cleared, for a value. */
void tg_sheet_text(struct tg_sheet *s, const char *text);
void tg_sheet_value(struct tg_sheet *s, double value, struct tg_buf *text);

size_t tg_sheet_rows(const struct tg_sheet *s);
void tg_sheet_release(struct tg_sheet *s);

#endif
