/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/buf.h"

#include <assert.h>
#include <stdint.h>

#include "base/mem.h"

char tg_buf_empty[1];

void tg_buf_init(struct tg_buf *b)
{
	*b = (struct tg_buf)TG_BUF_INIT;
}

void tg_buf_release(struct tg_buf *b)
{
	if (b->cap)
		free(b->data);
	tg_buf_init(b);
}

void tg_buf_clear(struct tg_buf *b)
{
	b->len = 0;
	if (b->cap)
		b->data[0] = '\0';
}

char *tg_buf_detach(struct tg_buf *b)
{
	char *p;

	tg_buf_reserve(b, 0);
	p = b->data;
	tg_buf_init(b);
	return p;
}

void tg_buf_reserve(struct tg_buf *b, size_t n)
{
	size_t need = b->len + n + 1;
	size_t cap;

	if (b->cap >= need)
		return;
	cap = TG_MAX(need, b->cap + b->cap / 2 + 64);
	b->data = tg_xrealloc(b->cap ? b->data : NULL, cap, 1);
	b->cap = cap;
	b->data[b->len] = '\0';
}

void tg_buf_add(struct tg_buf *b, const void *data, size_t len)
{
	if (!len)
		return;
	tg_buf_reserve(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void tg_buf_addc(struct tg_buf *b, char c)
{
	tg_buf_add(b, &c, 1);
}

void tg_buf_adds(struct tg_buf *b, const char *s)
{
	tg_buf_add(b, s, strlen(s));
}

void tg_buf_vaddf(struct tg_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	tg_buf_reserve(b, 64);
	n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		tg_buf_reserve(b, (size_t)n);
		n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (n > 0)
		b->len += (size_t)n;
	b->data[b->len] = '\0';
}

void tg_buf_addf(struct tg_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tg_buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void tg_buf_splice(struct tg_buf *b, size_t pos, size_t cut, const void *data, size_t len)
{
	assert(pos <= b->len && cut <= b->len - pos);
	if (len > cut)
		tg_buf_reserve(b, len - cut);
	if (!b->cap)
		return; /* empty stays empty: len and cut are 0 */
	memmove(b->data + pos + len, b->data + pos + cut, b->len - pos - cut);
	if (len)
		memcpy(b->data + pos, data, len);
	b->len = b->len - cut + len;
	b->data[b->len] = '\0';
}
