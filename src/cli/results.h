/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `record` writes when the command has ended. It never makes the command fail: it is done by a
 * process of its own, and what goes wrong is said.
 */
#ifndef TG_CLI_RESULTS_H
#define TG_CLI_RESULTS_H

#include <stdbool.h>

struct tg_results {
	const char *csv; /* a folder for tables; NULL: none */
};

/* Say now what can be known to fail then. */
void tg_results_check(const struct tg_results *r);

/*
 * Write all of it from the recording `file`, "": there is none. INT, TERM or HUP make an end of
 * that. With `tells`, say what was written.
 */
void tg_results_write(const struct tg_results *r, const char *file, bool tells);

#endif
