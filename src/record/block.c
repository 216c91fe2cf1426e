/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/block.h"

#include <errno.h>

#include "base/mem.h"

struct tg_block *tg_block_new(uint32_t table, uint32_t n_columns, uint32_t cap)
{
	struct tg_block *b = tg_xcalloc(1, sizeof(*b));

	b->table = table;
	b->n_columns = n_columns;
	b->cap = cap ? cap : 1;
	b->t_ns = tg_xrealloc(NULL, b->cap, sizeof(*b->t_ns));
	b->values =
		tg_xrealloc(NULL, (size_t)b->cap * (n_columns ? n_columns : 1), sizeof(int64_t));
	return b;
}

void tg_block_free(struct tg_block *b)
{
	if (!b)
		return;
	free(b->t_ns);
	free(b->values);
	free(b);
}

int tg_block_add(struct tg_block *b, int64_t t_ns, const int64_t *values)
{
	if (b->n_rows >= b->cap)
		return -ENOSPC;
	b->t_ns[b->n_rows] = t_ns;
	for (uint32_t c = 0; c < b->n_columns; c++)
		b->values[(size_t)c * b->cap + b->n_rows] = values[c];
	b->n_rows++;
	return 0;
}

size_t tg_block_bytes(const struct tg_block *b)
{
	return sizeof(*b) + (size_t)b->cap * ((size_t)b->n_columns + 1) * sizeof(int64_t);
}

struct tg_process_block *tg_process_block_new(void)
{
	return tg_xcalloc(1, sizeof(struct tg_process_block));
}

void tg_process_block_free(struct tg_process_block *b)
{
	if (!b)
		return;
	free(b->cell);
	free(b);
}

void tg_process_block_add(struct tg_process_block *b, const struct tg_process_cell *cell)
{
	TG_GROW(b->cell, b->n + 1, b->cap);
	b->cell[b->n++] = *cell;
}
