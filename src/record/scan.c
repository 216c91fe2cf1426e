/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/scan.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "record/crc32c.h"
#include "record/varint.h"

#include "base/mem.h"

#define WINDOW      (256u << 10)
#define FOREIGN_MAX (UINT64_C(2) * TG_CHUNK_MAX) /* no chunk up to here: no recording */
#define SEARCH_MAX  (UINT64_C(1) << 30) /* bytes without a chunk to look through, holes apart */
#define WASTE_MAX   (UINT64_C(256) << 20) /* bytes of chunks with a wrong CRC to look into */

void tg_scan_init(struct tg_scan *s, int fd)
{
	*s = (struct tg_scan){ .fd = fd, .window = TG_BUF_INIT };
}

void tg_scan_release(struct tg_scan *s)
{
	tg_buf_release(&s->window);
}

/* Point *p at up to `want` bytes at `at`. Returns how many there are (fewer at the end), -errno. */
static int64_t view(struct tg_scan *s, uint64_t at, size_t want, const uint8_t **p)
{
	ssize_t n;

	if (at < s->window_at || at + want > s->window_at + s->window.len) {
		size_t size = TG_MAX(want, (size_t)WINDOW);

		tg_buf_clear(&s->window);
		tg_buf_reserve(&s->window, size);
		n = tg_file_pread_all(s->fd, s->window.data, size, (off_t)at);
		if (n < 0)
			return n;
		s->window.len = (size_t)n;
		s->read_bytes += (uint64_t)n;
		s->window_at = at;
	}
	*p = (const uint8_t *)s->window.data + (at - s->window_at);
	return (int64_t)TG_MIN(want, s->window.len - (size_t)(at - s->window_at));
}

/* The first byte from `at` on that is stored, or the end: a hole of terabytes takes no time. */
static uint64_t behind_hole(const struct tg_scan *s, uint64_t at)
{
	off_t data = lseek(s->fd, (off_t)at, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		data = lseek(s->fd, 0, SEEK_END);
	/* a file system that does not know its holes has zeros read instead */
	return data > (off_t)at ? (uint64_t)data : at;
}

/*
 * Position of the next magic number from *at on, which takes from *budget what it reads. Returns 1;
 * 0 at the end, the limit or when the budget is spent; -errno.
 */
static int find_magic(struct tg_scan *s, uint64_t *at, uint64_t limit, uint64_t *budget)
{
	uint8_t magic[4];

	tg_put32(magic, TG_CHUNK_MAGIC);
	for (;;) {
		const uint8_t *p, *hit;
		int64_t n = view(s, *at, sizeof(magic), &p);
		size_t rest;

		if (n < (int64_t)sizeof(magic)) {
			*at += (uint64_t)TG_MAX(n, 0);
			return (int)TG_MIN(n, 0);
		}
		/* what is at hand: a file of magic numbers must not be read anew for each */
		rest = s->window.len - (size_t)(*at - s->window_at);
		hit = memmem(p, rest, magic, sizeof(magic));
		if (hit) {
			*at += (uint64_t)(hit - p);
			return 1;
		}
		if (*at > limit || *budget < rest) {
			*at += rest;
			return 0;
		}
		*budget -= rest;
		*at = behind_hole(s, *at + rest - 3);
		if (*at > limit)
			return 0;
	}
}

/* Whether the file reaches as far; it may have grown. */
static bool reaches(struct tg_scan *s, uint64_t to)
{
	off_t end;

	if (to <= s->size)
		return true;
	end = lseek(s->fd, 0, SEEK_END);
	s->size = end > 0 ? (uint64_t)end : 0;
	return to <= s->size;
}

static void found(struct tg_scan *s, struct tg_chunk *chunk, uint64_t at)
{
	uint64_t sequence = chunk->header.sequence;

	if (at > s->pos) {
		s->damage.holes++;
		s->damage.bytes_skipped += at - s->pos;
	}
	if (sequence > s->next_sequence)
		s->damage.lost_chunks += sequence - s->next_sequence;
	s->next_sequence = sequence + 1;
	s->last_session = chunk->header.session;
	s->damage.chunks++;
	s->damage.ended = chunk->header.type == TG_CHUNK_END;
	s->pos = at + TG_CHUNK_HEADER + chunk->header.length;
	chunk->offset = at;
}

int tg_scan_next(struct tg_scan *s, struct tg_chunk *chunk)
{
	uint64_t at = s->pos, incomplete = UINT64_MAX, budget = SEARCH_MAX;
	struct tg_chunk_header *h = &chunk->header;
	const uint8_t *p;
	int64_t n;
	off_t end;
	int r;

	s->tail = (struct tg_damage){ 0 };
	for (;;) {
		n = view(s, at, TG_CHUNK_HEADER, &p);
		if (n < 0)
			return (int)n;
		if (n < TG_CHUNK_HEADER)
			break;
		r = tg_chunk_header_get(p, h);
		if (r == -EPROTONOSUPPORT)
			return r;
		if (r == 0) {
			size_t whole = TG_CHUNK_HEADER + (size_t)h->length;

			n = reaches(s, at + whole) ? view(s, at, whole, &p) : 0;
			if (n < 0)
				return (int)n;
			if ((size_t)n == whole &&
				tg_crc32c(0, p + TG_CHUNK_HEADER, h->length) == h->payload_crc) {
				chunk->payload = p + TG_CHUNK_HEADER;
				found(s, chunk, at);
				return 1;
			}
			if ((size_t)n < whole)
				incomplete = TG_MIN(incomplete, at);
			else
				s->wasted += whole;
			/* a file of headers that claim to be long must not cost the square */
			if (n && s->wasted > WASTE_MAX)
				at += (uint64_t)n - 1;
		}
		at++;
		r = find_magic(s, &at, s->damage.chunks ? UINT64_MAX : FOREIGN_MAX, &budget);
		if (r < 0)
			return r;
		if (r == 0)
			break;
	}
	if (!s->damage.chunks && at > FOREIGN_MAX)
		return 0; /* no recording: its size does not matter */
	/* The end: `at` may stand before a header that is cut, or where the search was given up. */
	end = lseek(s->fd, 0, SEEK_END);
	if (end < 0)
		return -errno;
	at = TG_MAX(at, (uint64_t)end);
	if (incomplete == UINT64_MAX && at - s->pos < TG_CHUNK_HEADER)
		incomplete = s->pos;
	if (incomplete != UINT64_MAX)
		s->tail.tail_bytes = at - incomplete;
	s->tail.bytes_skipped = at - s->pos - s->tail.tail_bytes;
	s->tail.holes = s->tail.bytes_skipped > 0;
	tg_buf_clear(&s->window); /* read anew when the file has grown */
	return 0;
}

struct tg_damage tg_scan_damage(const struct tg_scan *s)
{
	struct tg_damage d = s->damage;

	d.bytes_skipped += s->tail.bytes_skipped;
	d.holes += s->tail.holes;
	d.tail_bytes = s->tail.tail_bytes;
	return d;
}
