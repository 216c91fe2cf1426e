/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the reader, and the writer when it reopens a file, share. */
#ifndef TG_RECORD_READER_PRIVATE_H
#define TG_RECORD_READER_PRIVATE_H

#include "base/buf.h"
#include "record/block.h"
#include "record/cache.h"
#include "record/held.h"
#include "record/index.h"
#include "record/reader.h"
#include "record/scan.h"

struct tg_reader {
	int fd;
	char *name; /* for sentences */
	struct tg_scan scan; /* its pos: behind the last whole chunk */
	struct tg_index index;
	struct tg_zip zip;
	struct tg_damage damage; /* what tg_reader_damage hands out */
	uint64_t undecodable; /* chunks whose payload was not what its type says */
	struct tg_table *table; /* the index' tables that have a definition, for the caller */
	size_t n_tables;
	struct tg_buf chunk; /* stored bytes of the chunk that was read last */
	struct tg_cache cache;
	struct tg_held held;
	const struct tg_block *rows; /* those asked for last; in the cache */
	struct tg_block *block; /* what verifying decodes: nobody asks for it twice */
	struct tg_process_block *cells;
	struct tg_group_stats *stats; /* one column's groups of a section */
	size_t cap_stats;
};

/*
 * Read and check the chunk at `offset`, which must have this type. Its payload is valid until the
 * next call. Returns 0, -EBADMSG, or -errno.
 */
int tg_reader_chunk(struct tg_reader *r, uint64_t offset, uint8_t type, struct tg_chunk *chunk);

/* Count a chunk that was whole when it was indexed and is not now. */
void tg_reader_lost(struct tg_reader *r);

/*
 * Read the head of the summary at `offset` into r->index.reading; its texts are valid until the
 * next unpacking. *h is the chunk's header. Returns 0 or -EBADMSG.
 */
int tg_reader_summary(struct tg_reader *r, uint64_t offset, struct tg_chunk_header *h);

/*
 * Let r->rows be these columns of the sample chunk at `place`, decoded now or before. Returns 0;
 * -EBADMSG, counted as damage at the first time; -errno.
 */
int tg_reader_decode(struct tg_reader *r, struct tg_place *place, size_t n_all,
	const uint32_t *column, size_t n);

#endif
