/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks into JSON of Jupyter messages without taking it apart: finds the bytes of a member, reads
 * and writes strings, splices. Messages are never re-serialised, since they may hold what parsers
 * refuse or change: lone surrogates, 1e400, 0.1, integers of 30 digits. It does not validate; what
 * it cannot follow it reports as not found, and the message goes on as it came.
 *
 * Decoded strings are UTF-8 in which a lone surrogate is three bytes (ED A0 80 … ED BF BF) and a
 * NUL is a NUL: nothing is lost between tg_jscan_string and tg_json_quote_lax.
 */
#ifndef TG_JUPYTER_SCAN_H
#define TG_JUPYTER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Bytes of one value within a text; `at` is NULL when it was not found. Borrowed. */
struct tg_bytes {
	const char *at;
	size_t len;
};

/* The value of a top-level member of an object; of the last one when there are several. */
struct tg_bytes tg_jscan_member(const char *json, size_t len, const char *name);

/* The element of an array that follows `prev` (first when prev.at is NULL). */
struct tg_bytes tg_jscan_next(struct tg_bytes array, struct tg_bytes prev);

/* Whether the span is the string `s`, written in any way; `s` is short ASCII. */
bool tg_jscan_is(struct tg_bytes v, const char *s);

/* Whether the span is the literal ("true", "false", "null"). */
bool tg_jscan_literal(struct tg_bytes v, const char *literal);

/* An integer; `otherwise` for anything else. */
int64_t tg_jscan_int(struct tg_bytes v, int64_t otherwise);

/* Append the decoded string to `out`. Returns 0, or -EBADMSG with `out` as it was. */
int tg_jscan_string(struct tg_bytes v, struct tg_buf *out);

/* Append `json` with the bytes of `v`, which lies in it, replaced by `value`. */
void tg_jscan_splice(const char *json, size_t len, struct tg_bytes v, const char *value,
	size_t value_len, struct tg_buf *out);

#endif
