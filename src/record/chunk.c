/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/chunk.h"

#include <errno.h>
#include <zstd.h>

#include "record/crc32c.h"
#include "record/varint.h"

#include "base/mem.h"

/* Small payloads gain nothing and cost a context's start. */
#define PACK_MIN   64
#define PACK_LEVEL 1

void tg_chunk_header_put(uint8_t *out, const struct tg_chunk_header *h)
{
	tg_put32(out, h->magic);
	out[4] = h->version;
	out[5] = h->type;
	out[6] = (uint8_t)(h->flags & 0xff);
	out[7] = (uint8_t)(h->flags >> 8);
	tg_put32(out + 8, h->session);
	tg_put32(out + 12, h->length);
	tg_put64(out + 16, h->sequence);
	tg_put32(out + 24, h->payload_crc);
	tg_put32(out + 28, tg_crc32c(0, out, 28));
}

int tg_chunk_header_get(const uint8_t *in, struct tg_chunk_header *h)
{
	h->magic = tg_get32(in);
	if (h->magic != TG_CHUNK_MAGIC)
		return -EBADMSG;
	h->header_crc = tg_get32(in + 28);
	if (h->header_crc != tg_crc32c(0, in, 28))
		return -EBADMSG;
	h->version = in[4];
	h->type = in[5];
	h->flags = (uint16_t)(in[6] | in[7] << 8);
	h->session = tg_get32(in + 8);
	h->length = tg_get32(in + 12);
	h->sequence = tg_get64(in + 16);
	h->payload_crc = tg_get32(in + 24);
	if (h->version > TG_FORMAT_VERSION)
		return -EPROTONOSUPPORT;
	return h->length <= TG_CHUNK_MAX ? 0 : -EBADMSG;
}

void tg_zip_init(struct tg_zip *z)
{
	*z = (struct tg_zip){ .plain = TG_BUF_INIT };
}

void tg_zip_release(struct tg_zip *z)
{
	ZSTD_freeCCtx(z->cctx);
	ZSTD_freeDCtx(z->dctx);
	tg_buf_release(&z->plain);
	tg_zip_init(z);
}

uint16_t tg_zip_pack(struct tg_zip *z, const void *data, size_t len, struct tg_buf *out)
{
	size_t n, bound = ZSTD_compressBound(len);

	if (!z->cctx)
		z->cctx = ZSTD_createCCtx();
	if (z->cctx && len >= PACK_MIN) {
		tg_buf_reserve(out, bound);
		n = ZSTD_compressCCtx(z->cctx, out->data + out->len, bound, data, len, PACK_LEVEL);
		if (!ZSTD_isError(n) && n < len) {
			out->len += n;
			out->data[out->len] = '\0';
			return TG_CHUNK_ZSTD;
		}
		out->data[out->len] = '\0';
	}
	tg_buf_add(out, data, len);
	return 0;
}

int tg_zip_unpack(struct tg_zip *z, uint16_t flags, const uint8_t *data, size_t len,
	const uint8_t **plain, size_t *plain_len)
{
	unsigned long long size;
	size_t n;

	tg_buf_clear(&z->plain);
	if (!(flags & TG_CHUNK_ZSTD)) {
		tg_buf_add(&z->plain, data, len);
		*plain = (const uint8_t *)z->plain.data;
		*plain_len = len;
		return 0;
	}
	/* ZSTD_CONTENTSIZE_UNKNOWN and _ERROR are above the bound too */
	size = ZSTD_getFrameContentSize(data, len);
	if (size > TG_CHUNK_MAX)
		return -EBADMSG;
	if (!z->dctx && !(z->dctx = ZSTD_createDCtx()))
		return -ENOMEM;
	tg_buf_reserve(&z->plain, (size_t)size);
	n = ZSTD_decompressDCtx(z->dctx, z->plain.data, (size_t)size, data, len);
	if (ZSTD_isError(n) || n != size)
		return -EBADMSG;
	z->plain.len = n;
	z->plain.data[n] = '\0';
	*plain = (const uint8_t *)z->plain.data;
	*plain_len = n;
	return 0;
}
