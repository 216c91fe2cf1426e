/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What we add to the completions of the user's kernel, and say in its place about our magics. It is
 * asked all the same, so that replies and states keep its order, and what it offers stays byte for
 * byte. Pure functions; state.h has what the messages go through.
 */
#ifndef TG_JUPYTER_COMPLETE_H
#define TG_JUPYTER_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "jupyter/offer.h"
#include "jupyter/scan.h"

/*
 * Append the content of the reply with our matches in it. `code` is what was to be completed.
 * False, and nothing is appended, when the reply goes on as it is.
 */
bool tg_complete_merge(const char *code, const struct tg_offer *offer, struct tg_bytes content,
	struct tg_buf *out);

/* Append the content of an inspect_reply that says `text`. */
void tg_complete_inspected(const struct tg_buf *text, struct tg_buf *out);

/* The byte at which the code point number `n` begins, `len` at most; and the other way round. */
size_t tg_complete_byte(const char *code, size_t len, int64_t n);
int64_t tg_complete_point(const char *code, size_t at);

#endif
