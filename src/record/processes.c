/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behind the prefix, packed as the chunk's flags say, four columns of all cells: uvar differences
 * of times; svar differences of entities; uvar fields; svar differences of values.
 */
#include "record/processes.h"

#include <errno.h>

#include "record/varint.h"

#include "base/mem.h"

/* Last value by (entity, field): open addressing, at most half full. */
struct last {
	uint64_t key; /* 0: free */
	int64_t value;
};

struct lasts {
	struct last *slot;
	size_t mask;
};

static void lasts_init(struct lasts *l, size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	l->slot = tg_xcalloc(size, sizeof(*l->slot));
	l->mask = size - 1;
}

/* Where the last value is kept; 0 before there is one. */
static int64_t *lasts_at(struct lasts *l, uint32_t entity, uint32_t field)
{
	uint64_t key = ((uint64_t)entity << 32 | field) + 1;
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & l->mask;

	while (l->slot[i].key && l->slot[i].key != key)
		i = (i + 1) & l->mask;
	l->slot[i].key = key;
	return &l->slot[i].value;
}

uint16_t tg_processes_encode(
	struct tg_zip *z, const struct tg_process_cell *cell, size_t n, struct tg_buf *out)
{
	uint8_t prefix[TG_PROCESS_PREFIX];
	int64_t t = cell[0].t_ns;
	uint32_t entity = 0;
	struct lasts lasts;
	uint8_t *p;

	tg_put32(prefix, (uint32_t)n);
	tg_put64(prefix + 4, (uint64_t)cell[0].t_ns);
	tg_put64(prefix + 12, (uint64_t)cell[n - 1].t_ns);
	tg_buf_add(out, prefix, sizeof(prefix));

	tg_buf_clear(&z->plain);
	tg_buf_reserve(&z->plain, n * (2 * TG_VARINT_MAX + 5 + 5));
	p = (uint8_t *)z->plain.data;
	for (size_t i = 0; i < n; i++) {
		p = tg_put_uvar(p, (uint64_t)tg_wrap_sub(cell[i].t_ns, t));
		t = cell[i].t_ns;
	}
	for (size_t i = 0; i < n; i++) {
		p = tg_put_svar(p, (int64_t)cell[i].entity - (int64_t)entity);
		entity = cell[i].entity;
	}
	for (size_t i = 0; i < n; i++)
		p = tg_put_uvar(p, cell[i].field);
	lasts_init(&lasts, n);
	for (size_t i = 0; i < n; i++) {
		int64_t *last = lasts_at(&lasts, cell[i].entity, cell[i].field);

		p = tg_put_svar(p, tg_wrap_sub(cell[i].value, *last));
		*last = cell[i].value;
	}
	free(lasts.slot);
	z->plain.len = (size_t)(p - (uint8_t *)z->plain.data);
	return tg_zip_pack(z, z->plain.data, z->plain.len, out);
}

int tg_processes_prefix_get(const uint8_t *payload, size_t len, struct tg_process_prefix *prefix)
{
	if (len < TG_PROCESS_PREFIX)
		return -EBADMSG;
	prefix->cells = tg_get32(payload);
	prefix->first_ns = (int64_t)tg_get64(payload + 4);
	prefix->last_ns = (int64_t)tg_get64(payload + 12);
	if (!prefix->cells || prefix->cells > TG_PROCESS_CELLS_MAX ||
		!tg_times_valid(prefix->first_ns, prefix->last_ns))
		return -EBADMSG;
	return 0;
}

static const uint8_t *get_columns(
	const uint8_t *p, const uint8_t *end, struct tg_process_cell *cell, size_t n, int64_t t)
{
	int64_t entity = 0, d;
	uint64_t u;

	for (size_t i = 0; p && i < n; i++) {
		p = tg_get_uvar(p, end, &u);
		if (!p || tg_wrap_add(t, (int64_t)u) < t)
			return NULL;
		t = tg_wrap_add(t, (int64_t)u);
		cell[i].t_ns = t;
	}
	for (size_t i = 0; p && i < n; i++) {
		p = tg_get_svar(p, end, &d);
		entity = p ? tg_wrap_add(entity, d) : -1;
		if (entity < 0 || entity > UINT32_MAX)
			return NULL;
		cell[i].entity = (uint32_t)entity;
	}
	for (size_t i = 0; p && i < n; i++) {
		p = tg_get_uvar(p, end, &u);
		if (!p || u > UINT32_MAX)
			return NULL;
		cell[i].field = (uint32_t)u;
	}
	return p;
}

int tg_processes_decode(struct tg_zip *z, uint16_t flags, const uint8_t *payload, size_t len,
	struct tg_process_block *out)
{
	struct tg_process_prefix prefix;
	const uint8_t *p, *end;
	struct lasts lasts;
	size_t plain_len;
	int r;

	out->n = 0;
	r = tg_processes_prefix_get(payload, len, &prefix);
	if (r < 0)
		return r;
	r = tg_zip_unpack(
		z, flags, payload + TG_PROCESS_PREFIX, len - TG_PROCESS_PREFIX, &p, &plain_len);
	if (r < 0)
		return r;
	if (plain_len < 4 * (size_t)prefix.cells)
		return -EBADMSG;
	end = p + plain_len;
	TG_GROW(out->cell, prefix.cells, out->cap);
	p = get_columns(p, end, out->cell, prefix.cells, prefix.first_ns);
	if (!p || out->cell[prefix.cells - 1].t_ns != prefix.last_ns)
		return -EBADMSG;
	lasts_init(&lasts, prefix.cells);
	for (size_t i = 0; p && i < prefix.cells; i++) {
		struct tg_process_cell *cell = &out->cell[i];
		int64_t *last = lasts_at(&lasts, cell->entity, cell->field);
		int64_t d;

		p = tg_get_svar(p, end, &d);
		*last = tg_wrap_add(*last, d);
		cell->value = *last;
	}
	free(lasts.slot);
	if (!p)
		return -EBADMSG;
	out->n = prefix.cells;
	return 0;
}
