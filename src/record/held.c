/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/held.h"

#include "base/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct tg_block *tg_held_find(const struct tg_held *k, uint32_t table)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->block[i]->table == table)
			return k->block[i];
	return NULL;
}

bool tg_held_fits(const struct tg_held *k, size_t columns, uint64_t rows)
{
	uint64_t bytes;

	return rows && rows <= UINT32_MAX &&
	       !__builtin_mul_overflow(rows, (columns + 1) * sizeof(int64_t), &bytes) &&
	       k->bytes <= k->bytes_max && bytes <= k->bytes_max - k->bytes;
}

void tg_held_put_take(struct tg_held *k, struct tg_block *block)
{
	k->bytes += tg_block_bytes(block);
	TG_GROW(k->block, k->n + 1, k->cap);
	k->block[k->n++] = block;
}

void tg_held_append(struct tg_block *to, const struct tg_block *from)
{
	uint32_t n = TG_MIN(from->n_rows, to->cap - to->n_rows);

	memcpy(to->t_ns + to->n_rows, from->t_ns, n * sizeof(*to->t_ns));
	for (size_t c = 0; c < to->n_columns; c++)
		memcpy(to->values + c * to->cap + to->n_rows, from->values + c * from->cap,
			n * sizeof(*to->values));
	to->n_rows += n;
}

static const struct tg_block *copy_of(
	struct tg_held *k, const struct tg_block *b, const uint32_t *column, size_t n)
{
	uint32_t rows = TG_MAX(b->n_rows, 1);

	tg_block_free(k->copy);
	k->copy = tg_block_new(b->table, (uint32_t)n, rows);
	k->copy->n_rows = b->n_rows;
	memcpy(k->copy->t_ns, b->t_ns, b->n_rows * sizeof(*b->t_ns));
	for (size_t i = 0; i < n; i++)
		memcpy(k->copy->values + i * rows, b->values + (size_t)column[i] * b->cap,
			b->n_rows * sizeof(*b->values));
	return k->copy;
}

const struct tg_block *tg_held_view(struct tg_held *k, const struct tg_block *block,
	const uint32_t *column, size_t n, int64_t from_ns, int64_t to_ns)
{
	uint32_t first = (uint32_t)tg_sorted_count(
			 block->t_ns, block->n_rows, sizeof(*block->t_ns), 0, from_ns, false),
		 end = (uint32_t)tg_sorted_count(
			 block->t_ns, block->n_rows, sizeof(*block->t_ns), 0, to_ns, false);

	first -= first > 0;
	while (end < block->n_rows && block->t_ns[end] <= to_ns)
		end++;
	end += end < block->n_rows;
	k->view = *block;
	k->view.t_ns += first;
	k->view.values += first;
	k->view.n_rows = end - first;
	if (n != 1)
		return copy_of(k, &k->view, column, n);
	k->view.n_columns = 1;
	k->view.values += (size_t)column[0] * block->cap;
	return &k->view;
}

void tg_held_release(struct tg_held *k)
{
	for (size_t i = 0; i < k->n; i++)
		tg_block_free(k->block[i]);
	free(k->block);
	tg_block_free(k->copy);
	*k = (struct tg_held){ 0 };
}
