/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"

#include "base/mem.h"

/* Fill `data`. Returns 1, 0 at the end of input before the first byte, -ETIMEDOUT, or -errno. */
static int read_whole(int fd, char *data, size_t len, int idle_ms)
{
	size_t done = 0;

	while (done < len) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int ready = poll(&p, 1, idle_ms);
		ssize_t n;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return ready < 0 ? -errno : -ETIMEDOUT;
		n = read(fd, data + done, len - done);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : done ? -EPIPE : 0;
		done += (size_t)n;
	}
	return 1;
}

static size_t size_of(const unsigned char *head)
{
	return (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 |
	       (size_t)head[3] << 24;
}

static int answer(const struct tg_worker_host *host, int fd, const char *request, size_t len,
	struct tg_buf *out)
{
	tg_buf_clear(out);
	tg_buf_add(out, "\0\0\0\0", 4);
	tg_worker_answer(host, request, len, out);
	if (out->len - 4 > TG_WORKER_MESSAGE_MAX) { /* keep {"n":7 */
		size_t head = strcspn(out->data + 4, ",") + 4;

		tg_buf_splice(out, head, out->len - head, NULL, 0);
		tg_buf_adds(out,
			",\"messages\":[{\"msg_type\":\"stream\",\"content\":{\"name\":\"stderr\","
			"\"text\":\"The result is too large for a notebook; use -o FILE\\n\"}}]}");
	}
	len = out->len - 4;
	for (int i = 0; i < 4; i++)
		out->data[i] = (char)(len >> (8 * i) & 0xFF);
	return tg_file_write_all(fd, out->data, out->len);
}

int tg_worker_serve(const struct tg_worker_host *host, int fd, int idle_ms)
{
	struct tg_buf out = TG_BUF_INIT;
	int rc;

	/* an interrupt of a cell is not meant for us; who reads our answer may be gone */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	for (;;) {
		unsigned char head[4] = { 0 };
		char *request;
		size_t len;

		rc = read_whole(fd, (char *)head, sizeof(head), idle_ms);
		if (rc <= 0)
			break;
		len = size_of(head);
		if (len > TG_WORKER_MESSAGE_MAX) {
			rc = -EMSGSIZE; /* where the next message begins cannot be known */
			break;
		}
		request = tg_xmalloc(len + 1);
		rc = read_whole(fd, request, len, idle_ms);
		if (rc > 0)
			rc = answer(host, fd, request, len, &out);
		free(request);
		if (rc < 0)
			break;
	}
	tg_buf_release(&out);
	return rc == -ETIMEDOUT || rc == -EPIPE ? 0 : rc;
}
