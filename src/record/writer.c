/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "record/crc32c.h"
#include "record/groups.h"
#include "record/processes.h"
#include "record/resume.h"
#include "record/samples.h"
#include "record/spans.h"
#include "record/summary.h"
#include "record/table.h"
#include "record/varint.h"

#include "base/mem.h"

/* Bounds of what is kept until the next summary; one is written early when they are reached. */
#define PENDING_CHUNKS 4096
#define PENDING_VALUES (1u << 17) /* groups * columns of all tables */
#define RESTATED_BYTES (2u << 20) /* of table definitions and of open spans in one summary */

struct written_table {
	uint32_t number;
	uint32_t n_columns;
	struct tg_buf json; /* its definition, for summaries */
	bool mentioned; /* defined or written to since the last summary */
	uint32_t n_chunks; /* since a summary was tried last */
	struct tg_groups groups;
};

struct tg_writer {
	int fd;
	bool seekable;
	bool broken; /* a pipe took half a chunk: nothing can follow */
	uint64_t offset; /* behind the last whole chunk */
	uint64_t sequence; /* of the next chunk */
	uint32_t session;
	uint32_t first_table; /* numbers below are taken by earlier sessions */
	uint32_t next_table;
	struct tg_zip zip;
	struct tg_buf chunk; /* the chunk being made: header, then payload */
	struct tg_buf json;
	struct tg_spans spans;
	struct written_table *table;
	size_t n_tables, cap_tables;
	struct tg_buf session_json;
	struct tg_summary_entry *entry; /* chunks at [begin, offset), for the next summary */
	size_t n_entries, cap_entries;
	uint64_t begin;
	uint64_t last_summary;
	bool due;
};

static void chunk_begin(struct tg_writer *w)
{
	static const uint8_t room[TG_CHUNK_HEADER];

	tg_buf_clear(&w->chunk);
	tg_buf_add(&w->chunk, room, sizeof(room));
}

/* Cut off what a failed write left, so that the file ends with a whole chunk. */
static void cut(struct tg_writer *w)
{
	if (!w->seekable || ftruncate(w->fd, (off_t)w->offset) < 0)
		w->broken = true;
}

/* Write what was made since chunk_begin. Blocks as the file system does. Returns 0 or -errno. */
static int chunk_end(struct tg_writer *w, uint8_t type, uint16_t flags)
{
	size_t length = w->chunk.len - TG_CHUNK_HEADER;
	struct tg_chunk_header h = {
		.magic = TG_CHUNK_MAGIC,
		.version = TG_FORMAT_VERSION,
		.type = type,
		.flags = flags,
		.session = w->session,
		.length = (uint32_t)length,
		.sequence = w->sequence,
		.payload_crc = tg_crc32c(0, w->chunk.data + TG_CHUNK_HEADER, length),
	};
	int r;

	if (length > TG_CHUNK_MAX)
		return -EMSGSIZE;
	if (w->broken && w->seekable) {
		w->broken = false;
		cut(w);
	}
	if (w->broken)
		return -EPIPE;
	tg_chunk_header_put((uint8_t *)w->chunk.data, &h);
	if (w->seekable)
		r = tg_file_pwrite_all(w->fd, w->chunk.data, w->chunk.len, (off_t)w->offset);
	else
		r = tg_file_write_all(w->fd, w->chunk.data, w->chunk.len);
	if (r < 0) {
		cut(w);
		return r;
	}
	TG_GROW(w->entry, w->n_entries + 1, w->cap_entries);
	w->entry[w->n_entries++] =
		(struct tg_summary_entry){ .type = type, .length = (uint32_t)length };
	w->due |= w->n_entries >= PENDING_CHUNKS;
	w->offset += w->chunk.len;
	w->sequence++;
	return 0;
}

/* Say in the index what the chunk that was just written holds. */
static void describe(
	struct tg_writer *w, uint32_t table, uint32_t rows, int64_t first_ns, int64_t last_ns)
{
	struct tg_summary_entry *e = &w->entry[w->n_entries - 1];

	e->table = table;
	e->rows = rows;
	e->first_ns = first_ns;
	e->last_ns = last_ns;
}

static void forget_pending(struct tg_writer *w)
{
	for (size_t i = 0; i < w->n_tables; i++) {
		tg_groups_clear(&w->table[i].groups);
		w->table[i].mentioned = false;
	}
	w->n_entries = 0;
	w->begin = w->offset;
}

/* begin events of the open spans */
static void open_spans(const struct tg_writer *w, struct tg_buf *out)
{
	for (size_t i = 0; i < w->spans.n_open; i++) {
		const struct tg_open_span *span = &w->spans.open[i];

		if (out->len + span->len >= RESTATED_BYTES)
			break;
		tg_buf_add(out, span->line, span->len);
		tg_buf_addc(out, '\n');
	}
}

static void restated_tables(const struct tg_writer *w, struct tg_summary_table *list, size_t *n)
{
	size_t bytes = 0;

	*n = 0;
	for (size_t i = 0; i < w->n_tables; i++) {
		const struct written_table *t = &w->table[i];

		if ((!t->mentioned && !t->groups.n) || bytes + t->json.len > RESTATED_BYTES)
			continue;
		bytes += t->json.len;
		list[(*n)++] =
			(struct tg_summary_table){ t->number, { t->json.data, t->json.len } };
	}
}

/*
 * Write the summary of what was written since the last one. When that fails it is tried again with
 * the next; what has become too much until then is forgotten: readers then scan those chunks.
 */
static int write_summary(struct tg_writer *w)
{
	struct tg_summary_section *section = tg_xcalloc(w->n_tables + 1, sizeof(*section));
	struct tg_summary_table *table = tg_xcalloc(w->n_tables + 1, sizeof(*table));
	uint64_t offset = w->offset;
	struct tg_buf open = TG_BUF_INIT;
	struct tg_summary s = { .previous = w->last_summary,
		.begin = w->begin,
		.entry = w->entry,
		.n_entries = w->n_entries,
		.session = { w->session_json.data, w->session_json.len },
		.table = table,
		.section = section };
	size_t values = 0;
	int r;

	for (size_t i = 0; i < w->n_tables; i++) {
		struct written_table *t = &w->table[i];

		t->n_chunks = 0;
		values += t->groups.n * t->n_columns;
		if (t->groups.n)
			section[s.n_sections++] = (struct tg_summary_section){
				.table = t->number,
				.n_columns = t->n_columns,
				.begin = t->groups.begin,
				.end = t->groups.end,
				.n_groups = (uint32_t)t->groups.n,
				.span = t->groups.span,
				.stats = t->groups.stats,
			};
	}
	restated_tables(w, table, &s.n_tables);
	open_spans(w, &open);
	s.open = (struct tg_slice){ open.data, open.len };
	chunk_begin(w);
	tg_summary_encode(&s, &w->zip, &w->chunk);
	r = chunk_end(w, TG_CHUNK_SUMMARY, 0);
	w->due = false;
	if (r == 0)
		w->last_summary = offset;
	if (r == 0 || r == -EMSGSIZE || w->n_entries > 2 * (size_t)PENDING_CHUNKS ||
		values > 2 * (size_t)PENDING_VALUES)
		forget_pending(w);
	tg_buf_release(&open);
	free(section);
	free(table);
	return r;
}

/* After rows or events: they are in the file whatever becomes of the summary. */
static void summarise_if_due(struct tg_writer *w)
{
	if (w->due)
		write_summary(w);
}

static int write_packed(struct tg_writer *w, uint8_t type, const void *data, size_t len)
{
	if (len > TG_CHUNK_MAX) /* no reader would expand it */
		return -EMSGSIZE;
	chunk_begin(w);
	return chunk_end(w, type, tg_zip_pack(&w->zip, data, len, &w->chunk));
}

/* The session chunk: the caller's object with its number put in. */
static int write_session(struct tg_writer *w, const char *json, struct tg_err *err)
{
	const char *brace = json + strspn(json, " \t\r\n");
	const char *rest = *brace == '{' ? brace + 1 + strspn(brace + 1, " \t\r\n") : NULL;
	int r;

	if (!rest || strlen(json) > TG_SESSION_MAX)
		return tg_err_set(err, -EINVAL, "the session is no JSON object of %d bytes at most",
			TG_SESSION_MAX);
	tg_buf_clear(&w->json);
	tg_buf_addf(&w->json, "{\"session\":%u%s%s", w->session, *rest == '}' ? "" : ",", rest);
	tg_buf_clear(&w->session_json);
	tg_buf_add(&w->session_json, w->json.data, w->json.len);
	r = write_packed(w, TG_CHUNK_SESSION, w->json.data, w->json.len);
	if (r < 0)
		tg_err_set(err, r, "cannot write to the recording: %s", strerror(-r));
	return r;
}

static struct tg_writer *writer_new(int fd)
{
	struct tg_writer *w = tg_xcalloc(1, sizeof(*w));

	w->fd = fd;
	w->session = 1;
	w->first_table = w->next_table = 1;
	tg_zip_init(&w->zip);
	tg_buf_init(&w->chunk);
	tg_buf_init(&w->json);
	tg_buf_init(&w->session_json);
	w->last_summary = TG_NO_SUMMARY;
	tg_spans_init(&w->spans);
	return w;
}

void tg_writer_abandon(struct tg_writer *w)
{
	if (!w)
		return;
	close(w->fd);
	tg_zip_release(&w->zip);
	tg_buf_release(&w->chunk);
	tg_buf_release(&w->json);
	tg_buf_release(&w->session_json);
	tg_spans_release(&w->spans);
	for (size_t i = 0; i < w->n_tables; i++) {
		tg_buf_release(&w->table[i].json);
		tg_groups_release(&w->table[i].groups);
	}
	free(w->entry);
	free(w->table);
	free(w);
}

/* Take over where the file's last session stopped; cut what is behind its last whole chunk. */
static int resume(struct tg_writer *w, const char *path, const char *json, struct tg_err *err)
{
	struct tg_resume at;
	int r = tg_resume_read(&at, w->fd, path, json, err);

	if (r < 0)
		return r;
	if (ftruncate(w->fd, (off_t)at.offset) < 0)
		return tg_err_set(err, -errno, "%s: %s", path, strerror(errno));
	w->offset = w->begin = at.offset;
	w->last_summary = at.last_summary;
	w->sequence = at.sequence;
	w->session = at.session + 1;
	w->first_table = w->next_table = at.next_table;
	w->spans.next_span = at.next_span;
	w->spans.next_entity = at.next_entity;
	return 0;
}

int tg_writer_open(
	struct tg_writer **out, const char *path, const char *session_json, struct tg_err *err)
{
	int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	bool is_new = fd >= 0;
	struct tg_writer *w;
	struct stat st;
	int r;

	if (fd < 0 && errno == EEXIST)
		fd = open(path, flags);
	if (fd < 0) {
		r = errno == ELOOP ? -EEXIST : -errno;
		return tg_err_set(err, r, "%s: %s", path, strerror(errno));
	}
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		close(fd);
		return tg_err_set(err, -EINVAL, "%s: it is no regular file", path);
	}
	/* where a file system has no locks, this says so, and those of the callers must do */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return tg_err_set(err, -EEXIST, "%s: it is being written by another", path);
	}
	w = writer_new(fd);
	w->seekable = true;
	r = is_new ? 0 : resume(w, path, session_json, err);
	if (r == 0) {
		r = write_session(w, session_json, err);
		if (r < 0)
			tg_err_prefix(err, path);
		if (r < 0 && is_new)
			unlink(path); /* nothing but an empty file is lost */
	}
	if (r < 0) {
		tg_writer_abandon(w);
		return r;
	}
	*out = w;
	return 0;
}

int tg_writer_open_fd(struct tg_writer **out, int fd, const char *session_json, struct tg_err *err)
{
	struct tg_writer *w = writer_new(fd);
	off_t at = lseek(fd, 0, SEEK_CUR);
	int r;

	w->seekable = at >= 0;
	w->offset = w->begin = at >= 0 ? (uint64_t)at : 0;
	r = write_session(w, session_json, err);
	if (r < 0) {
		tg_writer_abandon(w);
		return r;
	}
	*out = w;
	return 0;
}

uint32_t tg_writer_session(const struct tg_writer *w)
{
	return w->session;
}

uint64_t tg_writer_next_span(const struct tg_writer *w)
{
	return w->spans.next_span;
}

uint32_t tg_writer_next_entity(const struct tg_writer *w)
{
	return w->spans.next_entity;
}

uint32_t tg_writer_next_table(const struct tg_writer *w)
{
	return w->next_table;
}

bool tg_writer_is_deleted(const struct tg_writer *w)
{
	struct stat st;
	char first = 0;
	ssize_t n;

	if (fstat(w->fd, &st) < 0)
		return errno == ESTALE;
	if (!S_ISREG(st.st_mode))
		return false;
	if (st.st_nlink == 0)
		return true;
	/* written on, a file that was emptied begins with a hole */
	n = pread(w->fd, &first, 1, 0);
	return n >= 0 && !first;
}

int64_t tg_writer_offset(const struct tg_writer *w)
{
	return (int64_t)w->offset;
}

static struct written_table *find_table(struct tg_writer *w, uint32_t number)
{
	for (size_t i = w->n_tables; i-- > 0;)
		if (w->table[i].number == number)
			return &w->table[i];
	return NULL;
}

int tg_writer_table(struct tg_writer *w, uint32_t table, const char *name,
	const struct tg_column *column, size_t n)
{
	int r;

	if (table < w->first_table || table >= TG_TABLES_MAX || n > TG_COLUMNS_MAX ||
		find_table(w, table))
		return -EINVAL;
	tg_buf_clear(&w->json);
	tg_table_dump(&w->json, table, name, column, n);
	r = write_packed(w, TG_CHUNK_TABLE, w->json.data, w->json.len);
	if (r < 0)
		return r;
	TG_GROW(w->table, w->n_tables + 1, w->cap_tables);
	w->table[w->n_tables] = (struct written_table){
		.number = table, .n_columns = (uint32_t)n, .json = TG_BUF_INIT, .mentioned = true
	};
	tg_buf_add(&w->table[w->n_tables].json, w->json.data, w->json.len);
	tg_groups_init(&w->table[w->n_tables++].groups, (uint32_t)n);
	w->next_table = TG_MAX(w->next_table, table + 1);
	return 0;
}

int tg_writer_block(struct tg_writer *w, const struct tg_block *block)
{
	struct written_table *t = find_table(w, block->table);
	uint32_t most = tg_samples_rows_max(block->n_columns);

	if (!t || t->n_columns != block->n_columns)
		return -EINVAL;
	for (uint32_t i = 1; i < block->n_rows; i++)
		if (block->t_ns[i] < block->t_ns[i - 1])
			return -EINVAL;
	for (uint32_t from = 0; from < block->n_rows; from += most) {
		uint32_t n = TG_MIN(most, block->n_rows - from);
		uint64_t begin = w->offset;
		int r;

		chunk_begin(w);
		r = chunk_end(
			w, TG_CHUNK_SAMPLES, tg_samples_encode(&w->zip, block, from, n, &w->chunk));
		if (r < 0)
			return r;
		describe(w, block->table, n, block->t_ns[from], block->t_ns[from + n - 1]);
		tg_groups_add(&t->groups, block, from, n, begin, w->offset);
		t->mentioned = true;
		w->due |= ++t->n_chunks >= TG_SUMMARY_EVERY ||
			  t->groups.n * t->n_columns >= PENDING_VALUES / 2;
		summarise_if_due(w);
	}
	return 0;
}

int tg_writer_processes(struct tg_writer *w, const struct tg_process_block *block)
{
	for (size_t i = 1; i < block->n; i++)
		if (block->cell[i].t_ns < block->cell[i - 1].t_ns)
			return -EINVAL;
	for (size_t from = 0; from < block->n; from += TG_PROCESS_CELLS_MAX) {
		size_t n = TG_MIN((size_t)TG_PROCESS_CELLS_MAX, block->n - from);
		int r;

		chunk_begin(w);
		r = chunk_end(w, TG_CHUNK_PROCESS,
			tg_processes_encode(&w->zip, block->cell + from, n, &w->chunk));
		if (r < 0)
			return r;
		describe(w, 0, (uint32_t)n, block->cell[from].t_ns, block->cell[from + n - 1].t_ns);
		summarise_if_due(w);
	}
	return 0;
}

int tg_writer_events(struct tg_writer *w, const char *lines, size_t len)
{
	int r;

	if (!len)
		return 0;
	if (len > TG_CHUNK_MAX || lines[len - 1] != '\n')
		return -EINVAL;
	r = write_packed(w, TG_CHUNK_EVENTS, lines, len);
	if (r < 0)
		return r;
	tg_spans_look(&w->spans, lines, len);
	summarise_if_due(w);
	return 0;
}

int tg_writer_finish(struct tg_writer *w)
{
	uint8_t pointer[16];
	int r;

	for (size_t i = 0; i < w->n_tables; i++)
		tg_groups_close(&w->table[i].groups);
	write_summary(w);
	tg_buf_clear(&w->json);
	tg_buf_addf(&w->json, "{\"session\":%u,", w->session);
	tg_spans_dump_open(&w->spans, &w->json);
	tg_buf_addc(&w->json, '}');
	chunk_begin(w);
	tg_buf_add(&w->chunk, w->json.data, w->json.len);
	tg_put64(pointer, w->last_summary);
	tg_put32(pointer + 8, (uint32_t)(w->chunk.len + sizeof(pointer)));
	tg_put32(pointer + 12, TG_CHUNK_MAGIC);
	tg_buf_add(&w->chunk, pointer, sizeof(pointer));
	r = chunk_end(w, TG_CHUNK_END, 0);
	tg_writer_abandon(w);
	return r;
}
