/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a log says: ticks × items × columns. An item is a process, a disk, a GPU, a mount; or the
 * one of a tool that tells of the whole machine. A value is kept only where it differs from that of
 * the tick before, 16 bytes each: most processes of a week do nothing. NaN is a missing value.
 *
 * Invariant: changes of an item are in order of ticks; items are in order of their first tick.
 */
#ifndef TG_IMPORT_READINGS_H
#define TG_IMPORT_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TG_READINGS_TICKS_MAX   (1u << 26)
#define TG_READINGS_ITEMS_MAX   (1u << 20)
#define TG_READINGS_CHANGES_MAX (UINT64_C(1) << 28) /* 4 GB of them */
#define TG_READINGS_COLUMNS_MAX 62
#define TG_ITEM_NAME_MAX        256
#define TG_ASIDE                1e9 /* a place that is none */
#define TG_UNKNOWN              INT64_MIN

/* What is known of when ticks were. */
enum tg_times {
	TG_DATED,
	TG_TIME_OF_DAY, /* in the order of ticks; a date may stand above some of them */
	TG_RELATIVE, /* since the log began */
	TG_NUMBERED, /* nothing: the n-th tick is at n seconds, so that there is an order */
};

struct tg_log_tick {
	int64_t civil_ns; /* as the log has it; of the day alone in a grid without dates */
	int64_t utc_ns; /* once it is known, see resolve.h */
	int64_t begin_ns; /* civil: when its interval began; TG_UNKNOWN: at the tick before */
	int64_t after_ns; /* civil: a date that the log has above it; TG_UNKNOWN: none */
	int32_t up_min; /* minutes that the machine was up; -1: unknown */
};

struct tg_change {
	double value;
	uint32_t tick;
	uint32_t
		column; /* the grid's n_columns: its place among the items of the tick; NaN: gone */
};

struct tg_log_item {
	char *name;
	char *title; /* what else it is called, as a GPU's model; NULL: nothing */
	uint32_t first, last; /* ticks in which it was seen */
	bool placed; /* it is wanted in order: it had a place once */
	double *now; /* n_columns + 1 values, as they were in `last` */
	struct tg_change *change;
	uint32_t n, cap;
};

struct tg_readings {
	uint32_t n_columns;
	uint32_t n_ticks, n_items;
	size_t cap_ticks, cap_items;
	struct tg_log_tick *tick;
	struct tg_log_item *item;
	struct tg_map by_name; /* hashes of names -> places */
	uint64_t n_changes;
	uint32_t n_rows, n_placed; /* items of the last tick, so far; those with a place */
	int64_t next_begin_ns, next_after_ns; /* of the tick that comes next */
	/* Of a tool that leaves out who did nothing: an item is as it was until its last row, with
	 * 0 in these columns (bits). 0: what has no row is gone. */
	uint64_t idle_columns;
	enum tg_times times;
	bool undated; /* once it is resolved: there is no date anywhere */
	bool in_utc; /* stamps are in UTC, not of a zone's clock */
	bool full; /* a bound was reached: what came then is not in it */
};

void tg_readings_init(struct tg_readings *g, uint32_t n_columns);
void tg_readings_release(struct tg_readings *g);

/* Begin a tick. Rows belong to it from here on. */
void tg_readings_tick(struct tg_readings *g, int64_t civil_ns);

/* Place of the item of that name, which is made when it is new. -1: there are too many. */
ptrdiff_t tg_readings_item(struct tg_readings *g, const char *name);

/* A new item, whatever others are called. -1: there are too many. */
ptrdiff_t tg_readings_add(struct tg_readings *g, const char *name);

/*
 * What the tick has of an item: a value for each column. A second row in a tick is not taken. Its
 * place among the tick's rows is kept, but for one aside, which then comes behind those that have a
 * place: where hundreds are sorted anew in each tick, places would be most of what there is.
 */
void tg_readings_row(struct tg_readings *g, size_t item, const double *value);
void tg_readings_row_aside(struct tg_readings *g, size_t item, const double *value);

/*
 * The row that the item had in the tick before, again. False, with nothing done, when it had none
 * there, or has one in this tick.
 */
bool tg_readings_again(struct tg_readings *g, size_t item);

/* Forget the last tick. No other may follow. */
void tg_readings_drop(struct tg_readings *g);

#endif
