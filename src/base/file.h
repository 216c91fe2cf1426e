/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files and whole writes. Every read is bounded; EINTR and short counts are handled here. */
#ifndef TG_BASE_FILE_H
#define TG_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Append the whole of `path` (relative to `dirfd`, or AT_FDCWD) to `out`. Does not wait at a FIFO.
 * Returns 0; -EFBIG when it holds more than `limit` bytes; -EINVAL when it is no regular file
 * (those of /proc and /sys are); -errno. `err` names the path.
 */
int tg_file_read(int dirfd, const char *path, size_t limit, struct tg_buf *out, struct tg_err *err);

/*
 * pread a /proc or /sys file from its beginning into `data`, with a NUL behind it.
 * Returns the number of bytes, at most size - 1 (the rest is cut off), or -errno.
 */
ssize_t tg_file_pread0(int fd, char *data, size_t size);

/* Write all of it. Returns 0 or -errno; after a failure some bytes may have been written. */
int tg_file_write_all(int fd, const void *data, size_t len);

/* Write all of it at `offset`. Same result. */
int tg_file_pwrite_all(int fd, const void *data, size_t len, off_t offset);

/* Read `len` bytes at `offset`. Returns the bytes read, fewer only at the end of file, or -errno.
 */
ssize_t tg_file_pread_all(int fd, void *data, size_t len, off_t offset);

#endif
