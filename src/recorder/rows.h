/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings become blocks: one of the main table, one of the processes' values, each handed to the
 * output once a second or so. What the output does not take is lost whole, and remembered as a gap.
 */
#ifndef TG_RECORDER_ROWS_H
#define TG_RECORDER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/events.h"
#include "recorder/output.h"
#include "sample/sampler.h"

#define TG_ROWS_PROCESS_CELLS 65536 /* values of processes in one block */

struct tg_rows {
	struct tg_output *output;
	uint32_t next_table, table;
	unsigned generation; /* of the sampler's columns that `table` has */
	bool have_table; /* `table` was handed over */
	size_t cap; /* rows that a block is made for */
	struct tg_block *block; /* NULL: no row yet */
	struct tg_process_block *processes;
	int64_t last_ns; /* of the last row; 0: none */
	int64_t gap_from, gap_to; /* lost and not yet said; 0: none */
};

void tg_rows_init(struct tg_rows *r, struct tg_output *output, uint32_t next_table);
void tg_rows_release(struct tg_rows *r);

void tg_rows_add(struct tg_rows *r, const struct tg_reading *reading);
void tg_rows_value(struct tg_rows *r, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value);

/* Hand over what there is: the events, then rows and values. Says gaps and losses first. */
void tg_rows_flush(struct tg_rows *r, struct tg_events *e);

/* Hand over the events alone. */
void tg_rows_flush_events(struct tg_rows *r, struct tg_events *e);

#endif
