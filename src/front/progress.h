/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on the terminal while the command runs: how long, the stage, cores, memory, storage. */
#ifndef TG_FRONT_PROGRESS_H
#define TG_FRONT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

struct tg_progress {
	int fd; /* the terminal; -1: none */
	int64_t begin_ns;
	bool shown;
};

/*
 * Show what a recorder's answer to "progress" says; other answers are left alone. Only while our
 * process group has the terminal's foreground. The cursor goes back to the line's begin, so that
 * what the command prints takes its place.
 */
void tg_progress_show(struct tg_progress *p, const struct tg_json *answer);

/* Take the line away. */
void tg_progress_clear(struct tg_progress *p);
void tg_progress_release(struct tg_progress *p);

#endif
