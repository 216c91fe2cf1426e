/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reader keeps of a file in memory: which sessions and tables there are, and where the
 * chunks are with their times. Invariant: everything in it was checked against a CRC; what it
 * holds is bounded by TG_INDEX_HELD_MAX and by the number of chunks that fit into the file.
 */
#ifndef TG_RECORD_INDEX_H
#define TG_RECORD_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "record/chunk.h"
#include "record/reader.h"
#include "record/summary.h"
#include "record/table.h"

#define TG_INDEX_HELD_MAX (UINT64_C(256) << 20) /* bytes of definitions and session objects */

/* Where a chunk is and which times it holds (0 to 0 for events). */
struct tg_place {
	uint64_t offset;
	int64_t first_ns, last_ns;
	uint32_t rows;
	uint32_t session;
	bool bad; /* could not be decoded, and was counted */
};

struct tg_places {
	struct tg_place *p;
	size_t n, cap;
	bool unordered; /* times do not rise from each to the next: damage */
};

/* Groups of a table that a summary has. They stand for its chunks at [begin, end). */
struct tg_index_section {
	uint64_t begin, end;
	uint64_t payload; /* where the summary's payload is in the file */
	uint32_t payload_len;
	uint32_t directory; /* where the section's directory is in the payload */
	uint32_t n_groups;
	size_t first_group; /* in the table's list of groups */
	uint32_t *offsets; /* the directory, once it was needed: columns + 1 */
};

/* A table; `def` is NULL until its definition was seen (its chunk may be lost, a summary follows).
 */
struct tg_index_table {
	uint32_t number;
	uint32_t session;
	struct tg_table_def *def;
	struct tg_places places;
	struct tg_index_section *section; /* ascending, without overlap */
	size_t n_sections, cap_sections;
	struct tg_group_span *group;
	size_t n_groups, cap_groups;
};

struct tg_index {
	struct tg_session *session;
	size_t n_sessions, cap_sessions;
	struct tg_index_table *table; /* in file order */
	size_t n_tables, cap_tables;
	struct tg_map table_at, session_at; /* their places, by number */
	struct tg_places events;
	struct tg_places processes;
	struct tg_places summaries; /* those that were whole */
	uint64_t held; /* bytes */
	struct tg_summary_reading reading;
};

void tg_index_init(struct tg_index *x);
void tg_index_release(struct tg_index *x);

/* The table of this number, or NULL; valid until something is added. */
struct tg_index_table *tg_index_table(struct tg_index *x, uint32_t number);

/*
 * Take in a chunk that was read whole. Unknown types are passed over. Returns 0, or -EBADMSG when
 * the payload is not what its type says (then nothing was taken in).
 */
int tg_index_add(struct tg_index *x, struct tg_zip *z, const struct tg_chunk *chunk);

/*
 * Take in the summary whose chunk has this header and is at `offset`; `head` are its first
 * tg_summary_head_size bytes. With `entries` also the chunks that it lists. Returns 0 or -EBADMSG
 * (then nothing was taken in). x->reading.summary is what was read, until the next unpacking.
 */
int tg_index_summary(struct tg_index *x, struct tg_zip *z, const struct tg_chunk_header *h,
	uint64_t offset, const uint8_t *head, bool entries);

#endif
