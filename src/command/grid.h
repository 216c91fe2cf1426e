/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of texts whose columns are as wide as they need to be. */
#ifndef TG_COMMAND_GRID_H
#define TG_COMMAND_GRID_H

#include "base/buf.h"
#include "command/command.h"

#define TG_GRID_COLUMNS 16 /* at most */

struct tg_grid {
	const char *const *head; /* of `columns`, borrowed */
	size_t columns;
	unsigned left; /* bit k: column k stands to the left, else to the right */
	char **cell; /* rows * columns */
	size_t n, cap;
};

/* The next cell, row by row; takes what is in `b`. */
void tg_grid_add(struct tg_grid *g, struct tg_buf *b);

/* Give it out, its head in bold where there are colours. */
void tg_grid_print(struct tg_command *c, const struct tg_grid *g);
void tg_grid_release(struct tg_grid *g);

#endif
