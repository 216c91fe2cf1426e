/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reader makes of files that are cut, flipped, mixed up, growing, or of another version,
 * and what a writer does when a write falls short.
 */
#include "recording.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zstd.h>

#include "record/chunk.h"
#include "record/crc32c.h"
#include "record/format.h"
#include "record/summary.h"
#include "record/varint.h"

#include "base/mem.h"

#define COLUMNS 5
#define ROWS    12
#define BLOCKS  8

/* A recording of BLOCKS sample chunks with events and processes between them, as bytes. */
struct sample {
	char path[64];
	struct tg_buf bytes;
	size_t at[64]; /* where chunks begin; at[n] is the end */
	uint8_t type[64];
	size_t n;
};

/* The chunks of a whole file, by the header's own words and nothing else. */
static void split(struct sample *s)
{
	const uint8_t *p = (const uint8_t *)s->bytes.data;
	size_t at = 0;

	for (s->n = 0; at + TG_CHUNK_HEADER <= s->bytes.len && s->n < 63; s->n++) {
		s->at[s->n] = at;
		s->type[s->n] = p[at + 5];
		at += TG_CHUNK_HEADER + tg_get32(p + at + 12);
	}
	s->at[s->n] = at;
}

static void add_events(struct tg_writer *w, int i)
{
	char line[160];

	snprintf(line, sizeof(line),
		"{\"ev\":\"begin\",\"t\":%d,\"span\":%d,\"kind\":\"cell\",\"code\":\"x = %d\"}\n",
		i, i + 1, i);
	T_EQ_I(tg_writer_events(w, line, strlen(line)), 0);
}

static void write_sample(struct sample *s)
{
	struct tg_column column[COLUMNS] = { 0 };
	struct tg_process_block *p = tg_process_block_new();
	int64_t t = 1000000000, state[COLUMNS] = { 0 };
	struct tg_writer *w = NULL;
	uint64_t seed = 99;

	r_columns(column, COLUMNS);
	unlink(s->path);
	T_EQ_I(tg_writer_open(&w, s->path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, COLUMNS), 0);
	for (int i = 0; i < BLOCKS; i++) {
		struct tg_block *b = r_block(1, COLUMNS, ROWS, &t, state, &seed);
		struct tg_process_cell cell = { .t_ns = t, .entity = 1, .value = i };

		T_EQ_I(tg_writer_block(w, b), 0);
		tg_block_free(b);
		tg_process_block_add(p, &cell);
		if (i % 3 == 0)
			add_events(w, i);
		if (i % 4 == 0)
			T_EQ_I(tg_writer_processes(w, p), 0);
	}
	T_EQ_I(tg_writer_finish(w), 0);
	tg_process_block_free(p);
	s->bytes = r_slurp(s->path);
	split(s);
	T_EQ_I(s->at[s->n], s->bytes.len);
	T_EQ_I(s->type[0], TG_CHUNK_SESSION);
	T_EQ_I(s->type[s->n - 1], TG_CHUNK_END);
	T_EQ_I(s->type[s->n - 2], TG_CHUNK_SUMMARY);
}

/* What can be read of some bytes. */
struct found {
	int opened; /* result of opening */
	uint64_t rows, groups, cells, events;
	int64_t sum; /* of all values and times: the same rows give the same sum */
	struct tg_damage open_damage, verify_damage;
};

static int sum_block(void *ctx, const struct tg_block *b)
{
	struct found *f = ctx;

	f->rows += b->n_rows;
	for (uint32_t i = 0; i < b->n_rows; i++) {
		f->sum = tg_wrap_add(f->sum, b->t_ns[i]);
		for (uint32_t c = 0; c < b->n_columns; c++)
			f->sum = tg_wrap_add(f->sum, b->values[(size_t)c * b->cap + i]);
	}
	return 0;
}

static int count_group(void *ctx, const struct tg_group *g)
{
	((struct found *)ctx)->groups += g->rows;
	return 0;
}

static int count_cell(void *ctx, const struct tg_process_cell *c)
{
	((struct found *)ctx)->cells += c->field < TG_PROCESS_FIELDS;
	return 0;
}

static int count_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	((struct found *)ctx)->events += session == 1 && len && json[0] == '{';
	return 0;
}

/* Read everything there is in every way there is. Takes nothing for granted. */
static struct found read_all(const void *data, size_t len)
{
	static const uint32_t all[COLUMNS] = { 0, 1, 2, 3, 4 };
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct found f = { 0 };
	struct tg_reader *r = NULL;
	const struct tg_table *t;
	struct tg_err err = { 0 };
	size_t n;

	if (fd < 0 || tg_file_write_all(fd, data, len) < 0)
		T_OK(false);
	f.opened = tg_reader_open_fd(&r, fd, "x", &err);
	if (f.opened < 0) {
		if (err.code != f.opened || !*err.text)
			T_OK(false); /* each failure has a sentence */
		return f;
	}
	t = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n && t[i].n_columns == COLUMNS; i++) {
		tg_reader_blocks(r, &t[i], all, COLUMNS, INT64_MIN, INT64_MAX, sum_block, &f);
		tg_reader_groups(r, &t[i], 1, INT64_MIN, INT64_MAX, count_group, &f);
	}
	tg_reader_processes(r, 1, INT64_MIN, INT64_MAX, count_cell, &f);
	tg_reader_events(r, count_event, &f);
	f.open_damage = *tg_reader_damage(r);
	tg_reader_verify(r, &f.verify_damage);
	tg_reader_close(r);
	return f;
}

static uint64_t damage_of(const struct tg_damage *d)
{
	return d->holes + d->lost_chunks + d->tail_bytes;
}

/* After a cut at any byte everything but the chunk that is cut is there. */
static void test_cut(const struct sample *s)
{
	size_t whole = 0, bad = 0;
	uint64_t rows = 0, events = 0;

	for (size_t len = 0; len <= s->bytes.len; len++) {
		struct found f = read_all(s->bytes.data, len);

		if (whole < s->n && len == s->at[whole + 1]) {
			rows += s->type[whole] == TG_CHUNK_SAMPLES ? ROWS : 0;
			events += s->type[whole] == TG_CHUNK_EVENTS;
			whole++;
		}
		bad += f.opened != (whole ? 0 : -EBADMSG);
		if (!whole)
			continue;
		bad += f.rows != rows || f.groups != rows || f.events != events;
		bad += f.open_damage.chunks != whole || f.open_damage.holes != 0;
		bad += f.open_damage.tail_bytes != len - s->at[whole];
		bad += f.open_damage.ended != (whole == s->n);
		bad += f.verify_damage.tail_bytes != len - s->at[whole];
	}
	T_EQ_I(bad, 0);
	T_EQ_I(rows, ROWS * BLOCKS);
}

/* A flipped byte costs at most the chunk it is in, and is noticed. */
static void test_flip(const struct sample *s, uint8_t flip)
{
	struct found clean = read_all(s->bytes.data, s->bytes.len);
	size_t chunk = 0, bad = 0;

	T_EQ_I(damage_of(&clean.verify_damage), 0);
	for (size_t at = 0; at < s->bytes.len; at++) {
		struct found f;
		uint64_t lost = 0;

		chunk += at == s->at[chunk + 1];
		s->bytes.data[at] = (char)(s->bytes.data[at] ^ flip);
		f = read_all(s->bytes.data, s->bytes.len);
		s->bytes.data[at] = (char)(s->bytes.data[at] ^ flip);
		if (s->type[chunk] == TG_CHUNK_SAMPLES)
			lost = ROWS;
		bad += f.opened != 0 || f.rows < clean.rows - lost || f.rows > clean.rows;
		bad += f.rows == clean.rows && f.sum != clean.sum;
		bad += f.events < clean.events - (s->type[chunk] == TG_CHUNK_EVENTS);
		bad += damage_of(&f.verify_damage) == 0;
		if (bad) {
			fprintf(stderr, "# byte %zu of chunk %zu, type %d\n", at, chunk,
				s->type[chunk]);
			break;
		}
	}
	T_EQ_I(bad, 0);
}

/* Whatever was cut, a new session goes on behind the last whole chunk and the file is whole. */
static void test_reopen(struct sample *s)
{
	size_t whole = 0, bad = 0;
	struct tg_err err;

	for (size_t len = 0; len <= s->bytes.len; len++) {
		struct tg_writer *w = NULL;
		struct tg_buf bytes;
		struct found f;
		int r;

		whole += len == s->at[whole + 1];
		if (len % 7 && len != s->at[whole]) /* each is a file system's work */
			continue;
		r_spew(s->path, s->bytes.data, len);
		r = tg_writer_open(&w, s->path, R_SESSION, &err);
		if (!whole) {
			bad += r != -EEXIST;
			continue;
		}
		if (r < 0 || tg_writer_session(w) != 2) {
			bad++;
			tg_writer_abandon(w);
			continue;
		}
		bad += tg_writer_finish(w) != 0;
		bytes = r_slurp(s->path);
		f = read_all(bytes.data, bytes.len);
		bad += f.opened != 0 || damage_of(&f.verify_damage) != 0 || !f.verify_damage.ended;
		bad += f.verify_damage.chunks != whole + 3; /* session, summary, end */
		bad += f.open_damage.chunks != whole + 3;
		tg_buf_release(&bytes);
	}
	T_EQ_I(bad, 0);
}

static void refresh_crc(uint8_t *header)
{
	tg_put32(header + 28, tg_crc32c(0, header, 28));
}

static void test_versions(const struct sample *s)
{
	for (size_t chunk = 0; chunk < 3; chunk += 2) {
		struct tg_buf b = TG_BUF_INIT;
		uint8_t *header;
		struct tg_err err;
		struct tg_reader *r;
		struct tg_writer *w;

		tg_buf_add(&b, s->bytes.data, s->at[5]); /* without the end: all is scanned */
		header = (uint8_t *)b.data + s->at[chunk];
		header[4] = TG_FORMAT_VERSION + 1;
		T_EQ_I(read_all(b.data, b.len).opened, 0); /* its CRC is wrong: damage */
		refresh_crc(header);
		r_spew(s->path, b.data, b.len);
		T_EQ_I(tg_reader_open(&r, s->path, &err), -EPROTONOSUPPORT);
		T_OK(strstr(err.text, "newer version") != NULL);
		T_EQ_I(tg_writer_open(&w, s->path, R_SESSION, &err), -EPROTONOSUPPORT);
		tg_buf_release(&b);
	}
}

/* Headers that lie about sizes, garbage around and between chunks, chunks of unknown types. */
static void test_mixtures(const struct sample *s)
{
	struct found clean = read_all(s->bytes.data, s->bytes.len), f;
	struct tg_buf b = TG_BUF_INIT;
	char garbage[1000];
	uint8_t *header;

	memset(garbage, 0x89, sizeof(garbage)); /* the first byte of the magic number */
	tg_buf_add(&b, garbage, sizeof(garbage));
	tg_buf_add(&b, s->bytes.data, s->bytes.len);
	f = read_all(b.data, b.len);
	T_EQ_I(f.opened, 0);
	T_EQ_I(f.rows, clean.rows);
	T_EQ_I(f.sum, clean.sum);
	T_EQ_I(f.open_damage.holes, 1);
	T_EQ_I(f.open_damage.bytes_skipped, sizeof(garbage));

	/* garbage behind the fourth chunk, a chunk of an unknown type behind the fifth */
	tg_buf_clear(&b);
	tg_buf_add(&b, s->bytes.data, s->at[4]);
	tg_buf_add(&b, garbage, sizeof(garbage));
	tg_buf_add(&b, s->bytes.data + s->at[4], s->at[5] - s->at[4]);
	tg_buf_add(&b, s->bytes.data, TG_CHUNK_HEADER);
	header = (uint8_t *)b.data + b.len - TG_CHUNK_HEADER;
	header[5] = 99;
	tg_put32(header + 12, 0);
	tg_put32(header + 24, 0);
	tg_put64(header + 16, 5);
	refresh_crc(header);
	tg_buf_add(&b, s->bytes.data + s->at[5], s->at[6] - s->at[5]);
	f = read_all(b.data, b.len);
	T_EQ_I(f.open_damage.chunks, 7);
	T_EQ_I(f.open_damage.holes, 1);
	T_EQ_I(f.open_damage.bytes_skipped, sizeof(garbage));

	/* a header that promises more than may be, and one that promises more than is there */
	for (uint32_t length = TG_CHUNK_MAX; length <= TG_CHUNK_MAX + 1; length++) {
		tg_buf_clear(&b);
		tg_buf_add(&b, s->bytes.data, s->at[3]);
		tg_buf_add(&b, s->bytes.data, TG_CHUNK_HEADER);
		header = (uint8_t *)b.data + s->at[3];
		tg_put32(header + 12, length);
		refresh_crc(header);
		f = read_all(b.data, b.len); /* at the end it is an incomplete chunk, or none */
		T_EQ_I(f.open_damage.chunks, 3);
		T_EQ_I(f.open_damage.tail_bytes, length == TG_CHUNK_MAX ? TG_CHUNK_HEADER : 0);
		tg_buf_add(&b, s->bytes.data + s->at[3], s->at[6] - s->at[3]);
		f = read_all(b.data, b.len); /* in the middle it is damage */
		T_EQ_I(f.open_damage.chunks, 6);
		T_EQ_I(f.open_damage.holes, 1);
		T_EQ_I(f.open_damage.bytes_skipped, TG_CHUNK_HEADER);
		T_EQ_I(f.open_damage.tail_bytes, 0);
	}

	/* a chunk that is missing altogether is noticed by the sequence */
	tg_buf_clear(&b);
	tg_buf_add(&b, s->bytes.data, s->at[3]);
	tg_buf_add(&b, s->bytes.data + s->at[4], s->at[7] - s->at[4]);
	f = read_all(b.data, b.len);
	T_EQ_I(f.open_damage.chunks, 6);
	T_EQ_I(f.open_damage.holes, 0);
	T_EQ_I(f.open_damage.lost_chunks, 1);
	T_EQ_I(read_all(garbage, sizeof(garbage)).opened, -EBADMSG);
	tg_buf_release(&b);
}

static void rows_into(struct tg_writer *w, int n, int *written, int *result)
{
	int64_t t = 1000000000 * (int64_t)(1 + *written), state[COLUMNS] = { 0 };
	uint64_t seed = 5;

	for (int i = 0; i < n && *result == 0; i++) {
		struct tg_block *b = r_block(1, COLUMNS, ROWS, &t, state, &seed);

		*result = tg_writer_block(w, b);
		*written += *result == 0;
		tg_block_free(b);
	}
}

static int append_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	(void)session;
	tg_buf_add(ctx, json, len);
	tg_buf_addc(ctx, '\n');
	return 0;
}

static struct tg_buf events_of(const char *path, int *holes)
{
	struct tg_buf b = TG_BUF_INIT;
	struct tg_reader *r = NULL;

	T_EQ_I(tg_reader_open(&r, path, NULL), 0);
	tg_reader_events(r, append_event, &b);
	*holes = (int)tg_reader_damage(r)->holes;
	tg_reader_close(r);
	return b;
}

/* The begin event of a span that was still open at the next summary survives its chunk. */
static void test_lost_begin(struct sample *s)
{
	static const char begin[] = "{\"ev\":\"begin\",\"t\":1,\"span\":4,\"code\":\"pass\"}\n"
				    "{\"ev\":\"begin\",\"t\":2,\"span\":5,\"name\":\"x\"}\n"
				    "{\"ev\":\"end\",\"t\":3,\"span\":5}\n";
	static const char end[] = "{\"ev\":\"end\",\"t\":9,\"span\":4}\n";
	struct tg_column column[COLUMNS] = { 0 };
	int written = 0, result = 0, holes;
	struct tg_writer *w = NULL;
	struct tg_buf b, events;
	size_t at;

	r_columns(column, COLUMNS);
	unlink(s->path);
	T_EQ_I(tg_writer_open(&w, s->path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, COLUMNS), 0);
	at = (size_t)tg_writer_offset(w) + TG_CHUNK_HEADER;
	T_EQ_I(tg_writer_events(w, begin, sizeof(begin) - 1), 0);
	rows_into(w, 100, &written, &result); /* a summary after 64 of them */
	T_EQ_I(tg_writer_events(w, end, sizeof(end) - 1), 0);
	tg_writer_abandon(w);
	events = events_of(s->path, &holes);
	T_EQ_I(events.len, sizeof(begin) + sizeof(end) - 2);
	T_EQ_I(holes, 0);
	tg_buf_release(&events);

	b = r_slurp(s->path);
	b.data[at + 3] ^= 1; /* found when the file is scanned */
	r_spew(s->path, b.data, b.len);
	events = events_of(s->path, &holes);
	T_EQ_S(events.data, "{\"ev\":\"begin\",\"t\":1,\"span\":4}\n"
			    "{\"ev\":\"end\",\"t\":9,\"span\":4}\n");
	T_EQ_I(holes, 1);
	tg_buf_release(&events);

	b.data[at + 3] ^= 1; /* found only when the events are read */
	r_spew(s->path, b.data, b.len);
	T_EQ_I(tg_writer_open(&w, s->path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_finish(w), 0);
	tg_buf_release(&b);
	b = r_slurp(s->path);
	b.data[at + 3] ^= 1;
	r_spew(s->path, b.data, b.len);
	events = events_of(s->path, &holes);
	T_EQ_S(events.data, "{\"ev\":\"begin\",\"t\":1,\"span\":4}\n"
			    "{\"ev\":\"end\",\"t\":9,\"span\":4}\n");
	T_EQ_I(holes, 0); /* the chain of summaries does not look at every chunk */
	tg_buf_release(&events);
	tg_buf_release(&b);
}

/* A chunk of 2 kB that would expand to 20 MB is damage, not memory. */
static void test_bomb(const struct sample *s)
{
	const size_t large = 20u << 20;
	struct tg_chunk_header h = { .magic = TG_CHUNK_MAGIC,
		.version = TG_FORMAT_VERSION,
		.type = TG_CHUNK_EVENTS,
		.flags = TG_CHUNK_ZSTD,
		.session = 1 };
	char *zeros = tg_xcalloc(1, large), packed[8192];
	size_t n = ZSTD_compress(packed, sizeof(packed), zeros, large, 1);
	struct tg_buf b = TG_BUF_INIT;
	uint8_t header[TG_CHUNK_HEADER];
	struct found f;

	T_OK(!ZSTD_isError(n));
	h.length = (uint32_t)n;
	h.payload_crc = tg_crc32c(0, packed, n);
	h.sequence = 2;
	tg_chunk_header_put(header, &h);
	tg_buf_add(&b, s->bytes.data, s->at[2]);
	tg_buf_add(&b, header, sizeof(header));
	tg_buf_add(&b, packed, n);
	f = read_all(b.data, b.len);
	T_EQ_I(f.opened, 0);
	T_EQ_I(f.events, 0);
	T_EQ_I(f.open_damage.lost_chunks, 1);
	T_EQ_I(f.verify_damage.lost_chunks, 1);
	tg_buf_release(&b);
	free(zeros);
}

/* A reader of a file that grows, byte by byte. */
static void test_refresh(const struct sample *s)
{
	int fd = memfd_create("live", MFD_CLOEXEC);
	struct tg_reader *r = NULL;
	size_t whole = 1, bad = 0, n;

	T_EQ_I(tg_file_write_all(fd, s->bytes.data, s->at[1]), 0);
	T_EQ_I(tg_reader_open_fd(&r, dup(fd), "live", NULL), 0);
	for (size_t len = s->at[1]; len < s->bytes.len; len++) {
		int k;

		if (tg_file_write_all(fd, s->bytes.data + len, 1) < 0)
			T_OK(false);
		k = tg_reader_refresh(r);
		bad += k != (len + 1 == s->at[whole + 1]);
		whole += k == 1;
		bad += tg_reader_damage(r)->tail_bytes != len + 1 - s->at[whole];
		bad += tg_reader_damage(r)->holes != 0;
	}
	T_EQ_I(bad, 0);
	T_EQ_I(tg_reader_tables(r, &n)->n_rows, ROWS * BLOCKS);
	T_EQ_I(n, 1);
	T_OK(tg_reader_damage(r)->ended);
	tg_reader_close(r);
	close(fd);
}

/* What is no recording is refused after a look at its beginning, however large it is. */
static void test_foreign(const char *path)
{
	struct tg_reader *r = NULL;
	struct tg_err err;

	r_spew(path, "", 0);
	T_EQ_I(tg_reader_open(&r, path, &err), -EBADMSG);
	if (truncate(path, (off_t)1 << 42) < 0) { /* 4 TiB, sparse */
		T_SKIP("a file of 4 TiB", "the file system has no sparse files of this size");
		return;
	}
	T_EQ_I(tg_reader_open(&r, path, &err), -EBADMSG);
	T_OK(strstr(err.text, "is not a recording") != NULL);
	unlink(path);
	T_EQ_I(mkfifo(path, 0600), 0);
	T_EQ_I(tg_reader_open(&r, path, &err), -ESPIPE);
	unlink(path);
}

static struct tg_damage verify_damage(const char *path)
{
	struct tg_damage d = { 0 };
	struct tg_reader *r = NULL;

	if (T_EQ_I(tg_reader_open(&r, path, NULL), 0)) {
		T_EQ_I(tg_reader_verify(r, &d), 0);
		tg_reader_close(r);
	}
	return d;
}

/* A hole of terabytes between two chunks and behind the last is damage, and takes no time. */
static void test_sparse(struct sample *s)
{
	const off_t far = (off_t)1 << 42;
	size_t last = s->at[s->n - 1];
	struct tg_damage d;
	int fd;

	r_spew(s->path, s->bytes.data, last);
	fd = open(s->path, O_RDWR | O_CLOEXEC);
	if (!T_OK(fd >= 0))
		return;
	if (ftruncate(fd, far) < 0 || lseek(fd, far / 2, SEEK_DATA) != -1) {
		close(fd);
		T_SKIP("a hole of 4 TiB", "the file system has no sparse files of this size");
		return;
	}
	d = verify_damage(s->path);
	T_EQ_I(d.chunks, s->n - 1);
	T_EQ_I(d.bytes_skipped, (uint64_t)far - last);
	T_EQ_I(d.holes, 1);
	T_EQ_I(tg_file_pwrite_all(fd, s->bytes.data + last, s->bytes.len - last, far - 5), 0);
	d = verify_damage(s->path);
	T_EQ_I(d.chunks, s->n);
	T_EQ_I(d.bytes_skipped, (uint64_t)far - 5 - last);
	T_EQ_I(d.holes, 1);
	T_OK(d.ended);
	close(fd);
	unlink(s->path);
}

/* Nobody knows whose the last session is when only chunks of it are left without the first. */
static void test_lost_session(struct sample *s)
{
	struct tg_writer *w = NULL;
	struct tg_err err;
	struct tg_buf b;
	size_t second;

	r_spew(s->path, s->bytes.data, s->bytes.len);
	T_EQ_I(tg_writer_open(&w, s->path, R_SESSION, NULL), 0);
	add_events(w, 1);
	tg_writer_abandon(w);
	second = s->bytes.len;
	b = r_slurp(s->path);
	b.data[second + TG_CHUNK_HEADER] ^= 1;
	r_spew(s->path, b.data, b.len);
	T_EQ_I(tg_writer_open(&w, s->path, R_SESSION, &err), -EEXIST);
	T_OK(strstr(err.text, "last session cannot be read") != NULL);
	tg_buf_release(&b);
}

/* A disk that is full, and then is not. */
static void test_short_write(const char *path)
{
	struct tg_column column[COLUMNS] = { 0 };
	struct rlimit before, limit;
	struct tg_writer *w = NULL;
	int written = 0, result = 0;
	struct tg_buf bytes;
	struct found f;
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	r_columns(column, COLUMNS);
	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, COLUMNS), 0);
	T_EQ_I(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 5000;
	T_EQ_I(setrlimit(RLIMIT_FSIZE, &limit), 0);
	rows_into(w, 1000, &written, &result);
	T_EQ_I(result, -EFBIG);
	T_EQ_I(stat(path, &st), 0);
	T_EQ_I(st.st_size, tg_writer_offset(w)); /* the half chunk is gone again */
	T_EQ_I(setrlimit(RLIMIT_FSIZE, &before), 0);
	result = 0;
	rows_into(w, 100, &written, &result);
	T_EQ_I(result, 0);
	T_EQ_I(tg_writer_finish(w), 0);
	bytes = r_slurp(path);
	f = read_all(bytes.data, bytes.len);
	T_EQ_I(f.rows, written * ROWS);
	T_EQ_I(f.groups, f.rows);
	T_EQ_I(damage_of(&f.verify_damage), 0);
	tg_buf_release(&bytes);
}

/* The same bytes go through a pipe; /dev/full and a closed pipe are failures with a sentence. */
static void test_pipe(void)
{
	struct tg_column column[COLUMNS] = { 0 };
	struct tg_writer *w = NULL;
	int fds[2], written = 0, result = 0;
	struct tg_err err = { 0 };
	char data[65536];
	struct found f;
	ssize_t n;

	signal(SIGPIPE, SIG_IGN);
	r_columns(column, COLUMNS);
	T_EQ_I(pipe(fds), 0);
	T_EQ_I(tg_writer_open_fd(&w, fds[1], R_SESSION, &err), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, COLUMNS), 0);
	rows_into(w, 10, &written, &result);
	T_EQ_I(tg_writer_finish(w), 0);
	n = tg_file_pread_all(fds[0], data, 1, 0); /* a pipe has no positions */
	T_EQ_I(n, -ESPIPE);
	n = read(fds[0], data, sizeof(data));
	T_OK(n > 0);
	f = read_all(data, (size_t)n);
	T_EQ_I(f.rows, 10 * ROWS);
	T_OK(f.verify_damage.ended && damage_of(&f.verify_damage) == 0);

	T_EQ_I(pipe(fds + 0), 0);
	T_EQ_I(tg_writer_open_fd(&w, fds[1], R_SESSION, &err), 0);
	close(fds[0]);
	T_EQ_I(tg_writer_table(w, 1, "main", column, COLUMNS), -EPIPE);
	T_EQ_I(tg_writer_finish(w), -EPIPE);

	T_EQ_I(tg_writer_open_fd(&w, open("/dev/full", O_WRONLY), R_SESSION, &err), -ENOSPC);
	T_OK(strstr(err.text, "No space left") != NULL);
}

/* A summary far behind in a sparse file may promise more than is in it: nothing is allocated. */
static int decode_head(const struct tg_buf *head, uint64_t offset)
{
	uint8_t raw[TG_SUMMARY_PREFIX + 64] = { 0 };
	struct tg_summary_reading s = { 0 };
	struct tg_zip z;
	int r;

	tg_zip_init(&z);
	tg_put64(raw, TG_NO_SUMMARY);
	tg_put32(raw + 8, (uint32_t)head->len);
	memcpy(raw + TG_SUMMARY_PREFIX, head->data, head->len);
	tg_put32(raw + 16, tg_crc32c(tg_crc32c(0, raw, 16), raw + TG_SUMMARY_PREFIX, head->len));
	r = tg_summary_decode(&s, &z, raw, (uint32_t)(TG_SUMMARY_PREFIX + head->len), offset);
	tg_summary_reading_release(&s);
	tg_zip_release(&z);
	return r;
}

static void put(struct tg_buf *b, uint64_t v)
{
	uint8_t raw[TG_VARINT_MAX];

	tg_buf_add(b, raw, (size_t)(tg_put_uvar(raw, v) - raw));
}

static void test_promises(void)
{
	const uint64_t far = UINT64_C(1) << 50;
	struct tg_buf head = TG_BUF_INIT;

	put(&head, 0); /* begin of the index, then how many chunks it lists */
	put(&head, far / TG_CHUNK_HEADER);
	T_EQ_I(decode_head(&head, far), -EBADMSG);

	tg_buf_clear(&head);
	put(&head, far); /* an index of nothing; no session, tables, open spans */
	for (int i = 0; i < 4; i++)
		put(&head, 0);
	put(&head, 1); /* a section: table, columns, begin, length, groups */
	put(&head, 1);
	put(&head, 0);
	put(&head, 0);
	put(&head, far);
	put(&head, UINT32_MAX);
	T_EQ_I(decode_head(&head, far), -EBADMSG);
	tg_buf_release(&head);
}

int main(void)
{
	struct sample s = { .n = 0 };
	char dir[] = "/tmp/tg-test-XXXXXX";

	if (!mkdtemp(dir))
		return 1;
	snprintf(s.path, sizeof(s.path), "%s/x.tacho", dir);
	write_sample(&s);
	test_cut(&s);
	test_flip(&s, 0xff);
	test_flip(&s, 0x01);
	test_reopen(&s);
	test_versions(&s);
	test_mixtures(&s);
	test_bomb(&s);
	test_refresh(&s);
	test_short_write(s.path);
	test_foreign(s.path);
	test_sparse(&s);
	test_lost_session(&s);
	test_lost_begin(&s);
	test_pipe();
	test_promises();
	tg_buf_release(&s.bytes);
	unlink(s.path);
	rmdir(dir);
	return t_done();
}
