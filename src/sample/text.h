/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole files of /proc and /sys into a buffer that is used again and again, and folders whose
 * names are numbers. Invariant: `data` has `len` bytes and a NUL behind them. A file beyond
 * TG_TEXT_MAX is cut there. No parsing here.
 */
#ifndef TG_SAMPLE_TEXT_H
#define TG_SAMPLE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TG_TEXT_MAX ((size_t)4 << 20)

struct tg_text {
	char *data;
	size_t len, cap;
};

void tg_text_init(struct tg_text *t);
void tg_text_release(struct tg_text *t);

/*
 * Read `fd` from its beginning to its end. Returns the length or -errno, and then the text is
 * empty. Allocates only when a file is larger than any before it. Lines must be shorter than
 * 2 KiB, which saves the read that finds nothing; tg_text_pread_long takes any.
 */
ssize_t tg_text_pread(struct tg_text *t, int fd);
ssize_t tg_text_pread_long(struct tg_text *t, int fd);

/* A number that tells one text from another, and is never 0. */
uint64_t tg_text_digest(const struct tg_text *t);

/*
 * Call `each` for every entry of the folder `fd` that is not hidden, until it returns non-zero,
 * which is then returned; else 0 or -errno. Allocates nothing, unlike readdir(3).
 */
int tg_entries_each(int fd, int (*each)(void *ctx, const char *name), void *ctx);

/* The same for names that are positive numbers: a pid, a tid. */
int tg_numbers_each(int fd, int (*each)(void *ctx, pid_t number), void *ctx);

#endif
