/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran several times under one name, in one recording or in many: what each time cost. */
#ifndef TG_ANALYZE_REPEATS_H
#define TG_ANALYZE_REPEATS_H

#include "analyze/totals.h"

enum tg_repeated {
	TG_REPEATED_WALL, /* s */
	TG_REPEATED_CPU, /* core-seconds */
	TG_REPEATED_CORES, /* mean */
	TG_REPEATED_MEMORY, /* peak, bytes */
	TG_REPEATED_STORAGE, /* bytes read and written */
	TG_REPEATED_CORES_ASKED, /* parts of what was requested: mean cores, peak, time */
	TG_REPEATED_MEMORY_ASKED,
	TG_REPEATED_WALL_ASKED,
	TG_REPEATED
};

/* One time. */
struct tg_repeat {
	char *name;
	double cost[TG_REPEATED]; /* NaN: unknown */
};

struct tg_repeats {
	struct tg_repeat *one;
	size_t n, cap;
	bool asked; /* of any of them it is known what was requested */
};

/* A span with a name; that of a task's step (attribute `process`) comes before its own. */
void tg_repeats_add(struct tg_repeats *r, const struct tg_span *span, const struct tg_totals *t);
void tg_repeats_release(struct tg_repeats *r);

/* Let those of a name follow each other, by name. */
void tg_repeats_sort(struct tg_repeats *r);

/* How many there are of the name at `from`; 0 at the end. */
size_t tg_repeats_of(const struct tg_repeats *r, size_t from);

/* What is known of a cost in n of them, into v[n]. Returns how many values that is. */
size_t tg_repeats_cost(
	const struct tg_repeats *r, size_t from, size_t n, enum tg_repeated cost, double *v);

#endif
