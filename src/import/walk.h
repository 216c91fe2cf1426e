/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A grid tick by tick, in one pass: the rows of each, in the order in which the log has them. Takes
 * time by what there is in each tick, however many items came and went before.
 */
#ifndef TG_IMPORT_WALK_H
#define TG_IMPORT_WALK_H

#include "import/readings.h"

struct tg_walk_row {
	uint32_t item;
	uint32_t next; /* change */
	double *value; /* n_columns + 1: the last is its place in the tick, NaN when it is not there
			*/
};

struct tg_walk {
	const struct tg_readings *grid;
	uint32_t tick; /* the one at hand */
	struct tg_walk_row *row; /* those that are there come first, n of them, in the log's order,
				    those aside behind */
	size_t n, n_live, cap;
	uint32_t next_item;
	bool placed_only;
};

void tg_walk_begin(struct tg_walk *w, const struct tg_readings *g);

/* The same without the items that never have a place. */
void tg_walk_begin_placed(struct tg_walk *w, const struct tg_readings *g);

/* Go to the next tick; false behind the last one. */
bool tg_walk_next(struct tg_walk *w);
void tg_walk_end(struct tg_walk *w);

#endif
