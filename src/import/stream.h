/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A grid of a log on its way into a recording, tick by tick: its columns become metrics, one
 * instance an item. Rates become counters: a value times the interval that it is the mean of. Where
 * that is not known, as of the first tick, nothing is added.
 */
#ifndef TG_IMPORT_STREAM_H
#define TG_IMPORT_STREAM_H

#include "import/logfile.h"
#include "import/store.h"
#include "import/walk.h"

#define TG_STREAM_TABLES_MAX 256

struct tg_stream {
	struct tg_store *store;
	const struct tg_logfile *log;
	const struct tg_log_layout *layout;
	const struct tg_readings *grid;
	struct tg_walk walk;
	int64_t cpus; /* of the machine; 0: unknown */
	int64_t period_ns;
	int64_t before_ns; /* UTC of the tick before; TG_UNKNOWN: none */
	uint64_t ever; /* columns that have a value somewhere */
	uint64_t wanted; /* outputs */
	bool *counts; /* items that are whole disks, as far as a metric asks for these */
	uint32_t *item; /* of the table at hand, in ascending order */
	size_t n_items, cap_items;
	size_t n_tables;
	bool said; /* that there are more columns than a table has */
	struct tg_block *block;
	int64_t *row;
	size_t *counter; /* of each column */
	const double **of_item; /* the row of each of its items in the tick; NULL: none */
};

/* `wanted`: bits of the layout's outputs that are to be written. */
void tg_stream_begin(struct tg_stream *s, struct tg_store *store, const struct tg_logfile *log,
	const struct tg_log_part *part, int64_t cpus, uint64_t wanted);

/* UTC of the tick that comes next; INT64_MAX: there is none. */
int64_t tg_stream_next_ns(const struct tg_stream *s);

/* Write that tick; not when it lies before `from_ns`, as then another log has told of that time. */
void tg_stream_tick(struct tg_stream *s, int64_t from_ns);
void tg_stream_end(struct tg_stream *s);

/* Outputs of a part that have values, as bits. */
uint64_t tg_stream_outputs(const struct tg_log_part *part, int64_t cpus);

#endif
