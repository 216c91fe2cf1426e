/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was published on iopub and not yet taken by every client, in bytes, and what is done when
 * it is too much: clients that stopped reading are disconnected, then the slowest one. libzmq
 * counts messages alone, of which one can have 100 MB, and does not tell whom it drops them for.
 * A client that reads is never waited for, and loses nothing before TG_BACKLOG_MOST wait for it.
 */
#ifndef TG_JUPYTER_BACKLOG_H
#define TG_JUPYTER_BACKLOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "jupyter/conn.h"
#include "jupyter/msg.h"

#define TG_BACKLOG_MUCH     ((size_t)128 << 20) /* bytes: who reads nothing is disconnected */
#define TG_BACKLOG_MOST     ((size_t)1 << 30) /* bytes: the slowest is disconnected */
#define TG_BACKLOG_STUCK_NS INT64_C(5000000000) /* without a byte taken: reads nothing */
#define TG_BACKLOG_PEERS    256 /* connections looked at */

struct tg_backlog {
	/* changed by the thread of libzmq that sent a message, too */
	_Atomic size_t bytes, messages; /* that wait */
	_Atomic size_t bytes_of[2], messages_of[2]; /* those published before and since a cut */
	_Atomic size_t freed; /* bytes let go; its user resets it */

	struct tg_backlog_peer {
		ino_t inode; /* of its socket */
		uint64_t taken; /* bytes, or another number that changes when it takes some */
		uint64_t moved; /* by how much since the last look */
		int64_t since_ns; /* that it has not changed */
		bool waits; /* there are bytes for it */
		bool seen, fresh;
	} * peer;
	size_t n_peers;
	int64_t look_ns; /* the next look at the clients; 0: there is no reason to look */

	unsigned now_of; /* which of them is counted in */
	unsigned cut; /* clients disconnected at the last look */
	size_t bytes_then, messages_then; /* that waited when that was done */

	unsigned lost_clients; /* disconnected, and what was dropped with them, since it was told */
	size_t lost_messages, lost_bytes;
};

/* All zero is empty. Release it after zmq_ctx_term, when nothing waits any more. */
void tg_backlog_release(struct tg_backlog *b);

/* Count a message from now on until libzmq has let go of it. `b` must not move meanwhile. */
void tg_backlog_add(struct tg_backlog *b, struct tg_msg *m);

/* Look after it, at the end of each turn; `conn` says which connections are clients of iopub. */
void tg_backlog_tick(struct tg_backlog *b, const struct tg_conn *conn);
int64_t tg_backlog_deadline(const struct tg_backlog *b); /* of the next one; INT64_MAX: none */

/* Append a line for the user when clients were disconnected since the last time; whether it did. */
bool tg_backlog_tell(struct tg_backlog *b, struct tg_buf *out);

#endif
