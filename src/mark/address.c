/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"

#include "base/mem.h"

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

static bool is_host_character(char c)
{
	return c > ' ' && c < 0x7f && c != ':';
}

static bool is_boot_id(const char *s, size_t len)
{
	return len == 0 || (len == TG_MARK_BOOT_ID_LEN && strspn(s, "0123456789abcdef-") >= len);
}

/* Our own host and boot id. */
static void find_here(struct tg_mark_address *a)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : tg_file_pread0(fd, a->boot_id, sizeof(a->boot_id));

	if (fd >= 0)
		close(fd);
	if (n < 0 || !is_boot_id(a->boot_id, (size_t)n))
		a->boot_id[0] = '\0';
	memset(a->host, 0, sizeof(a->host));
	if (gethostname(a->host, sizeof(a->host) - 1) < 0 || !a->host[0])
		a->host[0] = '_';
	for (char *p = a->host; *p; p++)
		if (!is_host_character(*p))
			*p = '_';
}

/* node7:3f0c4d56-6f9e-4c0b-8a51-0d6a7a1c2b3e:/run/user/1000/tachograph/kernel-1f00aa.sock */
int tg_mark_address_parse(struct tg_mark_address *a, const char *text)
{
	size_t host = strcspn(text, ":"), boot;
	const char *at = text + host + 1;

	if (!text[host] || host == 0 || host > TG_MARK_HOST_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < host; i++)
		if (!is_host_character(text[i]))
			return -EBADMSG;
	boot = strcspn(at, ":");
	if (!at[boot] || !is_boot_id(at, boot))
		return -EBADMSG;
	a->path = at + boot + 1;
	if (a->path[0] != '/' || strnlen(a->path, PATH_MAX) == PATH_MAX)
		return -EBADMSG;
	for (const char *p = a->path; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return -EBADMSG;
	memcpy(a->host, text, host);
	a->host[host] = '\0';
	memcpy(a->boot_id, at, boot);
	a->boot_id[boot] = '\0';
	return 0;
}

bool tg_mark_address_is_here(const struct tg_mark_address *a)
{
	struct tg_mark_address here;

	find_here(&here);
	/* two that are unknown are not one */
	return !strcmp(a->host, here.host) && a->boot_id[0] && !strcmp(a->boot_id, here.boot_id);
}

void tg_mark_address_format(struct tg_buf *out, const char *path)
{
	struct tg_mark_address here;

	find_here(&here);
	tg_buf_addf(out, "%s:%s:%s", here.host, here.boot_id, path);
}
