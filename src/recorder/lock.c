/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/paths.h"
#include "mark/address.h"
#include "mark/protocol.h"

#include "base/mem.h"

#define ANSWER_MS 30000
#define TRIES     50 /* at a lock that may be held by one that tidies */
#define PAUSE_US  2000

bool tg_lock_is_there(const char *path, int lock)
{
	struct stat a, b;

	return fstat(lock, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int tg_lock_take(const char *path, struct tg_err *err)
{
	for (int tries = 1;; tries++) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return tg_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			int r = -errno;

			close(fd);
			if (r == -EINTR)
				continue;
			if (r == -EWOULDBLOCK && tries < TRIES) {
				usleep(PAUSE_US);
				continue;
			}
			return tg_err_set(err, r, "cannot lock %s: %s", path, strerror(-r));
		}
		/* the one before us may have removed it meanwhile */
		if (tg_lock_is_there(path, fd))
			return fd;
		close(fd);
	}
}

int tg_lock_name(struct tg_buf *out, const char *file, struct tg_err *err)
{
	const char *slash = strrchr(file, '/');
	char *folder = tg_xmemdup0(file, slash ? (size_t)(slash - file) + 1 : 0);
	char *real = realpath(*folder ? folder : ".", NULL);
	uint64_t hash = TG_HASH_INIT;
	const char *part[] = { real ? real : folder, "/", slash ? slash + 1 : file };
	int r = tg_paths_runtime(out, err);

	for (size_t i = 0; i < TG_ARRAY_SIZE(part); i++)
		hash = tg_hash(hash, part[i], strlen(part[i]));
	if (r == 0)
		tg_buf_addf(out, "/file-%016" PRIx64 ".lock", hash);
	free(real);
	free(folder);
	return r;
}

void tg_lock_drop(const char *path, int lock)
{
	/* after a removal of the folder another's may be there by now */
	if (tg_lock_is_there(path, lock))
		unlink(path);
	close(lock);
}

static int send_with(int to, const struct tg_buf *message, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = message->data, .iov_len = message->len };
	struct msghdr h = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &h, MSG_NOSIGNAL) < 0 ? -EAGAIN : 0;
}

int tg_lock_hand_over(const char *socket_path, int fd, pid_t root)
{
	struct tg_buf message = TG_BUF_INIT;
	struct pollfd p = { .events = POLLIN };
	struct tg_jw w;
	char answer[256];
	int r;

	p.fd = tg_mark_socket_connect(socket_path);
	if (p.fd < 0)
		return -EAGAIN;
	tg_jw_init(&w, &message);
	tg_jw_begin_object(&w);
	tg_jw_kstr(&w, "op", tg_mark_op_name(TG_MARK_ADOPT));
	tg_jw_kint(&w, "n", 1);
	tg_jw_kint(&w, "pid", root);
	tg_jw_end_object(&w);
	r = send_with(p.fd, &message, fd);
	/* one that does not answer has the socket in its queue all the same: it is not taken back
	 */
	if (r == 0 && poll(&p, 1, ANSWER_MS) == 1) {
		ssize_t n = recv(p.fd, answer, sizeof(answer), 0);
		struct tg_json *v = n > 0 ? tg_json_parse(answer, (size_t)n, NULL) : NULL;

		if (tg_json_int(tg_json_get(v, "re"), 0) != 1 || tg_json_get(v, "error"))
			r = -EAGAIN;
		tg_json_free(v);
	}
	close(p.fd);
	tg_buf_release(&message);
	return r;
}
