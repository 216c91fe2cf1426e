/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The magics in the text of a cell: `%%display_graph_for_index 3`, `%tacho show`. One or two per
 * cent signs, after blank lines and comments. Only the text is looked at; what a name means is
 * known to jumper.h and words.c.
 */
#ifndef TG_COMMAND_LINE_H
#define TG_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define TG_LINE_WORDS 64

/* One magic. Strings are the caller's storage, cut out of a copy of the code. */
struct tg_line {
	bool cell; /* two per cent signs: the rest of the cell belongs to it */
	bool question; /* `name?` or `?name`: asks for help */
	const char *name; /* without signs */
	char *rest; /* the line behind the name, without blanks around */
};

/*
 * Take the next line of *code (which is written to) that says something. Returns 1 when it is a
 * magic, 0 when it is something else (name is then the line), -1 at the end.
 */
int tg_line_next(char **code, struct tg_line *out);

/*
 * Cut a line into words, as a shell does: blanks, quotes, backslashes. Writes to `line`. Returns
 * their number, or -1 when a quote is open or there are more than `cap`.
 */
int tg_line_split(char *line, char **word, int cap);

#endif
