/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of SUMMARY chunks: an index of the chunks since the summary before, the session and the
 * tables again, the open spans, and the groups of rows, column by column, so that one column is
 * read without the others. A part is believed by its own CRC: a reader need not read it all.
 *
 *   0  u64 offset of the previous summary's chunk, TG_NO_SUMMARY where there is none
 *   8  u32 stored length of the head   12 u32 its flags (TG_CHUNK_ZSTD)
 *  16  u32 CRC32C of the 16 bytes above and the stored head
 *  20  head, packed as its flags say
 *      a directory for each section: (columns + 1) u32, where its parts begin, from the payload's
 *      first byte; the last is where the last part ends
 *      parts: u32 CRC32C of the rest, the rest
 */
#ifndef TG_RECORD_SUMMARY_H
#define TG_RECORD_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "record/chunk.h"
#include "record/groups.h"

#define TG_NO_SUMMARY     UINT64_MAX /* offset of no chunk */
#define TG_SUMMARY_PREFIX 20

/* A chunk as the index has it; table, rows and times are 0 for types that have none. */
struct tg_summary_entry {
	uint8_t type;
	uint32_t length; /* of its stored payload */
	uint32_t table;
	uint32_t rows; /* or cells */
	int64_t first_ns, last_ns;
};

/* The groups of one table, which lie in the chunks at [begin, end). */
struct tg_summary_section {
	uint32_t table;
	uint32_t n_columns;
	uint64_t begin, end;
	uint32_t n_groups;
	const struct tg_group_span *span;
	const struct tg_group_stats *stats; /* writing: [group * n_columns + column] */
	uint32_t directory; /* reading: where it is in the payload */
};

struct tg_slice {
	const char *data;
	size_t len;
};

struct tg_summary_table {
	uint32_t number;
	struct tg_slice json; /* the table chunk's object */
};

/* A summary in memory. Everything is borrowed when writing, and when reading as said below. */
struct tg_summary {
	uint64_t previous;
	uint64_t begin; /* where the first chunk of the index is; the others follow */
	const struct tg_summary_entry *entry;
	size_t n_entries;
	struct tg_slice session; /* the session chunk's object */
	const struct tg_summary_table *table;
	size_t n_tables;
	struct tg_slice open; /* begin events of the open spans, one a line, without "code" */
	const struct tg_summary_section *section;
	size_t n_sections;
};

/* Append the payload to `out`. */
void tg_summary_encode(const struct tg_summary *s, struct tg_zip *z, struct tg_buf *out);

/* Storage for a summary that is read; texts point into the tg_zip's buffer. */
struct tg_summary_reading {
	struct tg_summary summary;
	struct tg_summary_entry *entry;
	struct tg_summary_table *table;
	struct tg_summary_section *section;
	struct tg_group_span *span;
	size_t cap_entries, cap_tables, cap_sections, cap_spans;
};

void tg_summary_reading_release(struct tg_summary_reading *s);

/* How many bytes of a payload are prefix and head: 0 when the prefix (20 bytes) is senseless. */
size_t tg_summary_head_size(const uint8_t *prefix, uint32_t payload_len);

/*
 * Read prefix and head (tg_summary_head_size bytes) of the summary whose chunk is at `offset`. The
 * index must tile the file from `begin` to `offset`, sections lie before it. Returns 0 or -EBADMSG.
 */
int tg_summary_decode(struct tg_summary_reading *s, struct tg_zip *z, const uint8_t *head,
	uint32_t payload_len, uint64_t offset);

/* Most bytes of the part of one column over `n_groups` groups. */
size_t tg_summary_part_max(uint32_t n_groups);

/* Read a part (with its CRC). `span` and `stats` have n_groups elements. Returns 0 or -EBADMSG. */
int tg_summary_part_decode(const uint8_t *part, size_t len, const struct tg_group_span *span,
	uint32_t n_groups, struct tg_group_stats *stats);

#endif
