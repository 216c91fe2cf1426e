/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that wait for their reply or for the idle status behind it, oldest first. They are
 * kept so that each can be answered when the user's kernel dies, and carry what a cell or a magic
 * needs meanwhile. Entries are used again: nothing is allocated once their buffers have grown.
 */
#ifndef TG_JUPYTER_REQUEST_H
#define TG_JUPYTER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "jupyter/conn.h"
#include "jupyter/magic.h"
#include "jupyter/msg.h"

#define TG_REQUESTS_MAX   10000 /* then shell is not read for a while */
#define TG_REQUESTS_SPARE 1000 /* beyond it, for control: interrupts must pass */

/* What a cell is to us. */
enum tg_cell_kind {
	TG_CELL_NONE, /* silent, or no cell */
	TG_CELL_CODE, /* recorded */
	TG_CELL_MAGIC, /* all of it is ours: not recorded */
};

struct tg_request {
	struct tg_request *next;
	enum tg_channel channel;
	struct tg_buf msg_id, type, subshell; /* decoded */
	struct tg_buf header; /* its bytes: the parent of what we send */
	struct tg_msg ids; /* its identity frames */
	bool replied, idle;
	unsigned pinned; /* messages of it that are kept back: must not be forgotten */

	/* cells: "execute_request" on shell */
	enum tg_cell_kind kind;
	bool silent;
	bool store; /* store_history */
	bool started; /* its execute_input went by */
	bool failed; /* an error went by */
	struct tg_buf code; /* decoded, as the user wrote it */
	bool untold; /* its beginning was lost on the way to the recorder */
	bool begun, ended; /* span */
	bool prepared; /* a worker was started for what it may print */
	uint64_t span;
	int64_t begin_ns, end_ns; /* monotonic */
	int64_t count; /* execution count; -1: unknown */
	const char *status; /* "ok", "error", "aborted", "died"; NULL: not known yet */

	size_t cursor; /* complete_request, inspect_request: a byte of `code` */

	/* magics, and what the worker is asked for */
	struct tg_magic magic;
	bool answer_due; /* the reply waits for the worker's answer, or for a sentence of ours */
	int64_t question; /* number of the question that the worker has; 0: none */
	bool wanted; /* by the cell itself, not by the settings: its failure is told */
	int64_t release_ns; /* when the idle goes on without an answer; 0: at the answer */
	struct tg_buf fifo; /* from which the user's kernel reads a variable; "": none */
	int64_t fifo_ns; /* when we write it ourselves; 0: not */
};

struct tg_requests {
	struct tg_request *first, *last, *spare;
	size_t n;
};

void tg_requests_release(struct tg_requests *q);

/* Whether one more of that channel may be read. */
bool tg_requests_room(const struct tg_requests *q, enum tg_channel channel);

/*
 * Add the request in `m`, whose header it keeps. Never NULL. When there are TG_REQUESTS_MAX, the
 * oldest one that was replied to is forgotten, since some kernels never say idle; one that waits
 * for its reply is not.
 */
struct tg_request *tg_requests_add(
	struct tg_requests *q, const struct tg_msg *m, enum tg_channel channel);

/* The request with that msg_id (a JSON string), or NULL. */
struct tg_request *tg_requests_find(const struct tg_requests *q, struct tg_bytes msg_id);

/* Give back what entries that are not in use have kept. */
void tg_requests_trim(struct tg_requests *q);

void tg_requests_remove(struct tg_requests *q, struct tg_request *r);

bool tg_request_is(const struct tg_request *r, const char *type);

#endif
