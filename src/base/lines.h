/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a text, as Python's str.splitlines cuts it: IPython looks for magics behind each of
 * these breaks. A place is an offset; texts may hold NULs and need no end.
 */
#ifndef TG_BASE_LINES_H
#define TG_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* From `at` to before `end` it has its text; the line after it begins at `next`. */
struct tg_text_line {
	size_t at, end, next;
};

/* The line that begins at `at`, which is less than `len`. */
struct tg_text_line tg_text_line_at(const char *text, size_t len, size_t at);

/* Blanks and tabs; all other white space of ASCII breaks lines. */
bool tg_text_blank(char c);

/* The line without blanks at its ends. */
struct tg_text_line tg_text_trim(const char *text, struct tg_text_line line);

/* The first line, trimmed, that is neither empty nor a comment (`#`); all `len`: there is none. */
struct tg_text_line tg_text_first_code(const char *text, size_t len);

#endif
