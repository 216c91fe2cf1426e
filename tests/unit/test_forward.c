/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on their way when something is full or comes in another order: what is bounded, and what
 * must pass all the same.
 */
#include "tap.h"

#include <unistd.h>

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

/* A message about request "1", from the user's kernel. */
static void say(void *kernel, const struct tg_sign *sign, const char *type, const char *content)
{
	static const char parent[] = "{\"msg_id\":\"1\"}";
	struct tg_msg m = TG_MSG_INIT;
	char header[64];
	int len = snprintf(header, sizeof(header), "{\"msg_type\":\"%s\"}", type);

	tg_msg_add(&m, "me", 2);
	tg_msg_body(&m, sign, (struct tg_bytes){ header, (size_t)len },
		(struct tg_bytes){ parent, sizeof(parent) - 1 },
		(struct tg_bytes){ content, strlen(content) });
	T_EQ_I(tg_msg_send(&m, kernel), 0);
	tg_msg_release(&m);
}

/* Messages that are there. */
static int count(void *socket)
{
	struct tg_msg m = TG_MSG_INIT;
	int n = 0;

	while (tg_msg_recv(&m, socket) > 0)
		n++;
	tg_msg_release(&m);
	return n;
}

/* One cell with a magic, between a kernel and a front end. */
struct scene {
	void *context, *kernel[TG_N_CHANNELS], *front[TG_N_CHANNELS];
	struct tg_proxy p;
	struct tg_request *r;
};

static void set_scene(struct scene *s)
{
	static const char header[] = "{\"msg_id\":\"1\",\"msg_type\":\"execute_request\"}";
	static const enum tg_channel channel[] = { TG_SHELL, TG_IOPUB };
	struct tg_msg m = TG_MSG_INIT;

	*s = (struct scene){ .context = zmq_ctx_new(),
		.p = { .text = TG_BUF_INIT,
			.gate_id = "tg-0",
			.session = TG_BUF_INIT,
			.language = TG_BUF_INIT,
			.marker = { .off = true, .warning = TG_BUF_INIT },
			.sign = { .unsigned_ = true },
			.worker = { .fd = -1 } } };
	for (size_t i = 0; i < 2; i++) {
		enum tg_channel c = channel[i];

		connect_pair(s->context, i ? "inproc://k1" : "inproc://k0", &s->p.inner.socket[c],
			&s->kernel[c]);
		connect_pair(s->context, i ? "inproc://f1" : "inproc://f0", &s->p.outer[c],
			&s->front[c]);
	}
	tg_msg_add(&m, "me", 2);
	tg_msg_body(&m, &s->p.sign, (struct tg_bytes){ header, sizeof(header) - 1 },
		(struct tg_bytes){ 0 }, (struct tg_bytes){ "{}", 2 });
	s->r = tg_requests_add(&s->p.requests, &m, TG_SHELL);
	s->r->kind = TG_CELL_MAGIC;
	s->r->magic.kind = TG_MAGIC_ALL;
	s->r->answer_due = true;
	tg_msg_release(&m);
}

static void strike(struct scene *s)
{
	static const enum tg_channel channel[] = { TG_SHELL, TG_IOPUB };

	T_EQ_I(s->p.replies.n, 0);
	T_EQ_I(s->p.iopub.n, 0);
	T_OK(!s->p.requests.first);
	for (size_t i = 0; i < 2; i++) {
		zmq_close(s->kernel[channel[i]]);
		zmq_close(s->front[channel[i]]);
		zmq_close(s->p.inner.socket[channel[i]]);
		zmq_close(s->p.outer[channel[i]]);
	}
	tg_outbox_release(&s->p.replies);
	tg_outbox_release(&s->p.iopub);
	tg_msg_release(&s->p.msg);
	tg_msg_release(&s->p.own);
	tg_requests_release(&s->p.requests);
	tg_buf_release(&s->p.text);
	zmq_ctx_term(s->context);
}

/* The idle of an interrupted cell may overtake its reply: it must not stay behind. */
static void test_interrupted_after_idle(void)
{
	char path[] = "/tmp/tg-test-XXXXXX";
	int fd = mkstemp(path);
	struct scene s;

	T_OK(fd >= 0);
	close(fd);
	set_scene(&s);
	s.r->started = true;
	s.r->wanted = true;
	s.r->question = 5;
	tg_buf_adds(&s.r->fifo, path);
	say(s.kernel[TG_IOPUB], &s.p.sign, "status", "{\"execution_state\":\"idle\"}");
	tg_forward_iopub(&s.p);
	T_EQ_I(count(s.front[TG_IOPUB]), 0); /* kept for the worker's answer */
	say(s.kernel[TG_SHELL], &s.p.sign, "execute_reply", "{\"status\":\"error\"}");
	tg_forward_reply(&s.p, TG_SHELL);
	T_EQ_I(count(s.front[TG_SHELL]), 1);
	T_EQ_I(count(s.front[TG_IOPUB]), 1);
	T_OK(access(path, F_OK));
	strike(&s);
}

/* A fault is told when execute_input comes, which the reply may overtake. */
static void test_fault_after_reply(void)
{
	struct scene s;

	set_scene(&s);
	s.r->magic.to_variable = true; /* without a name */
	say(s.kernel[TG_SHELL], &s.p.sign, "execute_reply", "{\"status\":\"ok\"}");
	tg_forward_reply(&s.p, TG_SHELL);
	T_EQ_I(count(s.front[TG_SHELL]), 0);
	say(s.kernel[TG_IOPUB], &s.p.sign, "execute_input", "{}");
	tg_forward_iopub(&s.p);
	T_EQ_I(count(s.front[TG_SHELL]), 1);
	T_EQ_I(count(s.front[TG_IOPUB]), 2);
	say(s.kernel[TG_IOPUB], &s.p.sign, "status", "{\"execution_state\":\"idle\"}");
	tg_forward_iopub(&s.p);
	T_EQ_I(count(s.front[TG_IOPUB]), 1);
	strike(&s);
}

/* A kernel that says no execute_input: nobody is asked, and the reply goes on. */
static void test_no_input(void)
{
	struct scene s;

	set_scene(&s);
	say(s.kernel[TG_SHELL], &s.p.sign, "execute_reply", "{\"status\":\"ok\"}");
	tg_forward_reply(&s.p, TG_SHELL);
	T_EQ_I(count(s.front[TG_SHELL]), 0);
	say(s.kernel[TG_IOPUB], &s.p.sign, "status", "{\"execution_state\":\"idle\"}");
	tg_forward_iopub(&s.p);
	T_EQ_I(count(s.front[TG_SHELL]), 1);
	T_EQ_I(count(s.front[TG_IOPUB]), 1);
	strike(&s);
}

/* The reply of a queued cell may overtake its busy: it has its span, from the cell before on. */
static void test_reply_before_busy(void)
{
	struct scene s;

	set_scene(&s);
	s.r->kind = TG_CELL_CODE;
	s.r->magic.kind = TG_MAGIC_NONE;
	s.r->answer_due = false;
	s.p.ended_ns = 5;
	say(s.kernel[TG_SHELL], &s.p.sign, "execute_reply", "{\"status\":\"aborted\"}");
	tg_forward_reply(&s.p, TG_SHELL);
	T_OK(s.r->begun && s.r->ended);
	T_EQ_I(s.r->begin_ns, 5);
	T_OK(s.r->end_ns > 5 && s.p.ended_ns >= s.r->end_ns);
	T_EQ_S(s.r->status, "aborted");
	say(s.kernel[TG_IOPUB], &s.p.sign, "status", "{\"execution_state\":\"busy\"}");
	tg_forward_iopub(&s.p);
	T_EQ_I(s.r->begin_ns, 5);
	T_EQ_I(s.p.n_spans, 1);
	say(s.kernel[TG_IOPUB], &s.p.sign, "status", "{\"execution_state\":\"idle\"}");
	tg_forward_iopub(&s.p);
	T_EQ_I(count(s.front[TG_SHELL]), 1);
	T_EQ_I(count(s.front[TG_IOPUB]), 2);
	strike(&s);
}

/* What has no error on iopub, as a usage error of IPython, failed by its reply alone. */
static void test_idle_before_reply(void)
{
	struct scene s;

	set_scene(&s);
	s.r->kind = TG_CELL_CODE;
	s.r->magic.kind = TG_MAGIC_NONE;
	s.r->answer_due = false;
	s.r->begun = s.r->started = true;
	s.r->pinned = true;
	say(s.kernel[TG_SHELL], &s.p.sign, "execute_reply", "{\"status\":\"error\"}");
	say(s.kernel[TG_IOPUB], &s.p.sign, "status", "{\"execution_state\":\"idle\"}");
	tg_forward_iopub(&s.p);
	T_EQ_S(s.r->status, "error");
	T_EQ_I(count(s.front[TG_SHELL]), 1);
	T_EQ_I(count(s.front[TG_IOPUB]), 1);
	s.r->pinned = false;
	tg_requests_remove(&s.p.requests, s.r);
	strike(&s);
}

int main(void)
{
	test_replies();
	test_interrupted_after_idle();
	test_fault_after_reply();
	test_no_input();
	test_reply_before_busy();
	test_idle_before_reply();
	return t_done();
}
