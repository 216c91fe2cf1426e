/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that were taken but may not go out yet, in order: one that waits for the worker's answer
 * to its request, and what came behind it on the same channel. Mostly empty: then nothing waits
 * and messages pass by it.
 */
#ifndef TG_JUPYTER_OUTBOX_H
#define TG_JUPYTER_OUTBOX_H

#include <stddef.h>

#include "jupyter/msg.h"
#include "jupyter/request.h"

#define TG_OUTBOX_MAX 10000 /* then the channel is not read for a while */

struct tg_outbox {
	struct tg_outbox_entry {
		struct tg_msg msg;
		struct tg_request *of; /* waits for this one; NULL: for those before it only */
	} * entry;
	size_t n, cap;
};

void tg_outbox_release(struct tg_outbox *o);

/* Add what `m` holds at the end; `of` is pinned until tg_outbox_let. */
void tg_outbox_add(struct tg_outbox *o, struct tg_msg *m, struct tg_request *of);

/* Add it before the message that waits for `r`; at the end when there is none. */
void tg_outbox_insert(struct tg_outbox *o, struct tg_msg *m, const struct tg_request *r);

/* What waits for `r` does not any more. */
void tg_outbox_let(struct tg_outbox *o, struct tg_request *r);

/* Send what does not wait. */
void tg_outbox_flush(struct tg_outbox *o, void *socket);

#endif
