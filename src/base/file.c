/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int tg_file_read(int dirfd, const char *path, size_t limit, struct tg_buf *out, struct tg_err *err)
{
	size_t start = out->len;
	/* O_NONBLOCK: a FIFO of that name must not hang us before it is refused */
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r = 0;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return tg_err_set(err, r, "%s: %s", path, strerror(-r));
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return tg_err_set(err, -EINVAL, "%s is not a regular file", path);
	}
	for (;;) {
		ssize_t n;

		tg_buf_reserve(out, 4096);
		n = read(fd, out->data + out->len, out->cap - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r = -errno;
			tg_err_set(err, r, "%s: %s", path, strerror(-r));
			break;
		}
		if (n == 0)
			break;
		out->len += (size_t)n;
		if (out->len - start > limit) {
			r = tg_err_set(err, -EFBIG, "%s: larger than %zu bytes", path, limit);
			break;
		}
	}
	close(fd);
	if (r < 0)
		out->len = start;
	if (out->cap)
		out->data[out->len] = '\0';
	return r;
}

ssize_t tg_file_pread0(int fd, char *data, size_t size)
{
	ssize_t n = tg_file_pread_all(fd, data, size - 1, 0);

	data[n > 0 ? n : 0] = '\0';
	return n;
}

ssize_t tg_file_pread_all(int fd, void *data, size_t len, off_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)data + done, len - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int tg_file_write_all(int fd, const void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, (const char *)data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

int tg_file_pwrite_all(int fd, const void *data, size_t len, off_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(fd, (const char *)data + done, len - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}
