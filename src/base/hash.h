/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FNV-1a of 64 bits: tells names apart, in tables and in file names. Not for what an enemy may
 * choose. The same on every machine and in every version, because locks are named by it.
 */
#ifndef TG_BASE_HASH_H
#define TG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TG_HASH_INIT UINT64_C(14695981039346656037) /* of nothing */

/* `hash` goes on over `len` more bytes. */
static inline uint64_t tg_hash(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(1099511628211);
	return hash;
}

#endif
