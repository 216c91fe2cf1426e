/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#include "base/mem.h"

/* Where a pid can be noted; NULL: nowhere. */
static pid_t *room(struct tg_worker *w)
{
	for (size_t i = 0; i < TG_WORKER_GONE_MAX; i++)
		if (!w->gone[i])
			return &w->gone[i];
	return NULL;
}

void tg_worker_stop(struct tg_worker *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->pid > 0) {
		pid_t *place = room(w); /* tg_worker_start saw to it that there is one */

		kill(w->pid, SIGKILL);
		if (place)
			*place = w->pid;
	}
	tg_buf_release(&w->out);
	tg_buf_release(&w->in);
	tg_buf_release(&w->asked);
	w->pid = 0;
	w->fd = -1;
	w->waiting = 0;
	w->old = w->reset = false;
	tg_worker_reap(w);
}

void tg_worker_reap(struct tg_worker *w)
{
	for (size_t i = 0; i < TG_WORKER_GONE_MAX; i++)
		if (w->gone[i] && waitpid(w->gone[i], NULL, WNOHANG))
			w->gone[i] = 0;
}

int tg_worker_start(struct tg_worker *w, const char *exe, bool own,
	const struct tg_signals *signals, struct tg_err *err)
{
	char *argv[] = { (char *)(uintptr_t)exe, own ? NULL : (char *)(uintptr_t) "worker", NULL };
	struct tg_spawn spawn = {
		.argv = argv, .env = environ, .signals = signals, .ignores_signals = true
	};
	int pair[2];
	pid_t pid;

	if (w->fd >= 0)
		return 0;
	tg_worker_reap(w);
	if (!room(w)) /* there must be one for this one, too */
		return tg_err_set(err, -EAGAIN, "%d workers before it hang", TG_WORKER_GONE_MAX);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return tg_err_set(err, -errno, "no socket pair: %s", strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	spawn.fd3 = pair[1];
	pid = tg_spawn(&spawn, err);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return pid;
	}
	w->pid = pid;
	w->fd = pair[0];
	w->since_ns = tg_mono_ns();
	return 0;
}

int tg_worker_ask(struct tg_worker *w, const char *exe, bool own, const struct tg_signals *signals,
	const char *json, size_t len, struct tg_err *err)
{
	unsigned char head[4] = { (unsigned char)len, (unsigned char)(len >> 8),
		(unsigned char)(len >> 16), (unsigned char)(len >> 24) };
	bool was = w->fd >= 0;
	int ret = tg_worker_start(w, exe, own, signals, err);

	if (ret)
		return ret;
	if (!w->waiting++) {
		w->since_ns = tg_mono_ns();
		w->old = was;
	}
	if (w->old) {
		tg_buf_add(&w->asked, head, sizeof(head));
		tg_buf_add(&w->asked, json, len);
	}
	tg_buf_add(&w->out, head, sizeof(head));
	tg_buf_add(&w->out, json, len);
	tg_worker_write(w); /* a failure shows when its answer is read */
	return 0;
}

int tg_worker_again(
	struct tg_worker *w, const char *exe, bool own, const struct tg_signals *signals)
{
	struct tg_buf asked = w->asked;
	unsigned waiting = w->waiting;
	int64_t since_ns = w->since_ns;
	int ret;

	/* of several it may have read the first */
	if (!w->old || w->in.len || w->waiting != 1 || !(w->reset || w->out.len))
		return -EPIPE;
	tg_buf_init(&w->asked);
	tg_worker_stop(w);
	ret = tg_worker_start(w, exe, own, signals, NULL);
	if (ret) {
		tg_buf_release(&asked);
		return ret;
	}
	w->waiting = waiting;
	w->since_ns = since_ns; /* who asked has waited since then */
	w->out = asked;
	tg_worker_write(w);
	return 0;
}

int tg_worker_write(struct tg_worker *w)
{
	while (w->out.len) {
		ssize_t n = send(w->fd, w->out.data, w->out.len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -EPIPE;
		tg_buf_splice(&w->out, 0, (size_t)n, NULL, 0);
	}
	return 0;
}

/* 1 when an answer is whole in w->in, 0 when not, -EBADMSG. */
static int whole(const struct tg_worker *w, size_t *len)
{
	const unsigned char *head = (const unsigned char *)w->in.data;

	*len = 0;
	if (w->in.len < 4)
		return 0;
	*len = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 |
	       (size_t)head[3] << 24;
	if (*len > TG_WORKER_ANSWER_MAX)
		return -EBADMSG;
	return w->in.len - 4 >= *len;
}

int tg_worker_read(struct tg_worker *w, struct tg_buf *out)
{
	size_t len;
	int ret;

	while (!(ret = whole(w, &len))) {
		size_t want = TG_MAX(len ? len + 4 - w->in.len : 0, (size_t)4096);
		ssize_t n;

		tg_buf_reserve(&w->in, want);
		n = recv(w->fd, w->in.data + w->in.len, want, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			w->reset = n < 0 && errno == ECONNRESET;
			return -EPIPE;
		}
		w->in.len += (size_t)n;
		w->in.data[w->in.len] = '\0';
	}
	if (ret < 0)
		return ret;
	tg_buf_add(out, w->in.data + 4, len);
	tg_buf_splice(&w->in, 0, len + 4, NULL, 0);
	if (w->waiting)
		w->waiting--;
	w->old = false;
	tg_buf_clear(&w->asked);
	w->since_ns = tg_mono_ns();
	return 1;
}

int64_t tg_worker_deadline(const struct tg_worker *w)
{
	if (w->fd < 0)
		return INT64_MAX;
	return w->since_ns + (w->waiting ? TG_WORKER_LIMIT_NS : TG_WORKER_IDLE_NS);
}
