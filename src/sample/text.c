/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/text.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

#define FIRST_CAP 8192

void tg_text_init(struct tg_text *t)
{
	t->data = tg_xmalloc(FIRST_CAP);
	t->data[0] = '\0';
	t->len = 0;
	t->cap = FIRST_CAP;
}

void tg_text_release(struct tg_text *t)
{
	free(t->data);
	t->data = NULL;
	t->len = t->cap = 0;
}

/* Read on until an empty read, or until one of fewer than `enough` bytes. */
static ssize_t read_until(struct tg_text *t, int fd, ssize_t enough)
{
	t->len = 0;
	t->data[0] = '\0';
	while (t->len < TG_TEXT_MAX) {
		ssize_t n;

		if (t->cap - t->len < 4096 + 1) {
			t->cap *= 2;
			t->data = tg_xrealloc(t->data, t->cap, 1);
		}
		n = pread(fd, t->data + t->len, t->cap - t->len - 1, (off_t)t->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			n = -errno;
			t->len = 0;
			t->data[0] = '\0';
			return n;
		}
		t->len += (size_t)n;
		t->data[t->len] = '\0';
		if (n < enough)
			break;
	}
	return (ssize_t)t->len;
}

ssize_t tg_text_pread(struct tg_text *t, int fd)
{
	/* tables come a page at a time, cut between lines: half a page is not one of those */
	return read_until(t, fd, 2048);
}

ssize_t tg_text_pread_long(struct tg_text *t, int fd)
{
	return read_until(t, fd, 1);
}

/* What the kernel fills in; glibc has no type for it before 2.30. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

int tg_entries_each(int fd, int (*each)(void *ctx, const char *name), void *ctx)
{
	_Alignas(struct entry) char block[4096];

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	for (;;) {
		long n = syscall(SYS_getdents64, fd, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		for (long at = 0; at < n;) {
			const struct entry *e = (const void *)(block + at);
			int r = *e->name != '.' ? each(ctx, e->name) : 0;

			if (r)
				return r;
			at += e->reclen;
		}
	}
}

struct numbers {
	int (*each)(void *ctx, pid_t number);
	void *ctx;
};

static int one_number(void *ctx, const char *name)
{
	const struct numbers *n = ctx;
	int64_t v = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		if ((v = v * 10 + (*name - '0')) > INT32_MAX)
			return 0;
	return *name || v == 0 ? 0 : n->each(n->ctx, (pid_t)v);
}

int tg_numbers_each(int fd, int (*each)(void *ctx, pid_t number), void *ctx)
{
	struct numbers n = { each, ctx };

	return tg_entries_each(fd, one_number, &n);
}

/* Told apart is all that is asked of it. */
uint64_t tg_text_digest(const struct tg_text *t)
{
	uint64_t h = tg_hash(TG_HASH_INIT, t->data, t->len);

	return h ? h : 1;
}
