/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader half of json.h. The only file that knows jansson. */
#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>

#include "base/mem.h"

#define ESCAPE 6l /* bytes of \ud800 */

enum half { NEITHER, HIGH, LOW };

static const json_t *in(const struct tg_json *v)
{
	return (const json_t *)v;
}

static const struct tg_json *out_of(const json_t *v)
{
	return (const struct tg_json *)v;
}

/* Which half of a pair is escaped here. */
static enum half half(const char *p, const char *end)
{
	if (end - p < ESCAPE || p[0] != '\\' || p[1] != 'u' || (p[2] | 0x20) != 'd' ||
		!isxdigit((unsigned char)p[4]) || !isxdigit((unsigned char)p[5]))
		return NEITHER;
	if (strchr("89aAbB", p[3]))
		return p[3] ? HIGH : NEITHER;
	return isxdigit((unsigned char)p[3]) && p[3] > '7' ? LOW : NEITHER;
}

/*
 * Put U+FFFD, as long as they are, in the place of escaped surrogates without a partner. Python
 * writes them for names that are no UTF-8, front ends where text was cut between the two, and
 * jansson refuses the whole text for one.
 */
static void mend(char *p, const char *end)
{
	while (p < end) {
		enum half here = half(p, end);

		if (*p != '\\') {
			p++;
		} else if (here == NEITHER) {
			p += 2; /* what is escaped is no backslash of an escape */
		} else if (here == HIGH && half(p + ESCAPE, end) == LOW) {
			p += 2 * ESCAPE;
		} else {
			memcpy(p + 2, "fffd", 4);
			p += ESCAPE;
		}
	}
}

struct tg_json *tg_json_parse(const char *data, size_t len, struct tg_err *err)
{
	struct tg_buf mended = TG_BUF_INIT;
	json_error_t why;
	json_t *v;

	if (memmem(data, len, "\\ud", 3) || memmem(data, len, "\\uD", 3)) {
		tg_buf_add(&mended, data, len);
		mend(mended.data, mended.data + mended.len);
		data = mended.data;
	}
	v = json_loadb(data, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
	tg_buf_release(&mended);
	if (!v)
		tg_err_set(err, -EBADMSG, "not valid JSON: %s (line %d)", why.text, why.line);
	return (struct tg_json *)v;
}

void tg_json_free(struct tg_json *root)
{
	json_decref((json_t *)root);
}

bool tg_json_is_object(const struct tg_json *v)
{
	return json_is_object(in(v));
}

bool tg_json_is_null(const struct tg_json *v)
{
	return json_is_null(in(v));
}

const struct tg_json *tg_json_get(const struct tg_json *v, const char *key)
{
	return out_of(json_object_get(in(v), key));
}

size_t tg_json_len(const struct tg_json *v)
{
	return json_array_size(in(v));
}

const struct tg_json *tg_json_at(const struct tg_json *v, size_t i)
{
	return out_of(json_array_get(in(v), i));
}

const char *tg_json_next_key(const struct tg_json *v, const char *prev)
{
	json_t *object = (json_t *)(uintptr_t)v;
	void *at;

	if (!json_is_object(object))
		return NULL;
	at = prev ? json_object_iter_next(object, json_object_iter_at(object, prev))
		  : json_object_iter(object);
	return at ? json_object_iter_key(at) : NULL;
}

const char *tg_json_str(const struct tg_json *v, const char *otherwise)
{
	return json_is_string(in(v)) ? json_string_value(in(v)) : otherwise;
}

size_t tg_json_str_len(const struct tg_json *v)
{
	return json_string_length(in(v));
}

int64_t tg_json_int(const struct tg_json *v, int64_t otherwise)
{
	return json_is_integer(in(v)) ? (int64_t)json_integer_value(in(v)) : otherwise;
}

double tg_json_num(const struct tg_json *v, double otherwise)
{
	return json_is_number(in(v)) ? json_number_value(in(v)) : otherwise;
}

bool tg_json_bool(const struct tg_json *v, bool otherwise)
{
	return json_is_boolean(in(v)) ? json_is_true(in(v)) : otherwise;
}

static int append(const char *data, size_t len, void *ctx)
{
	tg_buf_add(ctx, data, len);
	return 0;
}

void tg_json_dump(const struct tg_json *v, struct tg_buf *out)
{
	json_dump_callback(in(v), append, out,
		JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY | JSON_REAL_PRECISION(16));
}
