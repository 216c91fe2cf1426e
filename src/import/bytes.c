/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int tg_bytes_open(struct tg_log_bytes *b, const char *path, struct tg_err *err)
{
	struct stat st;

	*b = (struct tg_log_bytes){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (b->fd < 0)
		return tg_err_set(err, -errno, "cannot read %.150s: %s", path, strerror(errno));
	if (fstat(b->fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
		close(b->fd);
		b->fd = -1;
		return tg_err_set(err, -EINVAL, "%.150s is no file", path);
	}
	/* that was for a pipe into which nobody writes: it is empty, and nobody waits for it */
	fcntl(b->fd, F_SETFL, fcntl(b->fd, F_GETFL) & ~O_NONBLOCK);
	b->data = tg_xmalloc(TG_BLOCK_MAX + 1);
	b->data[0] = '\0';
	return 0;
}

void tg_bytes_of(struct tg_log_bytes *b, const void *data, size_t len)
{
	*b = (struct tg_log_bytes){
		.fd = -1, .data = tg_xmemdup0(data, len), .end = len, .eof = true
	};
}

void tg_bytes_close(struct tg_log_bytes *b)
{
	if (b->fd >= 0)
		close(b->fd);
	free(b->data);
	*b = (struct tg_log_bytes){ .fd = -1 };
}

/* Read on until the block is full or the log ends. What was not handed out moves to the front. */
static void fill(struct tg_log_bytes *b)
{
	if (b->at) {
		memmove(b->data, b->data + b->at, b->end - b->at);
		b->end -= b->at;
		b->at = 0;
	}
	while (!b->eof && b->end < TG_BLOCK_MAX) {
		ssize_t n = read(b->fd, b->data + b->end, TG_BLOCK_MAX - b->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			b->error = -errno;
		if (n <= 0)
			b->eof = true;
		else
			b->end += (size_t)n;
	}
	b->data[b->end] = '\0';
}

/* What some editors put at the front of UTF-8. */
static void skip_mark(struct tg_log_bytes *b)
{
	if (b->end - b->at >= 3 && !memcmp(b->data + b->at, "\xef\xbb\xbf", 3))
		b->at += 3;
}

const char *tg_bytes_head(struct tg_log_bytes *b, size_t *len)
{
	if (!b->eof)
		fill(b);
	skip_mark(b);
	*len = b->end - b->at;
	return b->data + b->at;
}

/* Pass over the rest of a line that is too long. */
static void skip_line(struct tg_log_bytes *b)
{
	for (;;) {
		char *newline = memchr(b->data + b->at, '\n', b->end - b->at);

		b->at = newline ? (size_t)(newline + 1 - b->data) : b->end;
		if (newline || b->eof)
			return;
		fill(b);
	}
}

char *tg_bytes_line(struct tg_log_bytes *b, size_t *len)
{
	char *line, *newline;
	size_t left;

	if (b->skip)
		skip_line(b);
	b->skip = false;
	line = b->data + b->at;
	left = b->end - b->at;
	newline = memchr(line, '\n', TG_MIN(left, (size_t)TG_LINE_MAX));
	if (!newline && left < TG_LINE_MAX && !b->eof) {
		fill(b);
		line = b->data;
		left = b->end;
		newline = memchr(line, '\n', TG_MIN(left, (size_t)TG_LINE_MAX));
	}
	if (!left)
		return NULL;
	b->cut = !newline && left < TG_LINE_MAX;
	b->skip = !newline && !b->cut;
	*len = newline ? (size_t)(newline - line) : TG_MIN(left, (size_t)TG_LINE_MAX - 1);
	b->at += *len + (newline != NULL);
	while (*len && line[*len - 1] == '\r')
		--*len;
	line[*len] = '\0';
	return line;
}

int tg_bytes_peek(struct tg_log_bytes *b)
{
	if (b->at == b->end && !b->eof)
		fill(b);
	return b->at < b->end ? (unsigned char)b->data[b->at] : -1;
}

int tg_bytes_next(struct tg_log_bytes *b)
{
	int c = tg_bytes_peek(b);

	b->at += c >= 0;
	return c;
}
