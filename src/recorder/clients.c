/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/clients.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "recorder/watch.h"

#include "base/mem.h"

#define MESSAGES_A_TURN 16

struct client {
	uint64_t serial;
	int fd;
	struct tg_watch process; /* of the one who connected */
};

struct tg_clients {
	int listening;
	uint64_t last_serial;
	struct client client[TG_CLIENTS_MAX];
	size_t n;
	struct tg_clients_hooks hooks;
	char *data; /* a datagram and one byte, to see that it is too long */
};

struct tg_clients *tg_clients_new(int listening, const struct tg_clients_hooks *hooks)
{
	struct tg_clients *c = tg_xcalloc(1, sizeof(*c));

	c->listening = listening;
	c->hooks = *hooks;
	c->data = tg_xmalloc(TG_MARK_DATAGRAM_MAX + 1);
	return c;
}

static void drop(struct tg_clients *c, size_t i)
{
	uint64_t serial = c->client[i].serial;

	close(c->client[i].fd);
	tg_watch_release(&c->client[i].process);
	c->n--;
	memmove(&c->client[i], &c->client[i + 1], (c->n - i) * sizeof(c->client[0]));
	c->hooks.gone(c->hooks.ctx, serial);
}

void tg_clients_free(struct tg_clients *c)
{
	if (!c)
		return;
	while (c->n)
		drop(c, c->n - 1);
	if (c->listening >= 0)
		close(c->listening);
	free(c->data);
	free(c);
}

uint64_t tg_clients_add(struct tg_clients *c, int fd)
{
	struct client *new = &c->client[c->n];
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (c->n == TG_CLIENTS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
		peer.uid != geteuid()) {
		close(fd);
		return 0;
	}
	new->serial = ++c->last_serial;
	new->fd = fd;
	tg_watch_init(&new->process, peer.pid);
	c->n++;
	return new->serial;
}

pid_t tg_clients_process(const struct tg_clients *c, uint64_t client)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->client[i].serial == client && !tg_watch_dead(&c->client[i].process))
			return c->client[i].process.pid;
	return 0;
}

size_t tg_clients_count(const struct tg_clients *c)
{
	return c->n;
}

void tg_clients_listen(struct tg_clients *c, int listening)
{
	if (c->listening >= 0)
		close(c->listening);
	c->listening = listening;
}

static size_t let_in(struct tg_clients *c)
{
	size_t before = c->n;

	while (c->listening >= 0 && c->n < TG_CLIENTS_MAX) {
		int fd = accept4(c->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			break;
		tg_clients_add(c, fd);
	}
	return c->n - before;
}

size_t tg_clients_stop_listening(struct tg_clients *c)
{
	size_t n;

	if (c->listening < 0)
		return 0;
	/* from here on a connect(2) is refused; who came before is in the queue */
	shutdown(c->listening, SHUT_RDWR);
	n = let_in(c);
	close(c->listening);
	c->listening = -1;
	return n;
}

size_t tg_clients_poll(struct tg_clients *c, struct pollfd *p)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		p[n++] = (struct pollfd){ .fd = c->client[i].fd, .events = POLLIN };
		p[n++] = (struct pollfd){ .fd = c->client[i].process.fd, .events = POLLIN };
	}
	p[n++] = (struct pollfd){ .fd = c->n < TG_CLIENTS_MAX ? c->listening : -1,
		.events = POLLIN };
	return n;
}

/* The descriptor that came with a message. */
static int descriptor(struct msghdr *h)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(h);
	int fd = -1;

	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
		cmsg->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

/* Read one message. Returns 1, 0 when there is none, -EPIPE when the client is gone. */
static int take(struct tg_clients *c, uint64_t serial, int from)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { .iov_base = c->data, .iov_len = TG_MARK_DATAGRAM_MAX + 1 };
	struct msghdr h = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		/* the padding has room for a second one; Linux closes what finds none */
		.msg_controllen = CMSG_LEN(sizeof(int)) };
	struct tg_err err = { 0 };
	struct tg_mark_message m;
	ssize_t n;
	int fd;

	n = recvmsg(from, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -EPIPE;
	fd = descriptor(&h);
	if (tg_mark_message_parse(&m, c->data, (size_t)n, &err) == 0) {
		c->hooks.message(c->hooks.ctx, serial, &m, fd);
	} else {
		tg_clients_refuse(c, serial, m.n, err.text);
		if (fd >= 0)
			close(fd);
	}
	tg_mark_message_release(&m);
	return 1;
}

void tg_clients_serve(struct tg_clients *c, const struct pollfd *p, size_t n)
{
	size_t served = (n - 1) / 2;

	/* in the order of their coming: who begins a span and leaves is heard before who ends it */
	for (size_t i = 0, k = 0; k < served; k++) {
		bool dead = p[2 * k + 1].revents;
		int r = 0;

		if (p[2 * k].revents || dead) {
			uint64_t serial = c->client[i].serial;
			int fd = c->client[i].fd;

			for (int m = 0; m < MESSAGES_A_TURN; m++)
				if ((r = take(c, serial, fd)) <= 0)
					break;
		}
		if (r < 0 || (r == 0 && dead))
			drop(c, i);
		else
			i++;
	}
	if (p[n - 1].revents)
		let_in(c);
}

static void tell(const struct client *to, const struct tg_buf *message)
{
	if (send(to->fd, message->data, message->len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* it does not read or is gone, which poll(2) will say */
}

void tg_clients_answer(struct tg_clients *c, uint64_t client, const struct tg_buf *answer)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->client[i].serial == client)
			tell(&c->client[i], answer);
}

void tg_clients_tell(struct tg_clients *c, const struct tg_buf *message)
{
	for (size_t i = 0; i < c->n; i++)
		tell(&c->client[i], message);
}

void tg_clients_refuse(struct tg_clients *c, uint64_t client, int64_t n, const char *sentence)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	if (n >= 0)
		tg_jw_kint(&w, "re", n);
	tg_jw_kstr(&w, "error", sentence);
	tg_jw_end_object(&w);
	tg_clients_answer(c, client, &out);
	tg_buf_release(&out);
}
