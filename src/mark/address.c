/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/address.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"

bool tg_mark_id_ok(const char *id)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strlen(id);

	return len > 0 && len <= TG_MARK_RECORDER_ID_MAX && id[0] != '.' &&
	       strspn(id, allowed) == len;
}

int tg_mark_path(struct tg_buf *out, const char *id, const char *suffix, struct tg_err *err)
{
	int r;

	if (!tg_mark_id_ok(id))
		return tg_err_set(err, -EINVAL, "not a name for a recorder: %s", id);
	r = tg_paths_runtime(out, err);
	if (r == 0)
		tg_buf_addf(out, "/%s%s", id, suffix);
	return r;
}

/*
 * Fill `address` for `path`. A path that does not fit becomes /proc/self/fd/N/name with *folder as
 * N, which the caller closes (-1: none).
 */
static int fill_address(struct sockaddr_un *address, const char *path, int *folder)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int n;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*folder = -1;
	if (strlen(path) < sizeof(address->sun_path)) {
		memcpy(address->sun_path, path, strlen(path));
		return 0;
	}
	if (!slash)
		return -ENAMETOOLONG;
	dir = tg_xmemdup0(path, (size_t)(slash - path) + 1);
	*folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (*folder < 0)
		return -errno;
	n = snprintf(
		address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d%s", *folder, slash);
	if (n < (int)sizeof(address->sun_path))
		return 0;
	close(*folder);
	*folder = -1;
	return -ENAMETOOLONG;
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

int tg_mark_socket_connect(const char *path)
{
	struct sockaddr_un address;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int folder, fd, r;

	r = fill_address(&address, path, &folder);
	if (r < 0)
		return r;
	fd = r = open_socket();
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		r = -errno;
	else if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		r = -errno;
	else if (fd >= 0 && peer.uid != geteuid())
		r = -EPERM;
	if (folder >= 0)
		close(folder);
	if (r < 0 && fd >= 0)
		close(fd);
	return r;
}

int tg_mark_socket_listen(const char *path, int backlog)
{
	struct sockaddr_un address;
	int folder, fd, r;
	mode_t mask;

	r = fill_address(&address, path, &folder);
	if (r < 0)
		return r;
	unlink(path);
	fd = r = open_socket();
	mask = umask(0177);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		r = -errno;
	umask(mask);
	if (r >= 0 && listen(fd, backlog) < 0) {
		r = -errno;
		unlink(path);
	}
	if (folder >= 0)
		close(folder);
	if (r < 0 && fd >= 0)
		close(fd);
	return r;
}
