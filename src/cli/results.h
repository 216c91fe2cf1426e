/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `record` and `attach` write when the recording has ended. It never makes the command fail:
 * it is done by a process of its own, and what goes wrong is said.
 */
#ifndef TG_CLI_RESULTS_H
#define TG_CLI_RESULTS_H

#include <stdbool.h>

#include "command/run.h"
#include "front/front.h"

/* The strings are the command line's and the environment's. */
struct tg_results {
	struct tg_option_values report; /* files that `report` can write */
	const char *csv; /* a folder for tables; NULL: none */
	bool by_default; /* the report is that of $TACHOGRAPH_REPORT */
};

/*
 * Refuse what can be no report, and take that of the environment where none was asked for. What can
 * be known to fail in the end is said now. 0, or -1 after a sentence.
 */
int tg_results_settle(struct tg_results *r, const char *word);

/*
 * Write all of it from the recording of `of`. INT, TERM or HUP make an end of that. With `tells`,
 * say what was written. A span of another recording is no file to be read yet: one line says so of
 * what was asked for.
 */
void tg_results_write(const struct tg_results *r, const struct tg_front_result *of, bool tells);

#endif
