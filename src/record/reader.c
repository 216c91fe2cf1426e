/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sorted.h"
#include "record/chain.h"
#include "record/crc32c.h"
#include "record/processes.h"
#include "record/reader_private.h"
#include "record/samples.h"

#include "base/mem.h"

static void publish(struct tg_reader *r)
{
	struct tg_index *x = &r->index;

	free(r->table);
	r->table = tg_xcalloc(x->n_tables + 1, sizeof(*r->table));
	r->n_tables = 0;
	for (size_t i = 0; i < x->n_tables; i++) {
		const struct tg_index_table *from = &x->table[i];
		const struct tg_places *places = &from->places;
		struct tg_table *to = &r->table[r->n_tables];

		if (!from->def)
			continue;
		r->n_tables++;
		to->number = from->number;
		to->session = from->session;
		to->name = from->def->name;
		to->column = from->def->column;
		to->n_columns = from->def->n_columns;
		for (size_t k = 0; k < places->n; k++) {
			const struct tg_place *p = &places->p[k];

			to->first_ns = k ? TG_MIN(to->first_ns, p->first_ns) : p->first_ns;
			to->last_ns = k ? TG_MAX(to->last_ns, p->last_ns) : p->last_ns;
			to->n_rows += p->rows;
		}
	}
	r->damage = tg_scan_damage(&r->scan);
	r->damage.lost_chunks += r->undecodable;
}

/* Index the chunks from the scan's position on. Returns how many there were, or -errno. */
static int index_rest(struct tg_reader *r)
{
	struct tg_chunk chunk;
	int n = 0, k;

	while ((k = tg_scan_next(&r->scan, &chunk)) > 0) {
		n += n < INT32_MAX;
		if (tg_index_add(&r->index, &r->zip, &chunk) < 0)
			r->undecodable++;
	}
	publish(r);
	return k < 0 ? k : n;
}

static int newer(const struct tg_reader *r, struct tg_err *err)
{
	return tg_err_set(err, -EPROTONOSUPPORT,
		"%s was written by a newer version of tachograph: this one reads format %d",
		r->name, TG_FORMAT_VERSION);
}

static int open_index(struct tg_reader *r, struct tg_err *err)
{
	struct stat st;
	int n;

	if (fstat(r->fd, &st) < 0)
		return tg_err_set(err, -errno, "%s: %s", r->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return tg_err_set(err, -EISDIR, "%s is a folder", r->name);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return tg_err_set(err, -ESPIPE, "%s is not a regular file", r->name);
	n = tg_chain_index(r);
	if (n >= 0)
		n = index_rest(r);
	if (n == -EPROTONOSUPPORT)
		return newer(r, err);
	if (n < 0)
		return tg_err_set(err, n, "%s: %s", r->name, strerror(-n));
	if (r->damage.chunks == 0)
		return tg_err_set(err, -EBADMSG, "%s is not a recording", r->name);
	return 0;
}

int tg_reader_open_fd(struct tg_reader **out, int fd, const char *name, struct tg_err *err)
{
	struct tg_reader *r = tg_xcalloc(1, sizeof(*r));
	int k;

	r->fd = fd;
	r->name = tg_xstrdup(name);
	tg_buf_init(&r->chunk);
	tg_scan_init(&r->scan, fd);
	tg_index_init(&r->index);
	tg_zip_init(&r->zip);
	r->cells = tg_process_block_new();
	k = open_index(r, err);
	if (k < 0) {
		tg_reader_close(r);
		return k;
	}
	*out = r;
	return 0;
}

int tg_reader_open(struct tg_reader **out, const char *path, struct tg_err *err)
{
	/* O_NONBLOCK: a FIFO of that name must not hang us before it is refused */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return tg_err_set(err, -errno, "%s: %s", path, strerror(errno));
	return tg_reader_open_fd(out, fd, path, err);
}

void tg_reader_close(struct tg_reader *r)
{
	if (!r)
		return;
	close(r->fd);
	tg_scan_release(&r->scan);
	tg_index_release(&r->index);
	tg_zip_release(&r->zip);
	tg_buf_release(&r->chunk);
	tg_cache_release(&r->cache);
	tg_held_release(&r->held);
	tg_block_free(r->block);
	tg_process_block_free(r->cells);
	free(r->stats);
	free(r->table);
	free(r->name);
	free(r);
}

int tg_reader_refresh(struct tg_reader *r)
{
	return index_rest(r);
}

const struct tg_session *tg_reader_sessions(const struct tg_reader *r, size_t *n)
{
	*n = r->index.n_sessions;
	return r->index.session;
}

const struct tg_table *tg_reader_tables(const struct tg_reader *r, size_t *n)
{
	*n = r->n_tables;
	return r->table;
}

const struct tg_damage *tg_reader_damage(const struct tg_reader *r)
{
	return &r->damage;
}

int tg_reader_chunk(struct tg_reader *r, uint64_t offset, uint8_t type, struct tg_chunk *chunk)
{
	uint8_t raw[TG_CHUNK_HEADER];
	ssize_t n;
	int k;

	n = tg_file_pread_all(r->fd, raw, sizeof(raw), (off_t)offset);
	if (n < 0)
		return (int)n;
	k = n < TG_CHUNK_HEADER ? -EBADMSG : tg_chunk_header_get(raw, &chunk->header);
	if (k < 0)
		return k;
	if (chunk->header.type != type)
		return -EBADMSG;
	tg_buf_clear(&r->chunk);
	tg_buf_reserve(&r->chunk, chunk->header.length);
	n = tg_file_pread_all(
		r->fd, r->chunk.data, chunk->header.length, (off_t)offset + TG_CHUNK_HEADER);
	if (n < 0)
		return (int)n;
	if ((size_t)n < chunk->header.length ||
		tg_crc32c(0, r->chunk.data, (size_t)n) != chunk->header.payload_crc)
		return -EBADMSG;
	chunk->offset = offset;
	chunk->payload = (const uint8_t *)r->chunk.data;
	return 0;
}

void tg_reader_lost(struct tg_reader *r)
{
	r->undecodable++;
	r->damage.lost_chunks++;
}

int tg_reader_decode(
	struct tg_reader *r, struct tg_place *place, size_t n_all, const uint32_t *column, size_t n)
{
	struct tg_block *block = NULL;
	struct tg_chunk chunk;
	int k;

	if (place->bad)
		return -EBADMSG;
	r->rows = tg_cache_find(&r->cache, place->offset, column, n);
	if (r->rows)
		return 0;
	k = tg_reader_chunk(r, place->offset, TG_CHUNK_SAMPLES, &chunk);
	if (k == 0)
		k = tg_samples_decode(&r->zip, chunk.header.flags, chunk.payload,
			chunk.header.length, n_all, column, n, &block);
	if (k == 0)
		r->rows = tg_cache_put_take(&r->cache, place->offset, column, n, block);
	else
		tg_block_free(block);
	place->bad = k == -EBADMSG;
	if (place->bad)
		tg_reader_lost(r);
	return k;
}

/* The first of the places that may end at `t_ns` or later. */
static size_t first_place(const struct tg_places *places, int64_t t_ns)
{
	return places->unordered ? 0 : tg_sorted_before(places->p, places->n, last_ns, t_ns);
}

void tg_reader_hold(struct tg_reader *r, uint64_t bytes)
{
	r->held.bytes_max = TG_MAX(bytes, r->held.bytes);
}

/* All rows of a table as one block. 0 or -errno; bad chunks are left out, and counted. */
static int read_whole(struct tg_reader *r, struct tg_index_table *t, struct tg_block *out)
{
	size_t n = t->def->n_columns;
	uint32_t *all = tg_xcalloc(n + 1, sizeof(*all));
	int k = 0;

	for (size_t i = 0; i < n; i++)
		all[i] = (uint32_t)i;
	for (size_t i = 0; i < t->places.n && (k == 0 || k == -EBADMSG); i++) {
		k = tg_reader_decode(r, &t->places.p[i], n, all, n);
		if (k == 0)
			tg_held_append(out, r->rows);
	}
	free(all);
	return k == -EBADMSG ? 0 : k;
}

/*
 * *out: the table in memory, read now or before; NULL where it is not to be had: it does not fit,
 * or its chunks are not in order of time. Returns 0 or -errno.
 */
static int hold(struct tg_reader *r, const struct tg_table *table, struct tg_index_table *t,
	struct tg_block **out)
{
	int k;

	*out = tg_held_find(&r->held, table->number);
	if (*out || t->places.unordered ||
		!tg_held_fits(&r->held, t->def->n_columns, table->n_rows))
		return 0;
	*out = tg_block_new(table->number, (uint32_t)t->def->n_columns, (uint32_t)table->n_rows);
	k = read_whole(r, t, *out);
	if (k == 0) {
		tg_held_put_take(&r->held, *out);
	} else {
		tg_block_free(*out);
		*out = NULL;
	}
	return k;
}

int tg_reader_blocks(struct tg_reader *r, const struct tg_table *table, const uint32_t *column,
	size_t n_columns, int64_t from_ns, int64_t to_ns,
	int (*each)(void *ctx, const struct tg_block *block), void *ctx)
{
	struct tg_index_table *t = tg_index_table(&r->index, table->number);

	for (size_t i = 0; i < n_columns; i++)
		if (!t || !t->def || column[i] >= t->def->n_columns)
			return -EINVAL;
	if (t && t->def && r->held.bytes_max) {
		struct tg_block *block;
		int k = hold(r, table, t, &block);

		if (k < 0)
			return k;
		if (block)
			return each(ctx,
				tg_held_view(&r->held, block, column, n_columns, from_ns, to_ns));
	}
	for (size_t i = t ? first_place(&t->places, from_ns) : 0; t && t->def && i < t->places.n;
		i++) {
		struct tg_place *place = &t->places.p[i];
		int k;

		if (place->first_ns > to_ns && !t->places.unordered)
			break;
		if (place->last_ns < from_ns || place->first_ns > to_ns)
			continue;
		k = tg_reader_decode(r, place, t->def->n_columns, column, n_columns);
		if (k == -EBADMSG)
			continue;
		if (k == 0)
			k = each(ctx, r->rows);
		if (k)
			return k;
	}
	return 0;
}

int tg_reader_processes(struct tg_reader *r, uint32_t session, int64_t from_ns, int64_t to_ns,
	int (*each)(void *ctx, const struct tg_process_cell *cell), void *ctx)
{
	for (size_t i = 0; i < r->index.processes.n; i++) {
		const struct tg_place *place = &r->index.processes.p[i];
		struct tg_chunk chunk;
		int k;

		if (place->session != session || place->last_ns < from_ns ||
			place->first_ns > to_ns)
			continue;
		k = tg_reader_chunk(r, place->offset, TG_CHUNK_PROCESS, &chunk);
		if (k == 0)
			k = tg_processes_decode(&r->zip, chunk.header.flags, chunk.payload,
				chunk.header.length, r->cells);
		if (k == -EBADMSG) {
			tg_reader_lost(r);
			continue;
		}
		for (size_t c = 0; k == 0 && c < r->cells->n; c++)
			if (r->cells->cell[c].t_ns >= from_ns && r->cells->cell[c].t_ns <= to_ns)
				k = each(ctx, &r->cells->cell[c]);
		if (k)
			return k;
	}
	return 0;
}
