/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tidy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#include "base/mem.h"

#define TIDY_MAX 4096 /* names looked at */
#define LOCK_END ".lock"
#define FOLDER   "k-"

int tg_tidy_lock_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int error;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st)) {
		if (st.st_nlink)
			return fd;
		errno = ENOENT;
	}
	error = errno;
	close(fd);
	return -error;
}

bool tg_tidy_is_there(int parent, const char *name, int fd)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstatat(parent, name, &b, AT_SYMLINK_NOFOLLOW) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void tg_tidy_remove_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *e;
	DIR *dir;

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* "k-" and sixteen hexadecimal digits, then nothing or "-PID". */
static bool is_folder_of_ours(const char *name)
{
	const char *id = name + strlen(FOLDER), *rest = id + 16;

	if (strncmp(name, FOLDER, strlen(FOLDER)) != 0 || strspn(id, "0123456789abcdef") != 16)
		return false;
	return !*rest || (*rest == '-' && !rest[1 + strspn(rest + 1, "0123456789")]);
}

static bool tidy_folder(int parent, const char *name)
{
	int fd = tg_tidy_lock_folder(parent, name);

	if (fd < 0)
		return false;
	tg_tidy_remove_folder(parent, name);
	close(fd);
	return true;
}

/* One that is not locked yet makes another: whoever takes a lock looks whether it is still there.
 */
static bool tidy_lock(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct tg_buf socket = TG_BUF_INIT;
	bool stale;

	if (fd < 0)
		return false;
	stale = !flock(fd, LOCK_EX | LOCK_NB) && tg_tidy_is_there(parent, name, fd);
	if (stale) {
		tg_buf_add(&socket, name, strlen(name) - strlen(LOCK_END));
		tg_buf_adds(&socket, ".sock");
		unlinkat(parent, socket.data, 0);
		unlinkat(parent, name, 0);
		tg_buf_release(&socket);
	}
	close(fd);
	return stale;
}

int tg_tidy_runtime(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int removed = 0;

	for (int i = 0; dir && i < TIDY_MAX && (e = readdir(dir)); i++) {
		size_t len = strlen(e->d_name), end = strlen(LOCK_END);

		if (is_folder_of_ours(e->d_name))
			removed += tidy_folder(dirfd(dir), e->d_name);
		else if (len > end && !strcmp(e->d_name + len - end, LOCK_END))
			removed += tidy_lock(dirfd(dir), e->d_name);
	}
	if (dir)
		closedir(dir);
	return removed;
}
