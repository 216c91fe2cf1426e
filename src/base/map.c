/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/map.h"

#include <stdlib.h>

#include "base/mem.h"

struct tg_map_slot {
	uint64_t key;
	size_t at; /* from 1; 0: free */
};

static struct tg_map_slot *slot_of(const struct tg_map *m, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (m->n_slots - 1);

	while (m->slot[i].at && m->slot[i].key != key)
		i = (i + 1) & (m->n_slots - 1);
	return &m->slot[i];
}

ptrdiff_t tg_map_get(const struct tg_map *m, uint64_t key)
{
	return m->n_slots ? (ptrdiff_t)slot_of(m, key)->at - 1 : -1;
}

static void grow(struct tg_map *m)
{
	struct tg_map old = *m;

	m->n_slots = TG_MAX(old.n_slots * 2, (size_t)64);
	m->slot = tg_xcalloc(m->n_slots, sizeof(*m->slot));
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].at)
			*slot_of(m, old.slot[i].key) = old.slot[i];
	free(old.slot);
}

void tg_map_put(struct tg_map *m, uint64_t key, size_t at)
{
	struct tg_map_slot *slot;

	if ((m->n + 1) * 2 > m->n_slots)
		grow(m);
	slot = slot_of(m, key);
	m->n += !slot->at;
	*slot = (struct tg_map_slot){ key, at + 1 };
}

void tg_map_release(struct tg_map *m)
{
	free(m->slot);
	*m = (struct tg_map)TG_MAP_INIT;
}
