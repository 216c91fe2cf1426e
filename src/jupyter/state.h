/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the proxy share, for the files of this folder only: proxy.c has the start and
 * the loop, forward.c the messages, emit.c those of our own, cell.c the cells, complete.c
 * completion, ask.c the worker's answers, usage.c usage_request, death.c the end.
 */
#ifndef TG_JUPYTER_STATE_H
#define TG_JUPYTER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/spawn.h"
#include "jupyter/backlog.h"
#include "jupyter/conn.h"
#include "jupyter/inner.h"
#include "jupyter/marker.h"
#include "jupyter/msg.h"
#include "jupyter/outbox.h"
#include "jupyter/proxy.h"
#include "jupyter/request.h"
#include "jupyter/settings.h"
#include "jupyter/sign.h"
#include "jupyter/worker.h"

#define TG_TURN_MESSAGES 64 /* of one socket before the others get their turn */
#define TG_TURN_BYTES    ((size_t)16 << 20) /* of iopub, the same */
#define TG_USAGE_MAX     16 /* usage requests that wait for the recorder */
#define TG_HELD_MAX      1024 /* control messages that wait for the user's kernel to be ready */

#define TG_DATE_MAX 48 /* "2026-12-01T21:54:03.123456Z" */

struct tg_proxy {
	const struct tg_proxy_options *options;
	struct tg_conn conn;
	struct tg_sign sign;
	struct tg_signals signals;
	struct tg_kernelspec spec;
	struct tg_buf prefix, python;
	char started[TG_DATE_MAX]; /* when we began, as in headers */
	char id[17]; /* hash of the connection file's path */
	void *context;
	void *outer[TG_N_CHANNELS];
	struct tg_inner inner;
	bool tcp; /* no ipc to it */
	int parent_fd; /* pidfd of who started us; < 0: none */
	pid_t parent; /* our parent, looked at where there is no pidfd; 0: not */

	struct tg_requests requests;
	struct tg_msg msg; /* the one that is on its way */
	struct tg_msg own; /* the one we build */
	struct tg_buf text; /* scratch */

	/* the gate: nothing is read from shell before the user's kernel answers on shell and iopub
	 */
	bool ready;
	char gate_id[33]; /* begins the msg_id of our own requests */
	unsigned n_gate;
	bool gate_replied;
	int64_t connected_ns; /* when we first asked */
	int64_t gate_ns; /* when we last asked, or got a reply without its idle */
	struct tg_msg *held;
	size_t n_held;

	/* of the user's kernel, from its reply at the gate */
	struct tg_buf session, language;
	int64_t count; /* the last execution count seen */
	int64_t ended_ns; /* when the last cell was answered, subshells apart; 0: none was */

	struct tg_marker marker;
	struct tg_settings settings;
	uint64_t n_spans;

	struct tg_worker worker;
	struct tg_buf worker_exe;
	int64_t n_questions;
	struct tg_outbox replies, iopub; /* kept back until the worker answered */
	struct tg_backlog backlog; /* of iopub: here, and on the way to clients */

	struct tg_usage {
		struct tg_msg msg; /* the request */
		int64_t question, deadline_ns; /* question 0: not in use */
	} usage[TG_USAGE_MAX];

	bool shutting, restart; /* a shutdown_request went by */
	int term; /* SIGTERM or SIGHUP, once we passed it on; 0: not */
	int64_t term_ns; /* when */
	bool term_early; /* it was not ready then */
	bool dying; /* the user's kernel is gone: nothing is kept back any more */
	bool done;
	int exit_status;
	int64_t busy_ns; /* the last turn that had more to do than a heartbeat */
	uint64_t n_bytes; /* of requests and replies since memory was last given back */
};

/* emit.c: messages of our own; parent NULL: none. */
void tg_emit_date(char date[TG_DATE_MAX]); /* now, in UTC, to the microsecond */
void tg_emit_iopub(struct tg_proxy *p, const struct tg_request *parent, const char *type,
	const char *content, size_t len);
void tg_emit_status(struct tg_proxy *p, const struct tg_request *parent, const char *state);
void tg_emit_stderr(struct tg_proxy *p, const struct tg_request *parent, const char *text);
void tg_emit_reply(struct tg_proxy *p, const struct tg_request *r, const char *content, size_t len);
void tg_emit_welcome(struct tg_proxy *p, const void *topic, size_t len);
/* A request of our own to the user's kernel; its msg_id begins with gate_id. */
void tg_emit_request(struct tg_proxy *p, enum tg_channel channel, const char *type);

/* forward.c: take what is there, at most TG_TURN_MESSAGES. */
void tg_forward_request(struct tg_proxy *p, enum tg_channel channel);
void tg_forward_reply(struct tg_proxy *p, enum tg_channel channel);
void tg_forward_iopub(struct tg_proxy *p);
void tg_forward_held(struct tg_proxy *p); /* the gate opened */
/* Send what was kept back for a request, and forget the request if that was its last. */
void tg_forward_kept(struct tg_proxy *p, struct tg_request *r);

/*
 * cell.c: a cell on its way. The request and execute_input may be changed in place. _idle tells
 * whether the idle is to be kept back until the worker answered, _reply the same of the reply.
 * The recorder is told of the cell once its request or reply has been passed on.
 */
void tg_cell_request(struct tg_proxy *p, struct tg_request *r, struct tg_msg *m);
void tg_cell_request_passed(struct tg_proxy *p, struct tg_request *r);
void tg_cell_busy(struct tg_proxy *p, struct tg_request *r);
void tg_cell_input(struct tg_proxy *p, struct tg_request *r, struct tg_msg *m);
void tg_cell_started(struct tg_proxy *p, struct tg_request *r); /* execute_input was sent */
bool tg_cell_reply(struct tg_proxy *p, struct tg_request *r, const struct tg_msg *m);
void tg_cell_reply_passed(struct tg_proxy *p, struct tg_request *r);
bool tg_cell_idle(struct tg_proxy *p, struct tg_request *r);
void tg_cell_died(struct tg_proxy *p, struct tg_request *r, const char *status);

/* complete.c: completion and inspection on their way. What is ours is put into the reply. */
void tg_complete_request(struct tg_request *r, const struct tg_msg *m);
void tg_complete_reply(struct tg_proxy *p, const struct tg_request *r, struct tg_msg *m);

/* ask.c: the worker. */
void tg_ask_magic(struct tg_proxy *p, struct tg_request *r);
void tg_ask_cell_end(struct tg_proxy *p, struct tg_request *r);
void tg_ask_read(struct tg_proxy *p); /* answers are there */
/* The user's kernel answered a magic with an error: it was interrupted. */
void tg_ask_interrupted(struct tg_proxy *p, struct tg_request *r);
void tg_ask_tick(struct tg_proxy *p); /* what time brings */
void tg_ask_cancel(struct tg_proxy *p); /* give up every question; the user's kernel is gone */
int64_t tg_ask_deadline(const struct tg_proxy *p); /* of tg_ask_tick; INT64_MAX: none */

/* usage.c: usage_request, from the recorder. Whether it took the message. */
bool tg_usage_request(struct tg_proxy *p, struct tg_msg *m);
void tg_usage_read(struct tg_proxy *p);
void tg_usage_tick(struct tg_proxy *p);
void tg_usage_cancel(struct tg_proxy *p); /* the recorder is not waited for any more */
int64_t tg_usage_deadline(const struct tg_proxy *p);

/* death.c: the user's kernel ended: pass on its last words, answer who waits. */
void tg_death(struct tg_proxy *p, int code, int signal);

#endif
