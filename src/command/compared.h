/* SPDX-License-Identifier: BSD-3-Clause */
/* How a comparison is told: as tables for people, or as JSON. */
#ifndef TG_COMMAND_COMPARED_H
#define TG_COMMAND_COMPARED_H

#include "analyze/compare.h"
#include "command/command.h"

struct tg_compared_side {
	char *name; /* as it was given */
	char **file;
	size_t n;
};

struct tg_comparison {
	struct tg_compare spans;
	struct tg_compared_side side[TG_COMPARE_SIDES];
	bool chosen[TG_COSTS]; /* which costs are wanted */
	bool asked; /* they were named: what is unknown of all is shown, too */
	double limit_pct; /* NaN: none */
};

/* "wall", "cpu", …: how costs are chosen. */
const char *tg_cost_word(enum tg_cost cost);

/* A table for each side but the first. */
void tg_compared_print(struct tg_command *c, const struct tg_comparison *k);

/* An object as tachograph-compare(1) has it. */
void tg_compared_json(struct tg_command *c, const struct tg_comparison *k);

/*
 * How many costs exceed the limit; with a sentence about them in `err` when there are any. 0 when
 * there is no limit.
 */
size_t tg_compared_above(const struct tg_comparison *k, struct tg_err *err);

#endif
