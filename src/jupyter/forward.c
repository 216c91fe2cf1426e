/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on their way: requests from the front end, replies and iopub from the user's kernel.
 * What we do not understand goes on as it came. What we act upon was signed.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define REPLY_MS 2 /* how long an idle waits for the reply that was sent before it */

static void pass(struct tg_proxy *p, struct tg_msg *m, void *socket)
{
	int ret;

	if (socket != p->outer[TG_IOPUB])
		p->n_bytes += tg_msg_size(m);
	ret = tg_msg_send(m, socket);
	if (ret && ret != -EHOSTUNREACH)
		tg_log(TG_LOG_WARN, "kernel", "a message was lost: %s", zmq_strerror(-ret));
}

static bool ends_with_request(struct tg_bytes type)
{
	static const char end[] = "_request\"";

	return type.len > sizeof(end) &&
	       !memcmp(type.at + type.len - sizeof(end) + 1, end, sizeof(end) - 1);
}

/* Whether it is an answer to a request of our own. */
static bool is_own(const struct tg_proxy *p, struct tg_bytes parent_id)
{
	size_t len = strlen(p->gate_id);

	return parent_id.at && parent_id.len > len + 1 &&
	       !memcmp(parent_id.at + 1, p->gate_id, len);
}

static void forget_when_done(struct tg_proxy *p, struct tg_request *r)
{
	/* clients of control wait for the reply alone, and not every kernel says idle for it */
	if (!r->replied || (!r->idle && r->channel != TG_CONTROL) || r->pinned)
		return;
	if (r->fifo.len)
		unlink(r->fifo.data);
	tg_requests_remove(&p->requests, r);
}

/* Send, or keep back behind what waits; `of`: until that request is answered. */
static void pass_or_keep(struct tg_proxy *p, struct tg_msg *m, struct tg_outbox *box, void *socket,
	struct tg_request *of)
{
	if (box == &p->iopub)
		tg_backlog_add(&p->backlog, m);
	if (of || box->n)
		tg_outbox_add(box, m, of);
	else
		pass(p, m, socket);
}

void tg_forward_kept(struct tg_proxy *p, struct tg_request *r)
{
	r->release_ns = 0;
	if (!r->pinned)
		return;
	tg_outbox_let(&p->replies, r);
	tg_outbox_let(&p->iopub, r);
	tg_outbox_flush(&p->replies, p->outer[TG_SHELL]);
	tg_outbox_flush(&p->iopub, p->outer[TG_IOPUB]);
	forget_when_done(p, r);
}

/* ---- from the front end ---- */

/*
 * Whether a message is older than this process. A client that asks a dead kernel to shut down and
 * then starts the next one may still hold the request, and we listen sooner than other kernels.
 */
static bool is_stale(const struct tg_proxy *p, const struct tg_msg *m)
{
	struct tg_bytes date = tg_msg_member(m, TG_HEADER, "date");
	size_t len = strlen("2026-12-01T21:54:03.123456");

	return date.len >= len + 3 && (date.at[len + 1] == 'Z' || date.at[len + 1] == '+') &&
	       memcmp(date.at + 1, p->started, len) < 0;
}

static void note_shutdown(struct tg_proxy *p, const struct tg_msg *m)
{
	p->restart = tg_jscan_literal(tg_msg_member(m, TG_CONTENT, "restart"), "true");
	p->shutting = true;
	tg_marker_run_asked(&p->marker);
}

static void shut_down(struct tg_proxy *p, struct tg_msg *m)
{
	struct tg_request *r = tg_requests_add(&p->requests, m, TG_CONTROL);
	char content[48];
	int len;

	note_shutdown(p, m);
	len = snprintf(content, sizeof(content), "{\"status\":\"ok\",\"restart\":%s}",
		p->restart ? "true" : "false");
	tg_emit_reply(p, r, content, (size_t)len);
	tg_requests_remove(&p->requests, r);
	kill(p->inner.pid, SIGKILL);
}

/* Before the user's kernel is ready: a shutdown is honoured at once, the rest of control waits. */
static void hold(struct tg_proxy *p, struct tg_msg *m)
{
	if (tg_jscan_is(tg_msg_member(m, TG_HEADER, "msg_type"), "shutdown_request") &&
		tg_msg_verify(m, &p->sign)) {
		if (!is_stale(p, m))
			shut_down(p, m);
		return;
	}
	if (p->n_held == TG_HELD_MAX)
		return;
	if (!p->held)
		p->held = tg_xcalloc(TG_HELD_MAX, sizeof(*p->held));
	tg_msg_swap(&p->held[p->n_held++], m);
}

/* To be answered by death.c. Of a kernel that was never ready, clients take any kernel_info_reply
   for the sign that it is. */
static void note(struct tg_proxy *p, struct tg_msg *m, enum tg_channel channel)
{
	if (p->ready ||
		!tg_jscan_is(tg_msg_member(m, TG_HEADER, "msg_type"), "kernel_info_request"))
		tg_requests_add(&p->requests, m, channel);
}

static void route_request(struct tg_proxy *p, enum tg_channel channel, struct tg_msg *m)
{
	struct tg_bytes type = tg_msg_member(m, TG_HEADER, "msg_type");
	struct tg_request *cell = NULL;

	if (!p->ready && !p->dying) {
		hold(p, m);
		return;
	}
	if (channel != TG_STDIN && ends_with_request(type) && tg_msg_verify(m, &p->sign)) {
		struct tg_request *r;

		if (p->dying) {
			note(p, m, channel);
			return;
		}
		if (channel == TG_CONTROL && tg_jscan_is(type, "usage_request") &&
			tg_usage_request(p, m))
			return;
		r = tg_requests_add(&p->requests, m, channel);
		if (channel == TG_SHELL && tg_request_is(r, "execute_request"))
			tg_cell_request(p, cell = r, m);
		else if (tg_request_is(r, "shutdown_request"))
			note_shutdown(p, m);
		else if (channel == TG_SHELL)
			tg_complete_request(r, m);
	}
	pass(p, m, p->inner.socket[channel]);
	if (cell)
		tg_cell_request_passed(p, cell);
}

void tg_forward_request(struct tg_proxy *p, enum tg_channel channel)
{
	for (int i = 0; i < TG_TURN_MESSAGES; i++) {
		int got;

		if (channel != TG_STDIN && !tg_requests_room(&p->requests, channel))
			return;
		got = tg_msg_recv(&p->msg, p->outer[channel]);
		if (!got)
			return;
		if (got > 0)
			route_request(p, channel, &p->msg);
	}
}

void tg_forward_held(struct tg_proxy *p)
{
	for (size_t i = 0; i < p->n_held; i++) {
		route_request(p, TG_CONTROL, &p->held[i]);
		tg_msg_release(&p->held[i]);
	}
	free(p->held);
	p->held = NULL;
	p->n_held = 0;
}

/* ---- from the user's kernel ---- */

/* The reply to our kernel_info_request: who the user's kernel is. */
static void read_gate_reply(struct tg_proxy *p, const struct tg_msg *m)
{
	struct tg_bytes info = tg_msg_member(m, TG_CONTENT, "language_info");

	p->gate_replied = true;
	p->gate_ns = tg_mono_ns();
	tg_buf_clear(&p->session);
	tg_jscan_string(tg_msg_member(m, TG_HEADER, "session"), &p->session);
	tg_buf_clear(&p->language);
	if (info.at)
		tg_jscan_string(tg_jscan_member(info.at, info.len, "name"), &p->language);
}

static void route_reply(struct tg_proxy *p, enum tg_channel channel, struct tg_msg *m)
{
	struct tg_bytes parent = tg_msg_member(m, TG_PARENT, "msg_id");
	struct tg_request *r;
	bool keep = false;

	if (channel == TG_STDIN) {
		pass(p, m, p->outer[channel]);
		return;
	}
	if (is_own(p, parent)) {
		if (tg_jscan_is(tg_msg_member(m, TG_HEADER, "msg_type"), "kernel_info_reply"))
			read_gate_reply(p, m);
		return;
	}
	r = tg_requests_find(&p->requests, parent);
	if (r) {
		if (channel == TG_SHELL && tg_request_is(r, "execute_request"))
			keep = tg_cell_reply(p, r, m);
		else if (channel == TG_SHELL)
			tg_complete_reply(p, r, m);
		r->replied = true; /* not sooner: what is kept may go now, and r with its last */
	}
	if (channel == TG_SHELL)
		pass_or_keep(p, m, &p->replies, p->outer[channel], keep ? r : NULL);
	else
		pass(p, m, p->outer[channel]);
	if (r && channel == TG_SHELL && tg_request_is(r, "execute_request"))
		tg_cell_reply_passed(p, r);
	if (r)
		forget_when_done(p, r);
}

void tg_forward_reply(struct tg_proxy *p, enum tg_channel channel)
{
	for (int i = 0; i < TG_TURN_MESSAGES; i++) {
		int got;

		if (channel == TG_SHELL && p->replies.n >= TG_OUTBOX_MAX)
			return; /* nothing of control and stdin is ever kept back */
		got = tg_msg_recv(&p->msg, p->inner.socket[channel]);

		if (!got)
			return;
		if (got > 0)
			route_reply(p, channel, &p->msg);
	}
}

/*
 * The reply, which alone says how the cell ended, was sent before the idle and on another socket:
 * it is here, or within a moment. p->msg is in use.
 */
static void take_reply(struct tg_proxy *p)
{
	zmq_pollitem_t item = { p->inner.socket[TG_SHELL], 0, ZMQ_POLLIN, 0 };
	struct tg_msg idle = p->msg;

	p->msg = (struct tg_msg)TG_MSG_INIT;
	if (zmq_poll(&item, 1, REPLY_MS) > 0)
		tg_forward_reply(p, TG_SHELL);
	tg_msg_release(&p->msg);
	p->msg = idle;
}

/* What the user's kernel says on iopub about a request that we know. */
static void route_output(
	struct tg_proxy *p, struct tg_request *r, struct tg_bytes type, struct tg_msg *m)
{
	bool cell = r->channel == TG_SHELL && tg_request_is(r, "execute_request");
	bool input = cell && tg_jscan_is(type, "execute_input");
	bool keep = false;

	if (tg_jscan_is(type, "status")) {
		struct tg_bytes state = tg_msg_member(m, TG_CONTENT, "execution_state");

		if (cell && tg_jscan_is(state, "busy"))
			tg_cell_busy(p, r);
		if (tg_jscan_is(state, "idle")) {
			if (cell && !r->replied)
				take_reply(p);
			keep = cell && tg_cell_idle(p, r);
			r->idle = true;
		}
	} else if (input) {
		tg_cell_input(p, r, m);
	} else if (cell && tg_jscan_is(type, "error")) {
		r->failed = true;
	}
	pass_or_keep(p, m, &p->iopub, p->outer[TG_IOPUB], keep ? r : NULL);
	if (input)
		tg_cell_started(p, r);
	forget_when_done(p, r);
}

static void route_iopub(struct tg_proxy *p, struct tg_msg *m)
{
	struct tg_bytes parent = tg_msg_member(m, TG_PARENT, "msg_id");
	struct tg_bytes type = tg_msg_member(m, TG_HEADER, "msg_type");
	struct tg_request *r;

	if (is_own(p, parent)) {
		if (p->gate_replied &&
			tg_jscan_is(tg_msg_member(m, TG_CONTENT, "execution_state"), "idle"))
			p->ready = true;
		return;
	}
	/* each subscription at our own socket was welcomed by ourselves */
	if (tg_jscan_is(type, "iopub_welcome"))
		return;
	r = tg_requests_find(&p->requests, parent);
	if (!r)
		pass_or_keep(p, m, &p->iopub, p->outer[TG_IOPUB], NULL);
	else
		route_output(p, r, type, m);
}

void tg_forward_iopub(struct tg_proxy *p)
{
	size_t bytes = 0;

	for (int i = 0; i < TG_TURN_MESSAGES && bytes < TG_TURN_BYTES && p->iopub.n < TG_OUTBOX_MAX;
		i++) {
		int got = tg_msg_recv(&p->msg, p->inner.socket[TG_IOPUB]);

		if (!got)
			return;
		if (got < 0)
			continue;
		bytes += tg_msg_size(&p->msg);
		route_iopub(p, &p->msg);
	}
}
