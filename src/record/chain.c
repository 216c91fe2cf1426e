/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/chain.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "record/varint.h"

#include "base/mem.h"

#define LOOK_BACK (4u << 20) /* bytes before the end in which a summary is looked for */
#define TRIES_MAX 64 /* headers of summaries that turn out not to be */

struct link {
	uint64_t offset;
	uint64_t begin; /* of what its index covers */
};

/* Read header, prefix and head of the summary at `offset` into r->chunk. Returns 0 or -EBADMSG. */
static int read_head(struct tg_reader *r, uint64_t offset, struct tg_chunk_header *h)
{
	const size_t fixed = TG_CHUNK_HEADER + TG_SUMMARY_PREFIX;
	size_t size, want = 8192;
	const uint8_t *raw;
	ssize_t n;

	for (;;) {
		tg_buf_clear(&r->chunk);
		tg_buf_reserve(&r->chunk, want);
		raw = (const uint8_t *)r->chunk.data;
		n = tg_file_pread_all(r->fd, r->chunk.data, want, (off_t)offset);
		r->scan.read_bytes += (uint64_t)TG_MAX(n, 0);
		if (n < (ssize_t)fixed || tg_chunk_header_get(raw, h) < 0 ||
			h->type != TG_CHUNK_SUMMARY)
			return -EBADMSG;
		size = tg_summary_head_size(raw + TG_CHUNK_HEADER, h->length);
		if (!size)
			return -EBADMSG;
		if ((size_t)n >= TG_CHUNK_HEADER + size)
			return 0;
		if (want >= TG_CHUNK_HEADER + size)
			return -EBADMSG; /* the file ends in it */
		want = TG_CHUNK_HEADER + size;
	}
}

int tg_reader_summary(struct tg_reader *r, uint64_t offset, struct tg_chunk_header *h)
{
	int k = read_head(r, offset, h);

	return k ? k
		 : tg_summary_decode(&r->index.reading, &r->zip,
			   (const uint8_t *)r->chunk.data + TG_CHUNK_HEADER, h->length, offset);
}

static bool is_summary(struct tg_reader *r, uint64_t offset, uint64_t size)
{
	struct tg_chunk_header h;

	return offset < size && tg_reader_summary(r, offset, &h) == 0 &&
	       offset + TG_CHUNK_HEADER + h.length <= size;
}

/* The end chunk's last 16 bytes: u64 offset of the last summary, u32 length of the end chunk with
 * its header, u32 magic. */
static uint64_t from_end_chunk(struct tg_reader *r, uint64_t size)
{
	uint8_t raw[16];

	if (size < TG_CHUNK_HEADER + 16 ||
		tg_file_pread_all(r->fd, raw, 16, (off_t)size - 16) != 16 ||
		tg_get32(raw + 12) != TG_CHUNK_MAGIC)
		return TG_NO_SUMMARY;
	return is_summary(r, tg_get64(raw), size) ? tg_get64(raw) : TG_NO_SUMMARY;
}

/* The last summary that begins within LOOK_BACK of the end. */
static uint64_t from_behind(struct tg_reader *r, uint64_t size)
{
	uint64_t at = size > LOOK_BACK ? size - LOOK_BACK : 0;
	struct tg_buf window = TG_BUF_INIT;
	uint64_t found = TG_NO_SUMMARY;
	struct tg_chunk_header h;
	const uint8_t *p;
	int tries = 0;
	ssize_t n;

	tg_buf_reserve(&window, LOOK_BACK);
	n = tg_file_pread_all(r->fd, window.data, LOOK_BACK, (off_t)at);
	p = (const uint8_t *)window.data;
	for (ssize_t i = n - TG_CHUNK_HEADER; i >= 0 && found == TG_NO_SUMMARY && tries < TRIES_MAX;
		i--) {
		if (tg_get32(p + i) != TG_CHUNK_MAGIC || tg_chunk_header_get(p + i, &h) < 0 ||
			h.type != TG_CHUNK_SUMMARY)
			continue;
		tries++;
		if (is_summary(r, at + (uint64_t)i, size))
			found = at + (uint64_t)i;
	}
	tg_buf_release(&window);
	return found;
}

/* From the last summary to the first. Returns 0, or -EBADMSG when a link is broken. */
static int follow(struct tg_reader *r, uint64_t offset, uint64_t size, struct link **out, size_t *n)
{
	struct link *list = NULL;
	uint64_t limit = size;
	size_t cap = 0;
	int k = 0;

	*n = 0;
	while (k == 0 && offset != TG_NO_SUMMARY) {
		if (offset >= limit || !is_summary(r, offset, size)) {
			k = -EBADMSG;
			break;
		}
		TG_GROW(list, *n + 1, cap);
		limit = r->index.reading.summary.begin;
		list[(*n)++] = (struct link){ offset, limit };
		offset = r->index.reading.summary.previous;
	}
	*out = list;
	return k;
}

/* Index what lies between summaries, at [r->scan.pos, end). */
static int scan_to(struct tg_reader *r, uint64_t end)
{
	struct tg_chunk chunk;
	int k = 1;

	while (r->scan.pos < end && (k = tg_scan_next(&r->scan, &chunk)) > 0) {
		if (chunk.offset >= end)
			break; /* found behind a hole: its summary lists it */
		if (tg_index_add(&r->index, &r->zip, &chunk) < 0)
			r->undecodable++;
	}
	return k < 0 ? k : 0;
}

static int take(struct tg_reader *r, const struct link *link)
{
	struct tg_chunk_header h;
	int k = scan_to(r, link->begin);

	if (k)
		return k;
	k = read_head(r, link->offset, &h);
	if (k)
		return k;
	k = tg_index_summary(&r->index, &r->zip, &h, link->offset,
		(const uint8_t *)r->chunk.data + TG_CHUNK_HEADER, true);
	if (k)
		return k;
	r->scan.pos = link->offset + TG_CHUNK_HEADER + h.length;
	r->scan.next_sequence = h.sequence + 1;
	r->scan.last_session = h.session;
	r->scan.damage.chunks += r->index.reading.summary.n_entries + 1;
	r->scan.damage.ended = false;
	return 0;
}

int tg_chain_index(struct tg_reader *r)
{
	struct link *list = NULL;
	uint64_t last, size;
	struct stat st;
	size_t n = 0;
	int k;

	if (fstat(r->fd, &st) < 0)
		return -errno;
	size = (uint64_t)st.st_size;
	last = from_end_chunk(r, size);
	if (last == TG_NO_SUMMARY && size > LOOK_BACK)
		last = from_behind(r, size);
	if (last == TG_NO_SUMMARY)
		return 0;
	k = follow(r, last, size, &list, &n);
	while (k == 0 && n)
		k = take(r, &list[--n]);
	free(list);
	if (k == 0)
		return 1;
	/* begin again, from the beginning */
	tg_index_release(&r->index);
	tg_scan_release(&r->scan);
	tg_scan_init(&r->scan, r->fd);
	r->undecodable = 0;
	return k == -EBADMSG ? 0 : k;
}
