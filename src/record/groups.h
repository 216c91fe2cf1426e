/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a writer keeps of a table's rows until the next summary: min, max, first, last and count of
 * each column by groups of whole chunks that hold at least TG_GROUP_ROWS rows together.
 */
#ifndef TG_RECORD_GROUPS_H
#define TG_RECORD_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "record/block.h"

struct tg_group_span {
	int64_t first_ns, last_ns;
	uint32_t rows;
};

struct tg_group_stats {
	int64_t min, max, first, last; /* mean nothing when count is 0 */
	uint32_t count; /* rows with a value */
};

struct tg_groups {
	uint32_t n_columns;
	struct tg_group_span open; /* the group that is being filled; rows may be 0 */
	struct tg_group_stats *open_stats;
	uint64_t open_begin, open_end; /* where its chunks are in the file */
	struct tg_group_span *span; /* groups that are full */
	struct tg_group_stats *stats; /* [group * n_columns + column] */
	size_t n, cap_span, cap_stats;
	uint64_t begin, end; /* where the chunks of full groups are */
};

void tg_groups_init(struct tg_groups *g, uint32_t n_columns);
void tg_groups_release(struct tg_groups *g);

/* Take in rows [from, from + n) of `b`, which are the chunk at [begin, end) of the file. */
void tg_groups_add(struct tg_groups *g, const struct tg_block *b, uint32_t from, uint32_t n,
	uint64_t begin, uint64_t end);

/* End the open group, however short. */
void tg_groups_close(struct tg_groups *g);

/* Forget the full groups. */
void tg_groups_clear(struct tg_groups *g);

#endif
