/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits for clients of iopub: counted to the byte, unchanged on the way, and thrown away for
 * a client that stopped reading, over tcp and ipc, while another one loses nothing.
 */
#include "tap.h"

#include <unistd.h>

#include "base/clock.h"
#include "jupyter/backlog.h"

#include "base/mem.h"

#define BIG   ((size_t)2 << 20)
#define LIMIT 120 /* s; generous: only what hangs gets there */

/* Frames of every size that is treated in its own way; byte k of frame i is i + k. */
static const size_t frame_size[] = { 0, 9, 64, 33, 34, 2, 8192, 8193, 100000 };

static void fill(struct tg_msg *m)
{
	static char data[100000];

	for (size_t i = 0; i < TG_ARRAY_SIZE(frame_size); i++) {
		for (size_t k = 0; k < frame_size[i]; k++)
			data[k] = (char)(i + k);
		tg_msg_add(m, data, frame_size[i]);
	}
}

static bool is_filled(const struct tg_msg *m)
{
	bool same = m->n == TG_ARRAY_SIZE(frame_size);

	for (size_t i = 0; same && i < m->n; i++) {
		const char *data = zmq_msg_data(&m->frame[i]);

		same = zmq_msg_size(&m->frame[i]) == frame_size[i];
		for (size_t k = 0; same && k < frame_size[i]; k++)
			same = data[k] == (char)(i + k);
	}
	return same;
}

static void test_counted(void)
{
	void *context = zmq_ctx_new(), *a = zmq_socket(context, ZMQ_PAIR),
	     *b = zmq_socket(context, ZMQ_PAIR);
	static struct tg_backlog backlog;
	struct tg_msg m = TG_MSG_INIT;
	const int none = 0;
	int same = 0;

	zmq_setsockopt(a, ZMQ_SNDHWM, &none, sizeof(none));
	zmq_setsockopt(b, ZMQ_RCVHWM, &none, sizeof(none));
	T_EQ_I(zmq_bind(a, "inproc://backlog"), 0);
	T_EQ_I(zmq_connect(b, "inproc://backlog"), 0);
	tg_backlog_add(&backlog, &m); /* nothing: not counted */
	T_EQ_I(backlog.messages, 0);
	for (int i = 0; i < 20; i++) { /* the later ones find a megabyte that waits */
		fill(&m);
		tg_backlog_add(&backlog, &m);
		T_OK(is_filled(&m));
		T_EQ_I(tg_msg_send(&m, a), 0);
	}
	T_EQ_I(backlog.messages, 20);
	T_OK(backlog.bytes > 20 * 116000 && backlog.bytes < 20 * 120000);
	while (tg_msg_recv(&m, b) > 0)
		same += is_filled(&m);
	tg_msg_release(&m);
	T_EQ_I(same, 20);
	T_EQ_I(backlog.messages, 0);
	T_EQ_I(backlog.bytes, 0);
	T_OK(backlog.freed > 20 * 116000);
	/* a message that is not sent is not waited for */
	fill(&m);
	tg_backlog_add(&backlog, &m);
	T_EQ_I(backlog.messages, 1);
	tg_msg_release(&m);
	T_EQ_I(backlog.messages, 0);
	zmq_close(a);
	zmq_close(b);
	zmq_ctx_term(context);
	tg_backlog_release(&backlog);
}

static void *subscriber(void *context, const char *endpoint)
{
	void *s = zmq_socket(context, ZMQ_SUB);
	const int one = 1, bytes = 1 << 16;

	zmq_setsockopt(s, ZMQ_RCVHWM, &one, sizeof(one));
	zmq_setsockopt(s, ZMQ_RCVBUF, &bytes, sizeof(bytes));
	zmq_setsockopt(s, ZMQ_SUBSCRIBE, "", 0);
	T_EQ_I(zmq_connect(s, endpoint), 0);
	return s;
}

static int receive(void *socket)
{
	struct tg_msg m = TG_MSG_INIT;
	int n = 0;

	while (tg_msg_recv(&m, socket) > 0)
		n++;
	tg_msg_release(&m);
	return n;
}

static void test_stalled(bool ipc)
{
	static struct tg_backlog backlog;
	static const char zeros[BIG];
	void *context = zmq_ctx_new(), *out = zmq_socket(context, ZMQ_XPUB), *reads, *stalls;
	struct tg_conn conn = { .ipc = ipc, .others = TG_BUF_INIT };
	struct tg_buf endpoint = TG_BUF_INIT, told = TG_BUF_INIT;
	struct tg_msg m = TG_MSG_INIT;
	const int none = 0;
	char ip[64] = "127.0.0.1";
	int64_t end = tg_mono_ns() + LIMIT * TG_NS_PER_S;
	int sent = 0, got = 0, subscribed = 0, failed = 0;

	if (ipc)
		snprintf(ip, sizeof(ip), "/tmp/tg-backlog-%d", (int)getpid());
	conn.ip = ip;
	zmq_setsockopt(out, ZMQ_SNDHWM, &none, sizeof(none));
	zmq_setsockopt(out, ZMQ_XPUB_VERBOSE, &(const int){ 1 }, sizeof(int));
	for (conn.port[TG_IOPUB] = 20001; conn.port[TG_IOPUB] < 21000; conn.port[TG_IOPUB]++) {
		tg_buf_clear(&endpoint);
		tg_conn_endpoint(&conn, TG_IOPUB, &endpoint);
		if (!zmq_bind(out, endpoint.data))
			break;
	}
	reads = subscriber(context, endpoint.data);
	stalls = subscriber(context, endpoint.data);
	while (subscribed < 2 && tg_mono_ns() < end)
		subscribed += tg_msg_recv(&m, out) > 0;
	T_EQ_I(subscribed, 2);
	while (!backlog.lost_clients && tg_mono_ns() < end) {
		if (backlog.bytes < TG_BACKLOG_MUCH + 4 * BIG) {
			tg_msg_clear(&m);
			tg_msg_add(&m, zeros, BIG);
			tg_backlog_add(&backlog, &m);
			failed += tg_msg_send(&m, out);
			sent++;
		}
		usleep(1000);
		got += receive(reads);
		tg_backlog_tick(&backlog, &conn);
	}
	T_EQ_I(failed, 0);
	T_EQ_I(backlog.lost_clients, 1);
	/* how many depends on what the sockets held, and on what was published meanwhile */
	T_OK(backlog.lost_messages > 10 && (int)backlog.lost_messages <= sent);
	T_OK(backlog.lost_bytes > backlog.lost_messages * (BIG - 1));
	T_OK(tg_backlog_tell(&backlog, &told));
	T_OK(strstr(told.data, "tachograph: 1 client of this kernel did not keep up"));
	T_OK(!tg_backlog_tell(&backlog, &told));
	while (got < sent && tg_mono_ns() < end) {
		usleep(1000);
		got += receive(reads);
	}
	T_EQ_I(got, sent);
	while ((backlog.messages || backlog.look_ns) && tg_mono_ns() < end) {
		usleep(1000);
		tg_backlog_tick(&backlog, &conn);
	}
	T_EQ_I(backlog.messages, 0);
	T_EQ_I(backlog.look_ns, 0);
	zmq_close(reads);
	zmq_close(stalls);
	zmq_setsockopt(out, ZMQ_LINGER, &none, sizeof(none));
	zmq_close(out);
	zmq_ctx_term(context);
	if (ipc)
		unlink(endpoint.data + strlen("ipc://"));
	tg_msg_release(&m);
	tg_backlog_release(&backlog);
	tg_buf_release(&endpoint);
	tg_buf_release(&told);
	backlog = (struct tg_backlog){ 0 };
}

int main(void)
{
	test_counted();
	test_stalled(false);
	test_stalled(true);
	return t_done();
}
