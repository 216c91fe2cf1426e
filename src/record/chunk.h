/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunk headers between memory and disk, and the compression of payloads. Nothing here knows what
 * a payload means. A stored size is believed only after its CRC and its bound were checked.
 */
#ifndef TG_RECORD_CHUNK_H
#define TG_RECORD_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "record/format.h"

/* A whole, checked chunk. `payload` is borrowed from whoever read it. */
struct tg_chunk {
	uint64_t offset; /* of its header in the file */
	struct tg_chunk_header header;
	const uint8_t *payload;
};

/* Write the 32 bytes of a header; its header_crc is computed here. */
void tg_chunk_header_put(uint8_t *out, const struct tg_chunk_header *h);

/*
 * Read 32 bytes. Returns 0; -EBADMSG when they are no header (magic, CRC, bounds);
 * -EPROTONOSUPPORT when they are one of a newer version.
 */
int tg_chunk_header_get(const uint8_t *in, struct tg_chunk_header *h);

/* Compression with contexts that are made once. One thread at a time. */
struct tg_zip {
	void *cctx, *dctx; /* zstd's, made on first use */
	struct tg_buf plain; /* what tg_zip_unpack expanded last */
};

void tg_zip_init(struct tg_zip *z);
void tg_zip_release(struct tg_zip *z);

/* Append `len` bytes to `out`, as a zstd frame where that is smaller. Returns the chunk's flags. */
uint16_t tg_zip_pack(struct tg_zip *z, const void *data, size_t len, struct tg_buf *out);

/*
 * The plain bytes of what tg_zip_pack wrote, with a NUL behind them; valid until the next call.
 * Returns 0, or -EBADMSG when they do not expand or are more than TG_CHUNK_MAX.
 */
int tg_zip_unpack(struct tg_zip *z, uint16_t flags, const uint8_t *data, size_t len,
	const uint8_t **plain, size_t *plain_len);

#endif
