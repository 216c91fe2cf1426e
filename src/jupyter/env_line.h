/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a cell of Python by which IPython sets variables of the environment: `%env A=1`,
 * `%env A 1` and the same of %set_env. They are read as they are written: nothing is put in for
 * {x} and $x, and a line in a branch that is not taken counts. Strings, brackets and comments are
 * followed, so that no line within them does. os.environ is not looked at.
 */
#ifndef TG_JUPYTER_ENV_LINE_H
#define TG_JUPYTER_ENV_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct tg_env_line {
	size_t name, name_len, value, value_len; /* in the code; without blanks around */
};

/* A walk over them; set `code` and `len`, the rest is zero at first. */
struct tg_env_lines {
	const char *code;
	size_t len, at;
	bool some; /* a line that is not empty was met */
	bool code_met; /* one without a magic was met */
	bool joined; /* the line before ended in a backslash */
	char quote; /* of the string that is open; '\0': none */
	bool triple;
	unsigned depth; /* brackets that are open */
};

/* The next one; false: there is none. */
bool tg_env_lines_next(struct tg_env_lines *l, struct tg_env_line *out);

#endif
