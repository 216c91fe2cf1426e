/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole tables of a recording in memory, each as one block: for those who read column after column
 * of hours, which would decode every chunk anew for each. It knows nothing of files.
 */
#ifndef TG_RECORD_HELD_H
#define TG_RECORD_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/block.h"

struct tg_held {
	uint64_t bytes_max; /* of all tables together; 0: none is kept */
	uint64_t bytes;
	struct tg_block **block;
	size_t n, cap;
	struct tg_block view; /* of one column */
	struct tg_block *copy; /* of several, as one block */
};

/* The table of that number, or NULL. */
struct tg_block *tg_held_find(const struct tg_held *k, uint32_t table);

/* Whether there is room for a table of so many columns and rows. */
bool tg_held_fits(const struct tg_held *k, size_t columns, uint64_t rows);

/* Keep `block`, which it takes. */
void tg_held_put_take(struct tg_held *k, struct tg_block *block);

/* Append the rows of `from`, which has the same columns, as far as there is room. */
void tg_held_append(struct tg_block *to, const struct tg_block *from);

/*
 * The listed columns of the rows in [from_ns, to_ns], and of one on either side, as a block. Valid
 * until the next call.
 */
const struct tg_block *tg_held_view(struct tg_held *k, const struct tg_block *block,
	const uint32_t *column, size_t n, int64_t from_ns, int64_t to_ns);

void tg_held_release(struct tg_held *k);

#endif
