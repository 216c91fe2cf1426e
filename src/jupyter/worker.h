/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link to the worker, which runs magics and writes what cells print: a child with a stream
 * socket as descriptor 3. Messages are a length (32 bits, little-endian) and a JSON object. It is
 * started when it is first asked and never waited for; whatever it does, it costs one answer. It is
 * let go after a minute without a question, which is decided here alone.
 */
#ifndef TG_JUPYTER_WORKER_H
#define TG_JUPYTER_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/spawn.h"

#define TG_WORKER_LIMIT_NS   INT64_C(10000000000) /* for an answer, 10 s */
#define TG_WORKER_IDLE_NS    INT64_C(60000000000) /* then it is let go */
#define TG_WORKER_ANSWER_MAX (64u << 20)

#define TG_WORKER_GONE_MAX 16 /* killed ones that do not die: then no more are started */

struct tg_worker {
	pid_t pid; /* 0: none */
	int fd; /* -1: none */
	struct tg_buf out; /* not yet written */
	struct tg_buf in; /* read, not yet taken */
	unsigned waiting; /* questions without an answer */
	bool old; /* it was there before the first of them, and has not said anything since */
	bool reset; /* it ended with something unread */
	struct tg_buf asked; /* those questions, while it is old */
	int64_t since_ns; /* of the last question asked of an idle worker, or the last answer */
	pid_t gone[TG_WORKER_GONE_MAX]; /* killed, not yet reaped; 0: none */
};

#define TG_WORKER_INIT                                                                             \
	{                                                                                          \
		.fd = -1, .out = TG_BUF_INIT, .in = TG_BUF_INIT, .asked = TG_BUF_INIT              \
	}

/*
 * Kill it, and do not wait: one that hangs in a file system dies when that answers. The next
 * question starts another.
 */
void tg_worker_stop(struct tg_worker *w);
void tg_worker_reap(struct tg_worker *w); /* those who died; at SIGCHLD */

/*
 * Start one when there is none: `exe worker`, or `exe` alone when it is `own`. Returns 0, or -errno
 * with a sentence.
 */
int tg_worker_start(struct tg_worker *w, const char *exe, bool own,
	const struct tg_signals *signals, struct tg_err *err);

/* Ask; starts a worker when there is none. Same result. */
int tg_worker_ask(struct tg_worker *w, const char *exe, bool own, const struct tg_signals *signals,
	const char *json, size_t len, struct tg_err *err);

/*
 * It is gone: put the question to another, when it was an old one that had not read it (it may have
 * left for good reason). What it had read it may have done already: that is asked once. Returns 0;
 * -EPIPE when there is nothing to put again, -errno when none could be started.
 */
int tg_worker_again(
	struct tg_worker *w, const char *exe, bool own, const struct tg_signals *signals);

/* Write what waits to be written. 0 or -EPIPE: it is gone. */
int tg_worker_write(struct tg_worker *w);

/*
 * Take one answer, appended to `out`. Returns 1; 0 when none is whole yet; -EPIPE when it is gone;
 * -EBADMSG for a length that cannot be.
 */
int tg_worker_read(struct tg_worker *w, struct tg_buf *out);

/* When it must have answered or may be let go; INT64_MAX: never. */
int64_t tg_worker_deadline(const struct tg_worker *w);

#endif
