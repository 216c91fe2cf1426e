/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of our magics and how a cell uses them: for the kernel, which takes them out of the
 * code, and for the worker, which does what they say. A magic is a line that begins with one or
 * two `%` and one of the names, at the top of a cell: only blank lines, comments and other magics
 * of ours may be above it. What each of them means is not known here.
 */
#ifndef TG_MARK_MAGICS_H
#define TG_MARK_MAGICS_H

#include <stdbool.h>
#include <stddef.h>

enum tg_magic_name {
	TG_NAME_TACHO,
	TG_NAME_CODE_HISTORY,
	TG_NAME_CODE_FOR_INDEX,
	TG_NAME_GRAPH_FOR_LAST,
	TG_NAME_GRAPH_FOR_INDEX,
	TG_NAME_GRAPH_FOR_ALL,
	TG_NAME_TO_VARIABLE,
	TG_NAME_TO_JSON,
	TG_NAMES
};

/* "display_code_history" */
const char *tg_magic_name(enum tg_magic_name name);

struct tg_magic_line {
	enum tg_magic_name name;
	bool question; /* `%name?`, `?%name`, `%tacho WORD?`: asks for help */
	/* Two signs in the first magic: the rest of the cell is its; not so `%%tacho WORD …`. */
	bool whole;
	size_t args, args_len; /* what stands behind the name, without blanks around; in the text */
};

/* A walk over the magics at the top of a cell; `at` is where it has got to. */
struct tg_magics {
	const char *code;
	size_t len, at;
	bool some;
};

/* The next one; false: `at` is now where the code begins, `len` when there is none. */
bool tg_magics_next(struct tg_magics *m, struct tg_magic_line *out);

/*
 * How many signs the first line has that would be a magic of ours, were it not below `at`, where
 * the code begins; and its name. 0: there is none.
 */
int tg_magics_below(const char *code, size_t len, size_t at, enum tg_magic_name *name);

/* Whether a text can be a variable of Python: ASCII letters, digits and '_', no keyword. */
bool tg_magic_is_variable(const char *s, size_t len);

#endif
