/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growable bytes. Invariant: after init, `data` is never NULL and data[len] is '\0', so a buffer
 * of text is a C string at any moment (bytes may contain NULs; use len then). The owner of the
 * struct owns the storage; `data` moves when the buffer grows.
 */
#ifndef TG_BASE_BUF_H
#define TG_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct tg_buf {
	char *data;
	size_t len;
	size_t cap; /* 0 while data points at the shared empty string */
};

extern char tg_buf_empty[1];
#define TG_BUF_INIT                                                                                \
	{                                                                                          \
		.data = tg_buf_empty                                                               \
	}

void tg_buf_init(struct tg_buf *b);
void tg_buf_release(struct tg_buf *b); /* frees; the buffer is as after init */
void tg_buf_clear(struct tg_buf *b); /* len = 0, keeps the storage */
char *tg_buf_detach(struct tg_buf *b); /* caller frees with free(); buffer as after init */
void tg_buf_reserve(struct tg_buf *b, size_t n); /* room for n more bytes and the NUL */

void tg_buf_add(struct tg_buf *b, const void *data, size_t len);
void tg_buf_addc(struct tg_buf *b, char c);
void tg_buf_adds(struct tg_buf *b, const char *s);
void tg_buf_addf(struct tg_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tg_buf_vaddf(struct tg_buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Replace `cut` bytes at `pos` by data. pos + cut must be at most len. */
void tg_buf_splice(struct tg_buf *b, size_t pos, size_t cut, const void *data, size_t len);

#endif
