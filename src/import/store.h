/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording that is being written of logs: events on their way to it, stamps of its clock, and
 * the counters, which go on from one log of a tool to the next.
 */
#ifndef TG_IMPORT_STORE_H
#define TG_IMPORT_STORE_H

#include "base/json.h"
#include "base/map.h"
#include "record/block.h"
#include "record/writer.h"

#define TG_STORE_ROWS 64 /* of a table in a chunk */

struct tg_store {
	struct tg_writer *writer;
	int error; /* the first -errno, or 0: nothing is written behind it */
	int64_t base_ns; /* UTC at the clock's 0 */
	struct tg_buf events;
	struct tg_jw jw;
	struct tg_map by_name; /* hashes of metrics and instances -> counters */
	double *counter;
	size_t n_counters, cap_counters;
};

void tg_store_init(struct tg_store *s, struct tg_writer *writer, int64_t base_ns);
void tg_store_release(struct tg_store *s);

/* The stamp of a moment. */
int64_t tg_store_stamp(const struct tg_store *s, int64_t utc_ns);

/* Add members to the writer that is returned, then close. */
struct tg_jw *tg_store_event(struct tg_store *s, const char *ev, int64_t utc_ns);
void tg_store_event_close(struct tg_store *s);
void tg_store_flush(struct tg_store *s);

/* The place of the counter of that metric and instance in s->counter. */
size_t tg_store_counter(struct tg_store *s, const char *metric, const char *instance);

/* A table that starts here; its number. */
uint32_t tg_store_table(
	struct tg_store *s, const char *name, const struct tg_column *column, size_t n);

/* Add a row, and write the block when it is full; with `row` NULL write what is in it. */
void tg_store_row(struct tg_store *s, struct tg_block *b, int64_t utc_ns, const int64_t *row);

/* The same for processes. */
void tg_store_processes(struct tg_store *s, struct tg_process_block *b);

/* A value in the unit of a metric with that scale; TG_MISSING when it is NaN or too large. */
int64_t tg_store_value(double v, int scale);

/*
 * A name as an instance; control characters become '?'. Of what is too long the end, behind six
 * hexadecimal digits of the whole, so that two such names stay two.
 */
void tg_store_instance(char *out, size_t size, const char *name);

#endif
