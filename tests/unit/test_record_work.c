/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are made to cost much: what is read of them is a few times their size. */
#include "recording.h"

#include <sys/mman.h>

#include "record/chunk.h"
#include "record/reader_private.h"

#include "base/mem.h"

#define MIB ((size_t)1 << 20)

static int memory(const void *data, size_t len)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || tg_file_write_all(fd, data, len) < 0)
		exit(1);
	return fd;
}

/* Scan it all. Returns the bytes that were read. */
static uint64_t work_of(const struct tg_buf *b, uint64_t chunks)
{
	int fd = memory(b->data, b->len), k;
	struct tg_chunk chunk;
	struct tg_scan s;
	uint64_t bytes;

	tg_scan_init(&s, fd);
	while ((k = tg_scan_next(&s, &chunk)) > 0)
		;
	T_EQ_I(k, 0);
	T_EQ_I(s.damage.chunks, chunks);
	bytes = s.read_bytes;
	tg_scan_release(&s);
	close(fd);
	return bytes;
}

static void add_header(struct tg_buf *b, uint8_t type, uint32_t session, uint32_t length)
{
	struct tg_chunk_header h = { .magic = TG_CHUNK_MAGIC,
		.version = TG_FORMAT_VERSION,
		.type = type,
		.session = session,
		.length = length };
	uint8_t raw[TG_CHUNK_HEADER];

	tg_chunk_header_put(raw, &h);
	tg_buf_add(b, raw, sizeof(raw));
}

static void test_magic_numbers(void)
{
	const uint8_t magic[4] = { 0x89, 'T', 'G', 'R' };
	struct tg_buf b = TG_BUF_INIT;

	while (b.len < 4 * MIB)
		tg_buf_add(&b, magic, sizeof(magic));
	T_OK(work_of(&b, 0) <= 2 * b.len);
	/* behind a chunk the search goes on for longer */
	tg_buf_clear(&b);
	add_header(&b, TG_CHUNK_EVENTS, 1, 0);
	while (b.len < 4 * MIB)
		tg_buf_add(&b, magic, sizeof(magic));
	T_OK(work_of(&b, 1) <= 2 * b.len);
	tg_buf_release(&b);
}

/* Headers that are right but for their payload, which would lie behind the end, or is wrong. */
static void test_headers(void)
{
	struct tg_buf b = TG_BUF_INIT;

	while (b.len < 4 * MIB)
		add_header(&b, TG_CHUNK_EVENTS, 1, TG_CHUNK_MAX);
	T_OK(work_of(&b, 0) <= 2 * b.len);
	tg_buf_clear(&b);
	for (size_t n = 4 * MIB; b.len < n - TG_CHUNK_HEADER;)
		add_header(&b, TG_CHUNK_EVENTS, 1, (uint32_t)(n - b.len) - TG_CHUNK_HEADER);
	T_OK(work_of(&b, 0) <= 4 * b.len);
	tg_buf_release(&b);
}

/* The same for who looks for the last summary from behind. */
static void test_summaries(void)
{
	struct tg_reader *r = NULL;
	struct tg_buf b = TG_BUF_INIT;

	add_header(&b, TG_CHUNK_EVENTS, 1, 0);
	while (b.len < 6 * MIB)
		/* the session is where the one before it has the length of its head */
		add_header(&b, TG_CHUNK_SUMMARY, TG_CHUNK_MAX - 99, TG_CHUNK_MAX);
	T_EQ_I(tg_reader_open_fd(&r, memory(b.data, b.len), "x", NULL), 0);
	T_OK(r->scan.read_bytes <= 2 * b.len);
	tg_reader_close(r);
	tg_buf_release(&b);
}

/* Tables and sessions are found in any order, and the first definition of a number stays. */
static void test_numbers(void)
{
	enum { N = 20000 };
	static const struct tg_metric metric = { "m", "1", TG_GAUGE, TG_SCOPE_NODE, 0, NULL };
	const struct tg_column column = { .metric = &metric };
	struct tg_chunk chunk = { .header = { .type = TG_CHUNK_TABLE } };
	struct tg_buf json = TG_BUF_INIT;
	struct tg_index x;
	struct tg_zip z;
	size_t wrong = 0;

	tg_index_init(&x);
	tg_zip_init(&z);
	for (uint32_t i = 0; i < 2 * N; i++) {
		uint32_t number = i * 7919 % N; /* each twice */
		char name[16];

		snprintf(name, sizeof(name), "t%u", i < N ? number : 0);
		tg_buf_clear(&json);
		tg_table_dump(&json, number, name, &column, 1);
		chunk.header.type = TG_CHUNK_TABLE;
		chunk.header.session = number;
		chunk.header.length = (uint32_t)json.len;
		chunk.payload = (const uint8_t *)json.data;
		wrong += tg_index_add(&x, &z, &chunk) != 0;
		chunk.header.type = TG_CHUNK_SESSION;
		wrong += tg_index_add(&x, &z, &chunk) != 0;
	}
	T_EQ_I(x.n_tables, N);
	T_EQ_I(x.n_sessions, N);
	for (uint32_t i = 0; i < N; i++) {
		const struct tg_index_table *t = tg_index_table(&x, i);
		char name[16];

		snprintf(name, sizeof(name), "t%u", i);
		wrong += !t || t->number != i || t->session != i || strcmp(t->def->name, name) != 0;
	}
	T_EQ_I(wrong, 0);
	T_OK(!tg_index_table(&x, N));
	tg_index_release(&x);
	tg_zip_release(&z);
	tg_buf_release(&json);
}

int main(void)
{
	test_magic_numbers();
	test_headers();
	test_summaries();
	test_numbers();
	return t_done();
}
