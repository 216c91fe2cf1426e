/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON: a reader for our own files and messages, and a streaming writer without a tree.
 *
 * The reader (jansson behind an opaque type) is strict: UTF-8, no NaN, depth bounded. Lone
 * surrogates, which Python and front ends write, become U+FFFD. Messages of Jupyter clients do not
 * go through it whole: they may hold what it refuses or changes (1e400) and are passed on as bytes,
 * see jupyter/scan.h.
 *
 * The writer appends to a tg_buf. Commas, quoting and escaping are its business; output is pure
 * ASCII. Bytes that are no UTF-8 become U+FFFD, so that any name in the world can be written.
 */
#ifndef TG_BASE_JSON_H
#define TG_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* ---- reader ---- */

struct tg_json; /* any JSON value; borrowed pointers live as long as the root */

/* Parse one whole value. Returns NULL with a sentence on bad input. Caller frees the root. */
struct tg_json *tg_json_parse(const char *data, size_t len, struct tg_err *err);
void tg_json_free(struct tg_json *root);

bool tg_json_is_object(const struct tg_json *v);
bool tg_json_is_null(const struct tg_json *v);

/* Member of an object; NULL when `v` is NULL, no object, or lacks it. Borrowed. */
const struct tg_json *tg_json_get(const struct tg_json *v, const char *key);

/* Elements of an array; 0 and NULL for anything else. Borrowed. */
size_t tg_json_len(const struct tg_json *v);
const struct tg_json *tg_json_at(const struct tg_json *v, size_t i);

/* Members of an object in file order: next after `prev` (NULL: first), NULL at the end. */
const char *tg_json_next_key(const struct tg_json *v, const char *prev);

/* The value itself, or `otherwise` when `v` is NULL or of another type. Strings are borrowed. */
const char *tg_json_str(const struct tg_json *v, const char *otherwise);
size_t tg_json_str_len(const struct tg_json *v); /* in bytes; 0 when it is no string */
int64_t tg_json_int(const struct tg_json *v, int64_t otherwise); /* reals are refused */
double tg_json_num(const struct tg_json *v, double otherwise);
bool tg_json_bool(const struct tg_json *v, bool otherwise);

/* Append `v` as compact JSON. */
void tg_json_dump(const struct tg_json *v, struct tg_buf *out);

/* ---- writer ---- */

#define TG_JSON_DEPTH 32

struct tg_jw {
	struct tg_buf *out;
	int depth;
	bool some[TG_JSON_DEPTH]; /* something was written at this depth */
	bool after_key;
};

void tg_jw_init(struct tg_jw *w, struct tg_buf *out);

void tg_jw_begin_object(struct tg_jw *w);
void tg_jw_end_object(struct tg_jw *w);
void tg_jw_begin_array(struct tg_jw *w);
void tg_jw_end_array(struct tg_jw *w);
void tg_jw_key(struct tg_jw *w, const char *key);

void tg_jw_str(struct tg_jw *w, const char *s);
void tg_jw_strn(struct tg_jw *w, const char *s, size_t len);
void tg_jw_int(struct tg_jw *w, int64_t v);
void tg_jw_num(struct tg_jw *w, double v); /* shortest that reads back; NaN and Inf are null */
void tg_jw_fixed(struct tg_jw *w, double v, int decimals); /* rounded, no trailing zeros */
void tg_jw_bool(struct tg_jw *w, bool v);
void tg_jw_null(struct tg_jw *w);
void tg_jw_raw(struct tg_jw *w, const char *json, size_t len); /* must be one JSON value */

/* key and value in one call */
void tg_jw_kstr(struct tg_jw *w, const char *key, const char *s);
void tg_jw_kint(struct tg_jw *w, const char *key, int64_t v);
void tg_jw_knum(struct tg_jw *w, const char *key, double v);
void tg_jw_kbool(struct tg_jw *w, const char *key, bool v);

/* Append `s` quoted and escaped, on its own. */
void tg_json_quote(struct tg_buf *out, const char *s, size_t len);

/* The same where lone surrogates (three bytes each) stay what they are. */
void tg_json_quote_lax(struct tg_buf *out, const char *s, size_t len);

#endif
