/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows on their way from the sampler to the file: plain memory, column by column, that one thread
 * fills and another encodes. No I/O, no compression here.
 */
#ifndef TG_RECORD_BLOCK_H
#define TG_RECORD_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Rows of one table. values[column * cap + row]; TG_MISSING where there is none. */
struct tg_block {
	uint32_t table;
	uint32_t n_columns;
	uint32_t n_rows;
	uint32_t cap;
	int64_t *t_ns; /* CLOCK_MONOTONIC, ascending */
	int64_t *values;
};

/* Caller frees. `cap` is the most rows it will hold, at least 1. */
struct tg_block *tg_block_new(uint32_t table, uint32_t n_columns, uint32_t cap);
void tg_block_free(struct tg_block *b);

/* Append a row of n_columns values. Returns 0, or -ENOSPC when cap rows are there. */
int tg_block_add(struct tg_block *b, int64_t t_ns, const int64_t *values);

/* Bytes it holds in memory, for the bound of a queue. */
size_t tg_block_bytes(const struct tg_block *b);

/* One value of one process at one moment. */
struct tg_process_cell {
	int64_t t_ns;
	uint32_t entity;
	uint32_t field; /* enum tg_process_field */
	int64_t value;
};

/* Cells in order of time. Grows as needed. */
struct tg_process_block {
	struct tg_process_cell *cell;
	size_t n;
	size_t cap;
};

struct tg_process_block *tg_process_block_new(void);
void tg_process_block_free(struct tg_process_block *b);
void tg_process_block_add(struct tg_process_block *b, const struct tg_process_cell *cell);

#endif
