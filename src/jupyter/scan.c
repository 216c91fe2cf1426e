/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/scan.h"

#include <errno.h>

#include "base/utf8.h"

#include "base/mem.h"

static const struct tg_bytes nothing;

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* From an opening quote to behind the closing one; NULL when there is none. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '\\' && end - p > 1)
			p++;
		else if (*p == '"')
			return p + 1;
	}
	return NULL;
}

/* Behind the value at `p`. Brackets are counted, not matched: we look, we do not validate. */
static const char *skip_value(const char *p, const char *end)
{
	const char *start = p;
	size_t depth = 0;

	while (p < end) {
		switch (*p) {
		case '"':
			p = skip_string(p, end);
			if (!p)
				return NULL;
			break;
		case '{':
		case '[':
			depth++;
			p++;
			break;
		case '}':
		case ']':
			if (!depth)
				return p > start ? p : NULL;
			depth--;
			p++;
			break;
		case ',':
		case ':':
		case ' ':
		case '\t':
		case '\n':
		case '\r':
			if (!depth)
				return p > start ? p : NULL;
			p++;
			continue;
		default:
			p++;
			/* within a number or literal: it ends where a delimiter begins */
			if (!depth && p < end && !memchr(",:]} \t\r\n\"{[", *p, 11))
				continue;
			break;
		}
		if (!depth)
			return p;
	}
	return depth || p == start ? NULL : p;
}

struct tg_bytes tg_jscan_member(const char *json, size_t len, const char *name)
{
	const char *end = json + len, *p = skip_blank(json, end);
	struct tg_bytes found = nothing;

	if (p == end || *p != '{')
		return nothing;
	for (p = skip_blank(p + 1, end); p < end && *p == '"';) {
		struct tg_bytes key = { p, 0 };
		const char *value;

		p = skip_string(p, end);
		if (!p)
			return nothing;
		key.len = (size_t)(p - key.at);
		p = skip_blank(p, end);
		if (p == end || *p != ':')
			return nothing;
		value = skip_blank(p + 1, end);
		p = skip_value(value, end);
		if (!p)
			return nothing;
		if (tg_jscan_is(key, name))
			found = (struct tg_bytes){ value, (size_t)(p - value) };
		p = skip_blank(p, end);
		if (p < end && *p == '}')
			return found;
		if (p == end || *p != ',')
			return nothing;
		p = skip_blank(p + 1, end);
	}
	return nothing;
}

struct tg_bytes tg_jscan_next(struct tg_bytes array, struct tg_bytes prev)
{
	const char *end, *p, *value;

	if (!array.at || !array.len || array.at[0] != '[')
		return nothing;
	end = array.at + array.len;
	p = skip_blank(prev.at ? prev.at + prev.len : array.at + 1, end);
	if (prev.at) {
		if (p == end || *p != ',')
			return nothing;
		p = skip_blank(p + 1, end);
	}
	value = p;
	p = skip_value(value, end);
	return p ? (struct tg_bytes){ value, (size_t)(p - value) } : nothing;
}

static int hex4(const char *p, const char *end, uint32_t *out)
{
	*out = 0;
	if (end - p < 4)
		return -EBADMSG;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		uint32_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (uint32_t)((c | 32) - 'a' + 10);
		else
			return -EBADMSG;
		*out = *out << 4 | digit;
	}
	return 0;
}

/* Decode the escape behind a backslash at `p`. Returns behind it, or NULL. */
static const char *escape(const char *p, const char *end, struct tg_buf *out)
{
	static const char letter[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	uint32_t cp, low;
	const char *found;
	char utf8[4];

	if (p == end)
		return NULL;
	if (*p != 'u') {
		found = *p ? strchr(letter, *p) : NULL;
		if (!found)
			return NULL;
		tg_buf_addc(out, meant[found - letter]);
		return p + 1;
	}
	if (hex4(p + 1, end, &cp))
		return NULL;
	p += 5;
	if (cp >= 0xd800 && cp < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
		!hex4(p + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
		cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
		p += 6;
	}
	tg_buf_add(out, utf8, tg_utf8_encode(cp, utf8));
	return p;
}

int tg_jscan_string(struct tg_bytes v, struct tg_buf *out)
{
	size_t before = out->len;
	const char *p, *end;

	if (!v.at || v.len < 2 || v.at[0] != '"' || v.at[v.len - 1] != '"')
		return -EBADMSG;
	end = v.at + v.len - 1;
	for (p = v.at + 1; p && p < end;) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));

		tg_buf_add(out, p, (size_t)((stop ? stop : end) - p));
		p = stop ? escape(stop + 1, end, out) : end;
	}
	if (p)
		return 0;
	out->len = before;
	out->data[before] = '\0';
	return -EBADMSG;
}

bool tg_jscan_is(struct tg_bytes v, const char *s)
{
	size_t len = strlen(s);
	struct tg_buf text = TG_BUF_INIT;
	bool same;

	if (!v.at || v.len < 2 || v.at[0] != '"')
		return false;
	if (!memchr(v.at, '\\', v.len))
		return v.len == len + 2 && !memcmp(v.at + 1, s, len);
	if (v.len > 6 * len + 2) /* longer than every character written as \u0000 */
		return false;
	same = !tg_jscan_string(v, &text) && text.len == len && !memcmp(text.data, s, len);
	tg_buf_release(&text);
	return same;
}

bool tg_jscan_literal(struct tg_bytes v, const char *literal)
{
	return v.at && v.len == strlen(literal) && !memcmp(v.at, literal, v.len);
}

int64_t tg_jscan_int(struct tg_bytes v, int64_t otherwise)
{
	bool negative = v.at && v.len && v.at[0] == '-';
	size_t i = negative ? 1 : 0;
	int64_t n = 0;

	if (!v.at || v.len == i || v.len - i > 18)
		return otherwise;
	for (; i < v.len; i++) {
		if (v.at[i] < '0' || v.at[i] > '9')
			return otherwise;
		n = n * 10 + (v.at[i] - '0');
	}
	return negative ? -n : n;
}

void tg_jscan_splice(const char *json, size_t len, struct tg_bytes v, const char *value,
	size_t value_len, struct tg_buf *out)
{
	size_t at = (size_t)(v.at - json);

	tg_buf_add(out, json, at);
	tg_buf_add(out, value, value_len);
	tg_buf_add(out, v.at + v.len, len - at - v.len);
}
