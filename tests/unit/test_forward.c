/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on their way when something is full: what is bounded, and what must pass all the same.
 */
#include "tap.h"

#include "jupyter/state.h"

#include "base/mem.h"

/* Two ends in one process: what is sent into one comes out of the other. */
static void connect_pair(void *context, const char *name, void **a, void **b)
{
	*a = zmq_socket(context, ZMQ_PAIR);
	*b = zmq_socket(context, ZMQ_PAIR);
	T_EQ_I(zmq_bind(*a, name), 0);
	T_EQ_I(zmq_connect(*b, name), 0);
}

static void test_replies(void)
{
	void *context = zmq_ctx_new(), *kernel[2], *front[2];
	static const enum tg_channel channel[] = { TG_CONTROL, TG_SHELL };
	struct tg_proxy p = { .text = TG_BUF_INIT };
	char text[8];

	for (size_t i = 0; i < 2; i++) {
		connect_pair(context, i ? "inproc://k1" : "inproc://k0",
			&p.inner.socket[channel[i]], &kernel[i]);
		connect_pair(context, i ? "inproc://f1" : "inproc://f0", &p.outer[channel[i]],
			&front[i]);
		T_EQ_I(zmq_send(kernel[i], "reply", 5, 0), 5);
	}
	p.replies.n = TG_OUTBOX_MAX; /* all wait for a worker */
	tg_forward_reply(&p, TG_CONTROL);
	tg_forward_reply(&p, TG_SHELL);
	T_EQ_I(zmq_recv(front[0], text, sizeof(text), ZMQ_DONTWAIT), 5); /* of an interrupt */
	T_EQ_I(zmq_recv(front[1], text, sizeof(text), ZMQ_DONTWAIT), -1);
	p.replies.n = 0;
	tg_forward_reply(&p, TG_SHELL);
	T_EQ_I(zmq_recv(front[1], text, sizeof(text), ZMQ_DONTWAIT), 5);
	tg_msg_release(&p.msg);
	for (size_t i = 0; i < 2; i++) {
		zmq_close(kernel[i]);
		zmq_close(front[i]);
		zmq_close(p.inner.socket[channel[i]]);
		zmq_close(p.outer[channel[i]]);
	}
	zmq_ctx_term(context);
}

int main(void)
{
	test_replies();
	return t_done();
}
