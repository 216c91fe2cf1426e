/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks the chunks of a file from a position on, checking both CRCs, and goes on at the next valid
 * header after damage. Invariant: `pos` is behind the last whole chunk, so that a scan can be
 * continued when the file has grown. Holds one window of the file in memory, never more than a
 * chunk.
 */
#ifndef TG_RECORD_SCAN_H
#define TG_RECORD_SCAN_H

#include <stdint.h>

#include "base/buf.h"
#include "record/chunk.h"
#include "record/reader.h"

struct tg_scan {
	int fd; /* borrowed */
	uint64_t pos; /* next chunk's header is expected here */
	uint64_t next_sequence;
	uint32_t last_session; /* of the last whole chunk */
	uint64_t wasted; /* bytes of whole payloads with a wrong CRC */
	uint64_t read_bytes; /* from the file so far: a few times its size, whatever it holds */
	uint64_t size; /* of the file, when last asked */
	struct tg_buf window;
	uint64_t window_at;
	struct tg_damage damage; /* up to pos, but for tail_bytes */
	struct tg_damage tail; /* behind pos: bytes_skipped, holes, tail_bytes */
};

/* Start at the beginning of `fd`, which stays the caller's. */
void tg_scan_init(struct tg_scan *s, int fd);
void tg_scan_release(struct tg_scan *s);

/*
 * The next whole chunk; its payload is valid until the next call. Returns 1; 0 at the end, where
 * `tail` says what is left over; -EPROTONOSUPPORT for a chunk of a newer version; -errno.
 */
int tg_scan_next(struct tg_scan *s, struct tg_chunk *chunk);

/* damage and tail together */
struct tg_damage tg_scan_damage(const struct tg_scan *s);

#endif
