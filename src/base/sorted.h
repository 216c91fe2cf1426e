/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers into order, and places in lists that are in order of one, mostly of a time. */
#ifndef TG_BASE_SORTED_H
#define TG_BASE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many of `n` numbers are less than `v`, or `equal` to it. The list is in order; a number lies
 * `offset` bytes into each of its elements, which are `size` bytes long.
 */
static inline size_t tg_sorted_count(
	const void *list, size_t n, size_t size, size_t offset, int64_t v, bool equal)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int64_t at =
			*(const int64_t *)(const void *)((const char *)list + mid * size + offset);

		if (at < v || (equal && at == v))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* By an int64_t member of the elements: how many are less than `v`, and how many at most `v`. */
#define tg_sorted_before(list, n, member, v)                                                       \
	tg_sorted_count(                                                                           \
		(list), (n), sizeof(*(list)), offsetof(__typeof__(*(list)), member), (v), false)
#define tg_sorted_to(list, n, member, v)                                                           \
	tg_sorted_count(                                                                           \
		(list), (n), sizeof(*(list)), offsetof(__typeof__(*(list)), member), (v), true)

/* For qsort, of doubles (no NaN) and of int64_t. */
static inline int tg_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline int tg_by_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

#endif
