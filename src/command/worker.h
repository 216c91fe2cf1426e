/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker: answers the requests of the proxy on a stream socket, as ARCHITECTURE.md ("The
 * worker's protocol") has them. One request at a time, in order; nothing that a request holds can
 * make it do more than answer.
 *
 * A request holds the settings of mark/setting.h under their keys, and in "from" where each that is
 * no default comes from. An answer holds those that `%tacho set` changed; null takes one back.
 */
#ifndef TG_COMMAND_WORKER_H
#define TG_COMMAND_WORKER_H

#include <stddef.h>

#include "base/buf.h"
#include "command/command.h"

#define TG_WORKER_MESSAGE_MAX (64u << 20) /* bytes of a request or an answer */
#define TG_WORKER_IDLE_MS     120000 /* the proxy, which is there, lets it go before */

/* What only the layer above knows; all may be NULL. */
struct tg_worker_host {
	int (*load_sources)(struct tg_command *c);
	void (*free_sources)(struct tg_command *c);
};

/* Serve `fd` until its other end closes or nothing came for `idle_ms`. 0 or -errno. */
int tg_worker_serve(const struct tg_worker_host *host, int fd, int idle_ms);

/*
 * Answer one request (a JSON object of `len` bytes): the answer's JSON is appended to `out`. Never
 * fails: what is wrong with a request is said in its answer. Takes at most some seconds.
 */
void tg_worker_answer(
	const struct tg_worker_host *host, const char *request, size_t len, struct tg_buf *out);

#endif
