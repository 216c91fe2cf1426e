/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer half of json.h. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/utf8.h"

#include "base/mem.h"

void tg_jw_init(struct tg_jw *w, struct tg_buf *out)
{
	*w = (struct tg_jw){ .out = out };
}

/* The comma before a value or key, where one is due. */
static void separate(struct tg_jw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->some[w->depth])
		tg_buf_addc(w->out, ',');
	w->some[w->depth] = true;
}

static void begin(struct tg_jw *w, char c)
{
	separate(w);
	tg_buf_addc(w->out, c);
	assert(w->depth + 1 < TG_JSON_DEPTH);
	w->some[++w->depth] = false;
}

static void end(struct tg_jw *w, char c)
{
	assert(w->depth > 0 && !w->after_key);
	w->depth--;
	tg_buf_addc(w->out, c);
}

void tg_jw_begin_object(struct tg_jw *w)
{
	begin(w, '{');
}

void tg_jw_end_object(struct tg_jw *w)
{
	end(w, '}');
}

void tg_jw_begin_array(struct tg_jw *w)
{
	begin(w, '[');
}

void tg_jw_end_array(struct tg_jw *w)
{
	end(w, ']');
}

void tg_jw_key(struct tg_jw *w, const char *key)
{
	separate(w);
	tg_json_quote(w->out, key, strlen(key));
	tg_buf_addc(w->out, ':');
	w->after_key = true;
}

typedef size_t decoder(const char *s, size_t len, uint32_t *cp);

static void quote(struct tg_buf *out, const char *s, size_t len, decoder *decode)
{
	static const char special[] = "\"\\\b\f\n\r\t";
	static const char letter[] = "\"\\bfnrt";

	tg_buf_addc(out, '"');
	for (size_t i = 0; i < len;) {
		size_t run = i;
		const char *found;
		uint32_t cp;
		size_t n;

		while (run < len && s[run] >= 0x20 && s[run] < 0x7f && s[run] != '"' &&
			s[run] != '\\')
			run++;
		tg_buf_add(out, s + i, run - i);
		i = run;
		if (i == len)
			break;
		found = s[i] ? strchr(special, s[i]) : NULL;
		if (found) {
			tg_buf_addc(out, '\\');
			tg_buf_addc(out, letter[found - special]);
			i++;
			continue;
		}
		n = decode(s + i, len - i, &cp);
		if (n == 0) {
			cp = 0xfffd;
			n = 1;
		}
		if (cp >= 0x10000)
			tg_buf_addf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (cp >> 10),
				0xdc00 + (cp & 0x3ff));
		else
			tg_buf_addf(out, "\\u%04" PRIx32, cp);
		i += n;
	}
	tg_buf_addc(out, '"');
}

void tg_json_quote(struct tg_buf *out, const char *s, size_t len)
{
	quote(out, s, len, tg_utf8_decode);
}

void tg_json_quote_lax(struct tg_buf *out, const char *s, size_t len)
{
	quote(out, s, len, tg_utf8_decode_lax);
}

void tg_jw_strn(struct tg_jw *w, const char *s, size_t len)
{
	separate(w);
	tg_json_quote(w->out, s, len);
}

void tg_jw_str(struct tg_jw *w, const char *s)
{
	if (s)
		tg_jw_strn(w, s, strlen(s));
	else
		tg_jw_null(w);
}

void tg_jw_int(struct tg_jw *w, int64_t v)
{
	separate(w);
	tg_buf_addf(w->out, "%" PRId64, v);
}

void tg_jw_num(struct tg_jw *w, double v)
{
	char text[32];

	if (!isfinite(v)) {
		tg_jw_null(w);
		return;
	}
	separate(w);
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	tg_buf_adds(w->out, text);
}

void tg_jw_fixed(struct tg_jw *w, double v, int decimals)
{
	size_t start;

	if (!isfinite(v)) {
		tg_jw_null(w);
		return;
	}
	separate(w);
	start = w->out->len;
	tg_buf_addf(w->out, "%.*f", decimals, v);
	if (!memchr(w->out->data + start, '.', w->out->len - start))
		return;
	while (w->out->data[w->out->len - 1] == '0')
		w->out->len--;
	if (w->out->data[w->out->len - 1] == '.')
		w->out->len--;
	if (w->out->len - start == 2 && !memcmp(w->out->data + start, "-0", 2))
		tg_buf_splice(w->out, start, 1, NULL, 0);
	w->out->data[w->out->len] = '\0';
}

void tg_jw_bool(struct tg_jw *w, bool v)
{
	separate(w);
	tg_buf_adds(w->out, v ? "true" : "false");
}

void tg_jw_null(struct tg_jw *w)
{
	separate(w);
	tg_buf_adds(w->out, "null");
}

void tg_jw_raw(struct tg_jw *w, const char *json, size_t len)
{
	separate(w);
	tg_buf_add(w->out, json, len);
}

void tg_jw_kstr(struct tg_jw *w, const char *key, const char *s)
{
	tg_jw_key(w, key);
	tg_jw_str(w, s);
}

void tg_jw_kint(struct tg_jw *w, const char *key, int64_t v)
{
	tg_jw_key(w, key);
	tg_jw_int(w, v);
}

void tg_jw_knum(struct tg_jw *w, const char *key, double v)
{
	tg_jw_key(w, key);
	tg_jw_num(w, v);
}

void tg_jw_kbool(struct tg_jw *w, const char *key, bool v)
{
	tg_jw_key(w, key);
	tg_jw_bool(w, v);
}
