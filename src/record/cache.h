/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoded blocks of a recording by the place of their chunk, so that many short spans that lie in
 * a few chunks do not decode them anew each. Invariant: it holds at most TG_CACHE_BYTES; what does
 * not fit any more makes it let go of everything, which costs whoever goes through a file in order
 * little. It knows nothing of files and never decodes.
 */
#ifndef TG_RECORD_CACHE_H
#define TG_RECORD_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "record/block.h"

#define TG_CACHE_BYTES (UINT64_C(24) << 20)
#define TG_CACHE_SLOTS 4096

struct tg_cache_slot {
	uint64_t offset; /* of the chunk; 0: free, the first chunk of a file holds no rows */
	uint32_t *column; /* that were decoded */
	size_t n;
	struct tg_block *block;
};

struct tg_cache {
	struct tg_cache_slot *slot; /* NULL until something is put in */
	uint64_t bytes;
	struct tg_block view; /* of one column of a block */
};

/*
 * The block of the chunk at `offset` with exactly these columns in this order, also when it is a
 * single one among those that were decoded together; NULL: not here. Valid until the next call.
 */
const struct tg_block *tg_cache_find(
	struct tg_cache *c, uint64_t offset, const uint32_t *column, size_t n);

/* Keep `block`, which it takes, and hand it back. */
const struct tg_block *tg_cache_put_take(struct tg_cache *c, uint64_t offset,
	const uint32_t *column, size_t n, struct tg_block *block);

void tg_cache_release(struct tg_cache *c);

#endif
