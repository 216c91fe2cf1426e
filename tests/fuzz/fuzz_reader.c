/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording's reader on any bytes. The first byte says how: with bit 0 the CRCs of everything
 * that looks like a chunk are made right first, so that what lies behind them is reached too; with
 * bit 1 the file is read again after more bytes came (refresh).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "record/crc32c.h"
#include "record/reader.h"
#include "record/summary.h"
#include "record/varint.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_summary(uint8_t *payload, uint32_t length)
{
	uint32_t head;

	if (length < TG_SUMMARY_PREFIX)
		return;
	head = tg_get32(payload + 8);
	if (head > length - TG_SUMMARY_PREFIX)
		return;
	tg_put32(payload + 16,
		tg_crc32c(tg_crc32c(0, payload, 16), payload + TG_SUMMARY_PREFIX, head));
	/* parts, should there be one section of the size that the rest allows */
	for (size_t at = TG_SUMMARY_PREFIX + (size_t)head; at + 8 <= length; at += 4) {
		uint32_t begin = tg_get32(payload + at), end = tg_get32(payload + at + 4);

		if (begin <= end && end <= length && end - begin > 4 && begin > at)
			tg_put32(payload + begin,
				tg_crc32c(0, payload + begin + 4, end - begin - 4));
	}
}

static void mend(uint8_t *p, size_t size)
{
	for (size_t i = 0; i + TG_CHUNK_HEADER <= size; i++) {
		uint32_t length;

		if (tg_get32(p + i) != TG_CHUNK_MAGIC)
			continue;
		length = tg_get32(p + i + 12);
		if (length > size - i - TG_CHUNK_HEADER)
			continue;
		if (p[i + 5] == TG_CHUNK_SUMMARY)
			mend_summary(p + i + TG_CHUNK_HEADER, length);
		tg_put32(p + i + 24, tg_crc32c(0, p + i + TG_CHUNK_HEADER, length));
		tg_put32(p + i + 28, tg_crc32c(0, p + i, 28));
	}
}

static int on_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	(void)session;
	*(size_t *)ctx += strlen(json) <= len;
	return 0;
}

static int on_block(void *ctx, const struct tg_block *b)
{
	*(size_t *)ctx += b->n_rows + (b->t_ns[b->n_rows - 1] >= b->t_ns[0]);
	for (uint32_t c = 0; c < b->n_columns; c++)
		*(size_t *)ctx += b->values[(size_t)c * b->cap + b->n_rows - 1] == TG_MISSING;
	return 0;
}

static int on_group(void *ctx, const struct tg_group *g)
{
	*(size_t *)ctx += g->count <= g->rows;
	return 0;
}

static int on_cell(void *ctx, const struct tg_process_cell *c)
{
	*(size_t *)ctx += c->field;
	return 0;
}

static void read_all(struct tg_reader *r)
{
	const struct tg_session *s;
	const struct tg_table *t;
	struct tg_damage damage;
	size_t n, sum = 0;

	s = tg_reader_sessions(r, &n);
	for (size_t i = 0; i < n; i++) {
		sum += strlen(s[i].json);
		tg_reader_processes(r, s[i].number, INT64_MIN, INT64_MAX, on_cell, &sum);
	}
	t = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t c = 0; c < t[i].n_columns && c < 4; c++) {
			tg_reader_blocks(r, &t[i], &c, 1, INT64_MIN, INT64_MAX, on_block, &sum);
			tg_reader_groups(r, &t[i], c, INT64_MIN, INT64_MAX, on_group, &sum);
			sum += strlen(t[i].column[c].metric->name);
		}
	}
	tg_reader_events(r, on_event, &sum);
	tg_reader_verify(r, &damage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_reader *r = NULL;
	uint8_t *copy;
	size_t now;
	int fd;

	if (size < 1)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	copy = tg_xmalloc(size);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 1)
		mend(copy, size - 1);
	now = data[0] & 2 ? (size - 1) / 2 : size - 1;
	if (fd < 0 || tg_file_write_all(fd, copy, now) < 0)
		abort();
	if (tg_reader_open_fd(&r, dup(fd), "fuzz", NULL) == 0) {
		read_all(r);
		if (tg_file_write_all(fd, copy + now, size - 1 - now) < 0)
			abort();
		if (tg_reader_refresh(r) >= 0)
			read_all(r);
		tg_reader_close(r);
	}
	close(fd);
	free(copy);
	return 0;
}
