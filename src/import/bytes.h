/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a log, block by block, as lines or one by one. Invariant: what lies before `at` was
 * handed out. A line of more than TG_LINE_MAX bytes is cut there; the rest of it is passed over.
 */
#ifndef TG_IMPORT_BYTES_H
#define TG_IMPORT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TG_LINE_MAX  65536
#define TG_BLOCK_MAX (1u << 18)

struct tg_log_bytes {
	int fd; /* -1: all of it is in memory */
	char *data;
	size_t at, end;
	bool eof;
	bool cut; /* the last line that was handed out had no newline: the log ends in it */
	bool skip; /* the rest of a line that was too long comes next */
	int error; /* -errno of reading, which ends it; 0 */
};

/* A regular file or a pipe. 0, or -errno with a sentence that names it. */
int tg_bytes_open(struct tg_log_bytes *b, const char *path, struct tg_err *err);
void tg_bytes_of(struct tg_log_bytes *b, const void *data, size_t len); /* copies; for tests */
void tg_bytes_close(struct tg_log_bytes *b);

/*
 * The log's first bytes, without a byte order mark, as far as one block has them; borrowed until
 * the next call. A NUL is behind them. Nothing was taken yet.
 */
const char *tg_bytes_head(struct tg_log_bytes *b, size_t *len);

/*
 * The next line without its end, as a string; NULL at the end of the log. Borrowed until the next
 * call. *len is its length in bytes, in which there may be NULs.
 */
char *tg_bytes_line(struct tg_log_bytes *b, size_t *len);

/* The next byte without taking it, and with taking it; -1 at the end. */
int tg_bytes_peek(struct tg_log_bytes *b);
int tg_bytes_next(struct tg_log_bytes *b);

#endif
