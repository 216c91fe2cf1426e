/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of a recording: little-endian words, LEB128 varints, and zigzag for signed ones.
 * Getters return the position behind what they read, or NULL when it does not end before `end`.
 */
#ifndef TG_RECORD_VARINT_H
#define TG_RECORD_VARINT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TG_VARINT_MAX 10 /* bytes of the longest one */

static inline void tg_put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, 4);
}

static inline void tg_put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

static inline uint32_t tg_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

static inline uint64_t tg_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

/* Differences wrap, so that every pair of int64 has one: INT64_MIN - INT64_MAX is 1. */
static inline int64_t tg_wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t tg_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline uint64_t tg_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t tg_unzigzag(uint64_t u)
{
	return (int64_t)((u >> 1) ^ ((u & 1) ? UINT64_MAX : 0));
}

/* Needs room for TG_VARINT_MAX bytes at `p`. */
static inline uint8_t *tg_put_uvar(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *tg_put_svar(uint8_t *p, int64_t v)
{
	return tg_put_uvar(p, tg_zigzag(v));
}

static inline const uint8_t *tg_get_uvar(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t r = 0;

	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	if (end - p >= 8) {
		/* the byte that ends it, everything up to it, then its sevens pushed together */
		uint64_t x = tg_get64(p), stop = ~x & UINT64_C(0x8080808080808080);

		if (stop) {
			x &= (stop ^ (stop - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
			x = (x & UINT64_C(0x007f007f007f007f)) |
			    (x & UINT64_C(0x7f007f007f007f00)) >> 1;
			x = (x & UINT64_C(0x00003fff00003fff)) |
			    (x & UINT64_C(0x3fff00003fff0000)) >> 2;
			*v = (x & UINT64_C(0x0fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
			return p + (__builtin_ctzll(stop) / 8 + 1);
		}
	}
	for (unsigned int shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t byte = *p++;

		r |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = r;
			return p;
		}
	}
	return NULL;
}

static inline const uint8_t *tg_get_svar(const uint8_t *p, const uint8_t *end, int64_t *v)
{
	uint64_t u = 0;

	p = tg_get_uvar(p, end, &u);
	*v = tg_unzigzag(u);
	return p;
}

#endif
