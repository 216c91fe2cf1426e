/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cells are ours (mark/magics.h says what a magic is), and what the user's kernel gets in
 * their place: the magics as comments, line by line, so that its counter, its history and its queue
 * go on as with any cell.
 *
 *   %word …     a line of ours; code below it is executed
 *   %word?      the same: a question about it, also as ?%word
 *   %%word …    the whole cell is ours
 *   %%tacho     the code below is executed, and what it cost is printed when it ended
 */
#ifndef TG_JUPYTER_MAGIC_H
#define TG_JUPYTER_MAGIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "mark/magics.h"

enum tg_magic_kind {
	TG_MAGIC_NONE, /* none of ours */
	TG_MAGIC_ALL, /* nothing is left to execute */
	TG_MAGIC_TOP, /* lines of ours, then code */
	TG_MAGIC_COST, /* `%%tacho` alone, then code */
};

struct tg_magic {
	enum tg_magic_kind kind;
	size_t body; /* where the code that is executed begins; the length for TG_MAGIC_ALL */
	bool to_variable; /* perfdata_to_variable is among them */
	size_t name, name_len; /* its argument, within the code; length 0: missing */
	bool many; /* it is there more than once */
};

void tg_magic_read(const char *code, size_t len, struct tg_magic *out);

/* How a line becomes a comment in a language, as in kernel_info's language_info.name. */
const char *tg_magic_comment(const char *language);

/*
 * Append what the user's kernel is to execute. `fifo` is the path from which Python reads the value
 * of the variable; NULL: no variable is set.
 */
void tg_magic_rewrite(const struct tg_magic *m, const char *code, size_t len, const char *comment,
	const char *fifo, struct tg_buf *out);

#endif
