/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint64_t bytes_of(const struct tg_cache_slot *s)
{
	return s->block ? tg_block_bytes(s->block) + s->n * sizeof(*s->column) : 0;
}

static struct tg_cache_slot *slot_of(const struct tg_cache *c, uint64_t offset)
{
	return &c->slot[(offset * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (TG_CACHE_SLOTS - 1)];
}

static void let_go(struct tg_cache *c, struct tg_cache_slot *s)
{
	c->bytes -= bytes_of(s);
	free(s->column);
	tg_block_free(s->block);
	*s = (struct tg_cache_slot){ 0 };
}

static void let_all_go(struct tg_cache *c)
{
	for (size_t i = 0; c->slot && i < TG_CACHE_SLOTS; i++)
		let_go(c, &c->slot[i]);
}

/* One column of a block as a block. */
static const struct tg_block *view_of(struct tg_cache *c, const struct tg_block *from, size_t at)
{
	c->view = *from;
	c->view.n_columns = 1;
	c->view.values += at * from->cap;
	return &c->view;
}

const struct tg_block *tg_cache_find(
	struct tg_cache *c, uint64_t offset, const uint32_t *column, size_t n)
{
	const struct tg_cache_slot *s = c->slot ? slot_of(c, offset) : NULL;

	if (!s || !s->block || s->offset != offset)
		return NULL;
	if (s->n == n && !memcmp(s->column, column, n * sizeof(*column)))
		return s->block;
	for (size_t i = 0; n == 1 && i < s->n; i++)
		if (s->column[i] == column[0])
			return view_of(c, s->block, i);
	return NULL;
}

const struct tg_block *tg_cache_put_take(struct tg_cache *c, uint64_t offset,
	const uint32_t *column, size_t n, struct tg_block *block)
{
	struct tg_cache_slot *s;

	if (!c->slot)
		c->slot = tg_xcalloc(TG_CACHE_SLOTS, sizeof(*c->slot));
	s = slot_of(c, offset);
	let_go(c, s);
	if (c->bytes + tg_block_bytes(block) + n * sizeof(*column) > TG_CACHE_BYTES)
		let_all_go(c);
	s->offset = offset;
	s->column = tg_xcalloc(n + 1, sizeof(*column));
	memcpy(s->column, column, n * sizeof(*column));
	s->n = n;
	s->block = block;
	c->bytes += bytes_of(s);
	return block;
}

void tg_cache_release(struct tg_cache *c)
{
	let_all_go(c);
	free(c->slot);
	*c = (struct tg_cache){ 0 };
}
