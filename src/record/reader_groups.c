/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tg_reader_groups: one column of a table through the summaries, two small reads for 64 chunks.
 * Chunks that no summary covers, or whose summary is damaged, are decoded, each one group.
 */
#include <errno.h>

#include "base/file.h"
#include "record/reader_private.h"
#include "record/varint.h"

#include "base/mem.h"

struct walk {
	struct tg_reader *r;
	const struct tg_index_table *t;
	uint32_t column;
	int64_t from_ns, to_ns;
	int (*each)(void *ctx, const struct tg_group *group);
	void *ctx;
	size_t at; /* next of the table's chunks */
};

static bool touches(const struct walk *w, int64_t first_ns, int64_t last_ns)
{
	return last_ns >= w->from_ns && first_ns <= w->to_ns;
}

/* Leave out the chunks before `end`: they are in file order, mostly 64 of them. */
static void skip_to(struct walk *w, uint64_t end)
{
	const struct tg_places *places = &w->t->places;
	size_t step = 64;

	while (step) {
		if (step <= places->n - w->at && places->p[w->at + step - 1].offset < end)
			w->at += step;
		else
			step /= 2;
	}
}

/* The group that a decoded block of one column is. */
static struct tg_group group_of(const struct tg_block *b)
{
	struct tg_group g = {
		.first_ns = b->t_ns[0], .last_ns = b->t_ns[b->n_rows - 1], .rows = b->n_rows
	};

	for (uint32_t i = 0; i < b->n_rows; i++) {
		int64_t v = b->values[i];

		if (v == TG_MISSING)
			continue;
		g.min = g.count ? TG_MIN(g.min, v) : v;
		g.max = g.count ? TG_MAX(g.max, v) : v;
		if (!g.count++)
			g.first = v;
		g.last = v;
	}
	return g;
}

/* Hand over the chunks before `end` as groups. */
static int rows_to(struct walk *w, uint64_t end)
{
	for (; w->at < w->t->places.n && w->t->places.p[w->at].offset < end; w->at++) {
		struct tg_place *place = &w->t->places.p[w->at];
		struct tg_group g;
		int k;

		if (!touches(w, place->first_ns, place->last_ns))
			continue;
		k = tg_reader_decode(w->r, place, w->t->def->n_columns, &w->column, 1);
		if (k == -EBADMSG)
			continue;
		if (k == 0) {
			g = group_of(w->r->rows);
			k = w->each(w->ctx, &g);
		}
		if (k)
			return k;
	}
	return 0;
}

/* Keep the directory: the next chart asks for the next column. Returns 0, -EBADMSG or -errno. */
static int read_directory(struct walk *w, struct tg_index_section *s)
{
	size_t n = w->t->def->n_columns + 1;
	uint32_t *offsets = tg_xcalloc(n, sizeof(*offsets));
	ssize_t got = tg_file_pread_all(
		w->r->fd, offsets, n * sizeof(*offsets), (off_t)(s->payload + s->directory));

	if (got != (ssize_t)(n * sizeof(*offsets))) {
		free(offsets);
		return got < 0 ? (int)got : -EBADMSG;
	}
	for (size_t i = 0; i < n; i++)
		offsets[i] = le32toh(offsets[i]);
	s->offsets = offsets;
	return 0;
}

/* Read the column's part of a section into r->stats. Returns 0, -EBADMSG or -errno. */
static int read_part(struct walk *w, struct tg_index_section *s)
{
	struct tg_reader *r = w->r;
	uint32_t begin, end;
	ssize_t n;

	if (!s->offsets && (n = read_directory(w, s)) < 0)
		return (int)n;
	begin = s->offsets[w->column];
	end = s->offsets[w->column + 1];
	if (begin > end || end > s->payload_len || end - begin > tg_summary_part_max(s->n_groups))
		return -EBADMSG;
	tg_buf_clear(&r->chunk);
	tg_buf_reserve(&r->chunk, end - begin);
	n = tg_file_pread_all(r->fd, r->chunk.data, end - begin, (off_t)(s->payload + begin));
	if (n < 0)
		return (int)n;
	TG_GROW(r->stats, s->n_groups, r->cap_stats);
	return tg_summary_part_decode((const uint8_t *)r->chunk.data, (size_t)n,
		w->t->group + s->first_group, s->n_groups, r->stats);
}

static int section(struct walk *w, struct tg_index_section *s)
{
	const struct tg_group_span *span = w->t->group + s->first_group;
	int k;

	if (!touches(w, span[0].first_ns, span[s->n_groups - 1].last_ns)) {
		skip_to(w, s->end);
		return 0;
	}
	k = read_part(w, s);
	if (k == -EBADMSG) {
		w->r->undecodable++;
		w->r->damage.lost_chunks++;
		return rows_to(w, s->end);
	}
	for (uint32_t i = 0; k == 0 && i < s->n_groups; i++) {
		const struct tg_group_stats *from = &w->r->stats[i];
		struct tg_group g = { span[i].first_ns, span[i].last_ns, from->min, from->max,
			from->first, from->last, span[i].rows, from->count };

		if (touches(w, g.first_ns, g.last_ns))
			k = w->each(w->ctx, &g);
	}
	skip_to(w, s->end);
	return k;
}

int tg_reader_groups(struct tg_reader *r, const struct tg_table *table, uint32_t column,
	int64_t from_ns, int64_t to_ns, int (*each)(void *ctx, const struct tg_group *group),
	void *ctx)
{
	struct walk w = { .r = r,
		.t = tg_index_table(&r->index, table->number),
		.column = column,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.each = each,
		.ctx = ctx };
	int k = 0;

	if (!w.t || !w.t->def || column >= w.t->def->n_columns)
		return -EINVAL;
	for (size_t i = 0; k == 0 && i < w.t->n_sections; i++) {
		k = rows_to(&w, w.t->section[i].begin);
		if (k == 0)
			k = section(&w, &w.t->section[i]);
	}
	return k ? k : rows_to(&w, UINT64_MAX);
}
