/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/json_scan.h"

#include "base/utf8.h"
#include "import/scan.h"

#include "base/mem.h"

static int skip_blanks(struct tg_json_scan *s)
{
	int c;

	while ((c = tg_bytes_peek(s->bytes)) == ' ' || c == '\t' || c == '\n' || c == '\r' ||
		c == ',' || c == ':')
		tg_bytes_next(s->bytes);
	return c;
}

static void add(struct tg_json_scan *s, size_t *n, const char *bytes, size_t len)
{
	if (*n + len < sizeof(s->text)) {
		memcpy(s->text + *n, bytes, len);
		*n += len;
	}
}

/* Behind "\u": four digits. A surrogate becomes '?', and a pair of them two. */
static void add_unicode(struct tg_json_scan *s, size_t *n)
{
	uint32_t cp = 0;
	char utf8[4];

	for (int i = 0; i < 4; i++) {
		int c = tg_bytes_next(s->bytes) | 0x20;

		cp = cp * 16 +
		     (uint32_t)(tg_scan_is_digit((char)c) ? c - '0' : (c - 'a' + 10) & 15);
	}
	if (cp < 0x20 || (cp >= 0xd800 && cp < 0xe000))
		cp = '?';
	add(s, n, utf8, tg_utf8_encode(cp, utf8));
}

/* The quote was taken. False: the log ends in it. */
static bool take_string(struct tg_json_scan *s)
{
	size_t n = 0;
	int c;

	while ((c = tg_bytes_next(s->bytes)) >= 0 && c != '"') {
		char byte = (char)c;

		if (c == '\\') {
			c = tg_bytes_next(s->bytes);
			if (c == 'u') {
				add_unicode(s, &n);
				continue;
			}
			byte = c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f' ? ' '
											: (char)c;
		}
		add(s, &n, &byte, 1);
	}
	s->text[n] = '\0';
	return c == '"';
}

static void take_word(struct tg_json_scan *s)
{
	size_t n = 0;
	int c;

	while ((c = tg_bytes_peek(s->bytes)) > ' ' && !strchr(",:{}[]\"", c)) {
		char byte = (char)tg_bytes_next(s->bytes);

		add(s, &n, &byte, 1);
	}
	s->text[n] = '\0';
}

static enum tg_json_token nest(struct tg_json_scan *s, int c)
{
	tg_bytes_next(s->bytes);
	s->depth += c == '{' || c == '[' ? 1 : -1;
	if (s->depth < 0 || s->depth > TG_JSON_SCAN_DEPTH) {
		s->bad = true;
		return TG_JSON_END;
	}
	return c == '{'   ? TG_JSON_OPEN
	       : c == '[' ? TG_JSON_OPEN_LIST
	       : c == '}' ? TG_JSON_CLOSE
			  : TG_JSON_CLOSE_LIST;
}

static enum tg_json_token next_string(struct tg_json_scan *s)
{
	int c;

	tg_bytes_next(s->bytes);
	if (!take_string(s)) {
		s->bad = true;
		return TG_JSON_END;
	}
	while ((c = tg_bytes_peek(s->bytes)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		tg_bytes_next(s->bytes);
	return c == ':' ? TG_JSON_KEY : TG_JSON_STRING;
}

enum tg_json_token tg_json_scan_next(struct tg_json_scan *s)
{
	int c = skip_blanks(s);
	const char *end;

	if (s->bad)
		return TG_JSON_END;
	if (c < 0) {
		s->bad = s->depth > 0;
		return TG_JSON_END;
	}
	if (strchr("{}[]", c) && c)
		return nest(s, c);
	if (c == '"')
		return next_string(s);
	take_word(s);
	end = tg_scan_number(s->text, &s->number);
	if (end && !*end)
		return TG_JSON_NUMBER;
	if (s->text[0])
		return TG_JSON_WORD;
	s->bad = true; /* a control character */
	return TG_JSON_END;
}

void tg_json_scan_leave(struct tg_json_scan *s, int depth)
{
	while (s->depth >= depth && tg_json_scan_next(s) != TG_JSON_END)
		;
}
