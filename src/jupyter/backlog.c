/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/backlog.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "base/mem.h"

#define LOOK_NS      (100 * TG_NS_PER_MS)
#define FRAME_BYTES  128 /* of a frame in a pipe and of its allocation, beside its data */
#define SHARED_MAX   8192 /* longer frames have memory of their own */
#define UNSHARE_FROM ((size_t)1 << 20)

void tg_backlog_release(struct tg_backlog *b)
{
	free(b->peer);
	b->peer = NULL;
	b->n_peers = 0;
}

/* ---- counting ---- */

struct held {
	zmq_msg_t frame;
	struct tg_backlog *of;
	size_t bytes;
	unsigned part;
};

/* Called by libzmq, in its own thread mostly, when the last client has the frame or is gone. */
static void let_go(void *data, void *hint)
{
	struct held *h = hint;

	(void)data;
	zmq_msg_close(&h->frame);
	atomic_fetch_sub(&h->of->bytes, h->bytes);
	atomic_fetch_sub(&h->of->messages, 1);
	atomic_fetch_sub(&h->of->bytes_of[h->part], h->bytes);
	atomic_fetch_sub(&h->of->messages_of[h->part], 1);
	atomic_fetch_add(&h->of->freed, h->bytes);
	free(h);
}

/*
 * A frame of a few bytes that libzmq received lies in a buffer of 8 KiB, which stays as long as it
 * does: where many wait, each gets memory of its own.
 */
static void unshare(struct tg_msg *m)
{
	for (size_t i = 0; i < m->n; i++) {
		zmq_msg_t *f = &m->frame[i], own;
		size_t len = zmq_msg_size(f);

		if (len > SHARED_MAX)
			continue;
		if (zmq_msg_init_size(&own, len))
			tg_out_of_memory();
		memcpy(zmq_msg_data(&own), zmq_msg_data(f), len);
		zmq_msg_move(f, &own);
		zmq_msg_close(&own);
	}
}

/* The largest frame is wrapped, without a copy, so that we are told when it is freed. */
void tg_backlog_add(struct tg_backlog *b, struct tg_msg *m)
{
	struct held *h;
	size_t largest = 0, bytes = 0;

	if (!m->n)
		return;
	if (atomic_load(&b->bytes) > UNSHARE_FROM)
		unshare(m);
	for (size_t i = 0; i < m->n; i++) {
		bytes += zmq_msg_size(&m->frame[i]) + FRAME_BYTES;
		if (zmq_msg_size(&m->frame[i]) > zmq_msg_size(&m->frame[largest]))
			largest = i;
	}
	h = tg_xmalloc(sizeof(*h));
	h->of = b;
	h->bytes = bytes + sizeof(*h);
	zmq_msg_init(&h->frame);
	zmq_msg_move(&h->frame, &m->frame[largest]);
	zmq_msg_close(&m->frame[largest]);
	atomic_fetch_add(&b->bytes, h->bytes);
	atomic_fetch_add(&b->messages, 1);
	h->part = b->now_of;
	atomic_fetch_add(&b->bytes_of[h->part], h->bytes);
	atomic_fetch_add(&b->messages_of[h->part], 1);
	if (zmq_msg_init_data(&m->frame[largest], zmq_msg_data(&h->frame), zmq_msg_size(&h->frame),
		    let_go, h))
		tg_out_of_memory();
}

/* ---- looking at the clients ---- */

/* Whether a descriptor is a client's connection to iopub. */
static bool is_client(int fd, const struct tg_conn *conn)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} here = { 0 }, there;
	socklen_t len = sizeof(here) - 1, there_len = sizeof(there);
	char path[sizeof(here.un.sun_path) + 32];

	if (getsockname(fd, &here.any, &len) || getpeername(fd, &there.any, &there_len))
		return false;
	switch (here.any.sa_family) {
	case AF_INET:
		return !conn->ipc && ntohs(here.in.sin_port) == conn->port[TG_IOPUB];
	case AF_INET6:
		return !conn->ipc && ntohs(here.in6.sin6_port) == conn->port[TG_IOPUB];
	case AF_UNIX:
		if (!conn->ipc)
			return false;
		snprintf(path, sizeof(path), "%s-%d", conn->ip, conn->port[TG_IOPUB]);
		return !strncmp(here.un.sun_path, path, sizeof(here.un.sun_path));
	default:
		return false;
	}
}

/*
 * Bytes that its client has taken, which only grows; of a unix socket, which does not say, those
 * on their way instead.
 */
static uint64_t taken(int fd, int waiting)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
		len >= offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked))
		return info.tcpi_bytes_acked;
	return (uint64_t)waiting;
}

static struct tg_backlog_peer *find_peer(struct tg_backlog *b, ino_t inode)
{
	struct tg_backlog_peer *p = b->peer;

	while (p < b->peer + b->n_peers && p->inode != inode)
		p++;
	if (p < b->peer + b->n_peers)
		return p;
	if (b->n_peers == TG_BACKLOG_PEERS)
		return NULL;
	*p = (struct tg_backlog_peer){ .inode = inode, .fresh = true };
	b->n_peers++;
	return p;
}

static void look_at(struct tg_backlog *b, int fd, int64_t now)
{
	struct tg_backlog_peer *p;
	struct stat st;
	uint64_t at;
	int waiting = 0;

	if (fstat(fd, &st) || ioctl(fd, SIOCOUTQ, &waiting) || !(p = find_peer(b, st.st_ino)))
		return;
	at = taken(fd, waiting);
	p->seen = true;
	p->waits = waiting > 0;
	p->moved = at > p->taken ? at - p->taken : p->taken - at;
	if (p->fresh || p->moved || !p->waits)
		p->since_ns = now;
	p->taken = at;
}

/*
 * Call `what` for each client. The descriptor is a duplicate, checked again after it was made: the
 * number of one that libzmq closes meanwhile may be another socket's.
 */
static void each_client(struct tg_backlog *b, const struct tg_conn *conn, int64_t arg,
	void (*what)(struct tg_backlog *b, int fd, int64_t arg))
{
	DIR *dir = opendir("/proc/self/fd");

	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));) {
		int fd = (int)strtol(e->d_name, NULL, 10), copy;

		if (!is_client(fd, conn))
			continue;
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (copy < 0)
			continue;
		if (is_client(copy, conn))
			what(b, copy, arg);
		close(copy);
	}
	closedir(dir);
}

static void look(struct tg_backlog *b, const struct tg_conn *conn, int64_t now)
{
	size_t n = 0;

	if (!b->peer)
		b->peer = tg_xcalloc(TG_BACKLOG_PEERS, sizeof(*b->peer));
	for (size_t i = 0; i < b->n_peers; i++)
		b->peer[i].seen = b->peer[i].fresh = false;
	each_client(b, conn, now, look_at);
	for (size_t i = 0; i < b->n_peers; i++)
		if (b->peer[i].seen)
			b->peer[n++] = b->peer[i];
	b->n_peers = n;
}

/* ---- too much ---- */

static void cut_one(struct tg_backlog *b, int fd, int64_t inode)
{
	struct stat st;

	/* libzmq sees the end of the connection and frees what waits for it */
	if (!fstat(fd, &st) && (int64_t)st.st_ino == inode && !shutdown(fd, SHUT_RDWR))
		b->cut++;
}

static void cut(struct tg_backlog *b, const struct tg_conn *conn, int64_t now)
{
	size_t bytes = atomic_load(&b->bytes);
	const struct tg_backlog_peer *slowest = NULL;

	for (size_t i = 0; i < b->n_peers; i++) {
		const struct tg_backlog_peer *p = &b->peer[i];

		if (!p->waits || p->fresh)
			continue;
		if (now - p->since_ns >= TG_BACKLOG_STUCK_NS)
			each_client(b, conn, (int64_t)p->inode, cut_one);
		else if (!slowest || p->moved < slowest->moved)
			slowest = p;
	}
	if (!b->cut && slowest && bytes > TG_BACKLOG_MOST)
		each_client(b, conn, (int64_t)slowest->inode, cut_one);
	if (b->cut) {
		b->bytes_then = atomic_load(&b->bytes_of[b->now_of]);
		b->messages_then = atomic_load(&b->messages_of[b->now_of]);
		b->now_of ^= 1; /* what comes now waits for others */
	}
}

/* What was freed since they were disconnected: it waited for them. */
static void account(struct tg_backlog *b)
{
	size_t bytes = atomic_load(&b->bytes_of[b->now_of ^ 1]),
	       messages = atomic_load(&b->messages_of[b->now_of ^ 1]);

	bytes = b->bytes_then - TG_MIN(bytes, b->bytes_then);
	messages = b->messages_then - TG_MIN(messages, b->messages_then);
	tg_log(TG_LOG_WARN, "kernel",
		"clients that did not keep up were disconnected: %u, messages dropped: %zu, "
		"bytes: %zu",
		b->cut, messages, bytes);
	b->lost_clients += b->cut;
	b->lost_messages += messages;
	b->lost_bytes += bytes;
	b->cut = 0;
}

bool tg_backlog_tell(struct tg_backlog *b, struct tg_buf *out)
{
	unsigned n = b->lost_clients;

	if (!n)
		return false;
	tg_buf_addf(out,
		"tachograph: %u client%s of this kernel did not keep up with its output and %s "
		"disconnected; %zu messages (%zu MB) were dropped\n",
		n, n == 1 ? "" : "s", n == 1 ? "was" : "were", b->lost_messages,
		(b->lost_bytes + 500000) / 1000000);
	b->lost_clients = 0;
	b->lost_messages = b->lost_bytes = 0;
	return true;
}

void tg_backlog_tick(struct tg_backlog *b, const struct tg_conn *conn)
{
	int64_t now;

	if (atomic_load(&b->bytes) <= TG_BACKLOG_MUCH && !b->cut) {
		b->look_ns = 0;
		b->n_peers = 0;
		return;
	}
	now = tg_mono_ns();
	if (now < b->look_ns)
		return;
	b->look_ns = now + LOOK_NS;
	if (b->cut)
		account(b);
	look(b, conn, now);
	if (atomic_load(&b->bytes) > TG_BACKLOG_MUCH)
		cut(b, conn, now);
}

int64_t tg_backlog_deadline(const struct tg_backlog *b)
{
	return b->look_ns ? b->look_ns : INT64_MAX;
}
