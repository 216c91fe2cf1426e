/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran several times under one name: how the times differ, in a table below that of the files.
 */
#ifndef TG_COMMAND_REPEATS_H
#define TG_COMMAND_REPEATS_H

#include "analyze/totals.h"
#include "command/command.h"

struct tg_repeats {
	struct tg_repeat {
		char *name;
		double wall_s, cpu_s, cores, peak_bytes; /* NaN: unknown */
		double cores_asked, peak_asked, wall_asked; /* parts of what was requested */
	} * one;
	size_t n, cap;
	bool asked; /* of any of them it is known what was requested */
};

void tg_repeats_add(struct tg_repeats *r, const struct tg_span *span, const struct tg_totals *t);

/* A line for each name that is there more than once; nothing when none is. */
void tg_repeats_print(struct tg_command *c, struct tg_repeats *r);
void tg_repeats_release(struct tg_repeats *r);

#endif
