/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of PROCESS chunks: cells (time, entity, field, value) in order of time, each value as a
 * difference from the one before of the same entity and field in the same chunk.
 */
#ifndef TG_RECORD_PROCESSES_H
#define TG_RECORD_PROCESSES_H

#include "base/buf.h"
#include "record/block.h"
#include "record/chunk.h"

#define TG_PROCESS_PREFIX    20
#define TG_PROCESS_CELLS_MAX (1u << 18) /* of one chunk */

struct tg_process_prefix {
	uint32_t cells;
	int64_t first_ns, last_ns;
};

/* Append the payload of n cells (1 to TG_PROCESS_CELLS_MAX). Returns the chunk's flags. */
uint16_t tg_processes_encode(
	struct tg_zip *z, const struct tg_process_cell *cell, size_t n, struct tg_buf *out);

/* Returns 0, or -EBADMSG when it is no prefix of a chunk. */
int tg_processes_prefix_get(const uint8_t *payload, size_t len, struct tg_process_prefix *prefix);

/* Replace the content of `out`. Returns 0 or -EBADMSG. */
int tg_processes_decode(struct tg_zip *z, uint16_t flags, const uint8_t *payload, size_t len,
	struct tg_process_block *out);

#endif
