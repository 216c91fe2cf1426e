/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation that cannot fail: when memory runs out these end the process with one sentence.
 * Sizes that come from a file or a socket must be bounded by a named limit before they get here.
 * Include this header last: it bans the calls in base/banned.h.
 */
#ifndef TG_BASE_MEM_H
#define TG_BASE_MEM_H

#include <stddef.h>

#include "base/banned.h"

/* The sentence, and the end with status 125: for memory that a library could not get. */
_Noreturn void tg_out_of_memory(void);

void *tg_xmalloc(size_t size);
void *tg_xcalloc(size_t n, size_t size);
void *tg_xrealloc(void *p, size_t n, size_t size); /* n * size, overflow checked */
char *tg_xstrdup(const char *s);
char *tg_xmemdup0(const void *data, size_t len); /* copy with a NUL behind it */

#define TG_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TG_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define TG_MAX(a, b)     ((a) > (b) ? (a) : (b))

/* Make room for `want` elements in the array `p` of capacity `cap` (a size_t lvalue). */
#define TG_GROW(p, want, cap)                                                                      \
	do {                                                                                       \
		if ((want) > (cap) || !(p)) {                                                      \
			(cap) = TG_MAX((size_t)(want), (cap)*2 + 8);                               \
			(p) = tg_xrealloc((p), (cap), sizeof(*(p)));                               \
		}                                                                                  \
	} while (0)

#endif
