/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reader keeps of a file in memory: which sessions and tables there are, and where the
 * chunks are with their times. Invariant: everything in it was checked against a CRC; what it
 * holds is bounded by TG_INDEX_HELD_MAX and by the number of chunks that fit into the file.
 */
#ifndef TG_RECORD_INDEX_H
#define TG_RECORD_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "record/chunk.h"
#include "record/reader.h"
#include "record/table.h"

#define TG_INDEX_HELD_MAX (UINT64_C(256) << 20) /* bytes of definitions and session objects */

/* Where a chunk is and which times it holds (0 to 0 for events). */
struct tg_place {
	uint64_t offset;
	int64_t first_ns, last_ns;
	uint32_t rows;
	uint32_t session;
};

struct tg_places {
	struct tg_place *p;
	size_t n, cap;
};

/* A table; `def` is NULL until its definition was seen (its chunk may be lost, a summary follows).
 */
struct tg_index_table {
	uint32_t number;
	uint32_t session;
	struct tg_table_def *def;
	struct tg_places places;
};

struct tg_index {
	struct tg_session *session;
	size_t n_sessions, cap_sessions;
	struct tg_index_table **table; /* in file order */
	size_t n_tables, cap_tables;
	size_t last_table; /* position of the one looked up last */
	struct tg_places events;
	struct tg_places processes;
	uint64_t held; /* bytes */
};

void tg_index_init(struct tg_index *x);
void tg_index_release(struct tg_index *x);

/* The table of this number, or NULL. */
struct tg_index_table *tg_index_table(struct tg_index *x, uint32_t number);

/*
 * Take in a chunk that was read whole. Unknown types are passed over. Returns 0, or -EBADMSG when
 * the payload is not what its type says (then nothing was taken in).
 */
int tg_index_add(struct tg_index *x, struct tg_zip *z, const struct tg_chunk *chunk);

#endif
