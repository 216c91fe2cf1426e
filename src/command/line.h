/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a line, for `%tacho WORD …` and the magics that take names of files. */
#ifndef TG_COMMAND_LINE_H
#define TG_COMMAND_LINE_H

#define TG_LINE_WORDS 64

/*
 * Cut a line into words, as a shell does: blanks, quotes, backslashes. Writes to `line`. Returns
 * their number, or -1 when a quote is open or there are more than `cap`.
 */
int tg_line_split(char *line, char **word, int cap);

#endif
