/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of SAMPLES chunks: a plain prefix that an index needs (table, rows, first and last
 * time stamp), then columns of differences. A payload is decodable with the table's definition
 * alone; it refers to no other chunk.
 */
#ifndef TG_RECORD_SAMPLES_H
#define TG_RECORD_SAMPLES_H

#include "base/buf.h"
#include "record/block.h"
#include "record/chunk.h"

#define TG_SAMPLES_PREFIX 24
#define TG_SAMPLES_VALUES (1u << 20) /* rows * columns of one chunk are at most this */

struct tg_samples_prefix {
	uint32_t table, rows;
	int64_t first_ns, last_ns;
};

/* Most rows of a table of `n_columns` that one chunk may hold. */
uint32_t tg_samples_rows_max(size_t n_columns);

/*
 * Append the payload of rows [from, from + n) of `b` to `out`; n is 1 to tg_samples_rows_max().
 * Returns the chunk's flags.
 */
uint16_t tg_samples_encode(
	struct tg_zip *z, const struct tg_block *b, uint32_t from, uint32_t n, struct tg_buf *out);

/* Returns 0, or -EBADMSG when it is no prefix of a chunk (sizes, order of times). */
int tg_samples_prefix_get(const uint8_t *payload, size_t len, struct tg_samples_prefix *prefix);

/*
 * Decode the listed columns (each below n_all, the table's number of columns) into *out, which is
 * made or made larger as needed and stays the caller's. Returns 0 or -EBADMSG.
 */
int tg_samples_decode(struct tg_zip *z, uint16_t flags, const uint8_t *payload, size_t len,
	size_t n_all, const uint32_t *column, size_t n, struct tg_block **out);

#endif
