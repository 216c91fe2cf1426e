/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a whole recording chunk by chunk, whatever the index says, and decodes everything. */
#include <errno.h>

#include "record/processes.h"
#include "record/reader_private.h"
#include "record/samples.h"
#include "record/varint.h"

#include "base/mem.h"

static int check_samples(struct tg_reader *r, const struct tg_chunk *chunk)
{
	struct tg_samples_prefix prefix;
	struct tg_index_table *t;
	uint32_t *column;
	int k;

	if (tg_samples_prefix_get(chunk->payload, chunk->header.length, &prefix) < 0)
		return -EBADMSG;
	t = tg_index_table(&r->index, prefix.table);
	if (!t || !t->def)
		return -EBADMSG;
	column = tg_xcalloc(t->def->n_columns + 1, sizeof(*column));
	for (uint32_t i = 0; i < t->def->n_columns; i++)
		column[i] = i;
	k = tg_samples_decode(&r->zip, chunk->header.flags, chunk->payload, chunk->header.length,
		t->def->n_columns, column, t->def->n_columns, &r->block);
	free(column);
	return k;
}

/* Every part, in the order of the directories. */
static int check_summary(struct tg_reader *r, const struct tg_chunk *chunk)
{
	struct tg_summary_reading s = { 0 };
	uint32_t len = chunk->header.length;
	int k = len < TG_SUMMARY_PREFIX
			? -EBADMSG
			: tg_summary_decode(&s, &r->zip, chunk->payload, len, chunk->offset);

	for (size_t i = 0; k == 0 && i < s.summary.n_sections; i++) {
		const struct tg_summary_section *section = &s.section[i];

		TG_GROW(r->stats, section->n_groups, r->cap_stats);
		for (uint32_t c = 0; k == 0 && c < section->n_columns; c++) {
			const uint8_t *at = chunk->payload + section->directory + 4 * (size_t)c;
			uint32_t begin = tg_get32(at), end = tg_get32(at + 4);

			k = begin > end || end > len
				    ? -EBADMSG
				    : tg_summary_part_decode(chunk->payload + begin, end - begin,
					      section->span, section->n_groups, r->stats);
		}
	}
	tg_summary_reading_release(&s);
	return k;
}

static int check(struct tg_reader *r, const struct tg_chunk *chunk)
{
	const struct tg_chunk_header *h = &chunk->header;
	struct tg_table_def *def;
	const uint8_t *plain;
	size_t len;
	int k;

	switch (h->type) {
	case TG_CHUNK_SAMPLES:
		return check_samples(r, chunk);
	case TG_CHUNK_PROCESS:
		return tg_processes_decode(&r->zip, h->flags, chunk->payload, h->length, r->cells);
	case TG_CHUNK_SESSION:
	case TG_CHUNK_EVENTS:
		return tg_zip_unpack(&r->zip, h->flags, chunk->payload, h->length, &plain, &len);
	case TG_CHUNK_TABLE:
		k = tg_zip_unpack(&r->zip, h->flags, chunk->payload, h->length, &plain, &len);
		def = k < 0 ? NULL : tg_table_parse((const char *)plain, len);
		tg_table_free(def);
		return def ? 0 : -EBADMSG;
	case TG_CHUNK_SUMMARY:
		return check_summary(r, chunk);
	default:
		return 0;
	}
}

int tg_reader_verify(struct tg_reader *r, struct tg_damage *damage)
{
	struct tg_chunk chunk;
	struct tg_scan scan;
	uint64_t bad = 0;
	int k;

	tg_scan_init(&scan, r->fd);
	while ((k = tg_scan_next(&scan, &chunk)) > 0)
		if (check(r, &chunk) < 0)
			bad++;
	*damage = tg_scan_damage(&scan);
	damage->chunks -= bad;
	damage->lost_chunks += bad;
	tg_scan_release(&scan);
	return k;
}
