/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What we know about the place where a cursor is: the names that may stand there, and what is to be
 * said about the one that does. Only lines that are ours or may become ours (mark/magics.h); what
 * stands in the words' usage (mark/words.h) is what is offered. Places are bytes of the code.
 */
#ifndef TG_JUPYTER_OFFER_H
#define TG_JUPYTER_OFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct tg_offer {
	size_t start, end; /* what a match takes the place of; `end` is the cursor */
	bool alone; /* the line is ours: what others offer here is no use */
	struct tg_buf match; /* `n` strings, each with its NUL */
	size_t n;
};

/*
 * Whether something may be offered with the cursor at `at` <= `len`; there may be no match. `out`
 * is initialised in any case; release out->match.
 */
bool tg_offer(const char *code, size_t len, size_t at, struct tg_offer *out);

/* Append what is said about what the cursor is on. False: it is nothing of ours. */
bool tg_explain(const char *code, size_t len, size_t at, struct tg_buf *out);

#endif
