/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From 64-bit keys to places in a list: open addressing, at most half full. Keys that come from
 * outside are spread by a multiplication; whoever builds keys that collide makes it slow, no more.
 * Nothing is ever taken out.
 */
#ifndef TG_BASE_MAP_H
#define TG_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct tg_map {
	struct tg_map_slot *slot;
	size_t n, n_slots;
};

#define TG_MAP_INIT                                                                                \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* The place that was put in for `key`, or -1. */
ptrdiff_t tg_map_get(const struct tg_map *m, uint64_t key);

/* Put `at` in for `key`, in place of what was there. */
void tg_map_put(struct tg_map *m, uint64_t key, size_t at);

void tg_map_release(struct tg_map *m); /* frees; empty and usable afterwards */

#endif
