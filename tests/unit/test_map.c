/* SPDX-License-Identifier: BSD-3-Clause */
/* The map against a plain list, with keys that are near, far, equal in their low bits, or 0. */
#include "tap.h"

#include "base/map.h"

#include "base/mem.h"

#define KEYS 5000

static uint64_t key_of(size_t i, uint64_t *seed)
{
	switch (i % 4) {
	case 0:
		return i; /* 0 is a key like others */
	case 1:
		return UINT64_MAX - i;
	case 2:
		return (uint64_t)i << 44;
	default:
		return t_random(seed);
	}
}

static void test_against_list(void)
{
	uint64_t *key = tg_xcalloc(KEYS, sizeof(*key)), seed = 7;
	struct tg_map m = TG_MAP_INIT;
	size_t wrong = 0;

	T_EQ_I(tg_map_get(&m, 0), -1);
	for (size_t i = 0; i < KEYS; i++) {
		key[i] = key_of(i, &seed);
		wrong += tg_map_get(&m, key[i]) != -1;
		tg_map_put(&m, key[i], i);
	}
	for (size_t i = 0; i < KEYS; i++)
		wrong += tg_map_get(&m, key[i]) != (ptrdiff_t)i;
	for (size_t i = 0; i < KEYS; i++)
		wrong += tg_map_get(&m, key[i] ^ UINT64_C(0x5555000055550000)) != -1;
	T_EQ_I(wrong, 0);
	T_EQ_I(m.n, KEYS);
	T_OK(m.n_slots >= 2 * m.n && m.n_slots <= 8 * m.n);
	tg_map_release(&m);
	T_EQ_I(tg_map_get(&m, key[0]), -1);
	free(key);
}

/* A key has the place that was put in last, and is counted once. */
static void test_put_again(void)
{
	struct tg_map m = TG_MAP_INIT;

	for (size_t i = 0; i < 1000; i++)
		tg_map_put(&m, 42, i);
	T_EQ_I(tg_map_get(&m, 42), 999);
	T_EQ_I(m.n, 1);
	T_OK(m.n_slots < 1000);
	tg_map_release(&m);
}

int main(void)
{
	test_against_list();
	test_put_again();
	return t_done();
}
