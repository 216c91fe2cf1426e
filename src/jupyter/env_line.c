/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/env_line.h"

#include "base/lines.h"

#include "base/mem.h"

static size_t blanks(const char *code, size_t at, size_t end)
{
	while (at < end && (tg_text_blank(code[at]) || code[at] == '\r'))
		at++;
	return at;
}

static size_t trim(const char *code, size_t at, size_t end)
{
	while (end > at && (tg_text_blank(code[end - 1]) || code[end - 1] == '\r'))
		end--;
	return end;
}

/* Follow strings, brackets and comments through a line of code. */
static void follow(struct tg_env_lines *l, size_t at, size_t end)
{
	const char *s = l->code;

	l->joined = false;
	for (; at < end; at++) {
		bool three = at + 2 < end && s[at] == s[at + 1] && s[at] == s[at + 2];

		if (s[at] == '\\') {
			l->joined = ++at >= end;
		} else if (l->quote) {
			if (s[at] == l->quote && (!l->triple || three)) {
				at += l->triple ? 2 : 0;
				l->quote = '\0';
			}
		} else if (s[at] == '"' || s[at] == '\'') {
			l->quote = s[at];
			l->triple = three;
			at += three ? 2 : 0;
		} else if (s[at] == '#') {
			break;
		} else if (strchr("([{", s[at]) && s[at]) {
			l->depth++;
		} else if (strchr(")]}", s[at]) && s[at] && l->depth) {
			l->depth--;
		}
	}
	if (!l->triple && !l->joined)
		l->quote = '\0'; /* an error of Python's, which ends with its line */
}

/* `%env JUMPER_REPORT_FREQUENCY=0.5`; `%` may be missing where IPython needs none */
static bool read_line(const char *code, size_t at, size_t end, bool bare, struct tg_env_line *out)
{
	size_t stop, name_end;

	if (at < end && code[at] == '%')
		at++;
	else if (!bare)
		return false;
	if (end - at > 4 && !memcmp(code + at, "env ", 4))
		at += 4;
	else if (end - at > 8 && !memcmp(code + at, "set_env ", 8))
		at += 8;
	else
		return false;
	end = trim(code, at, end);
	if (memchr(code + at, '=', end - at))
		stop = (size_t)((const char *)memchr(code + at, '=', end - at) - code);
	else if (memchr(code + at, ' ', end - at))
		stop = (size_t)((const char *)memchr(code + at, ' ', end - at) - code);
	else
		return false; /* `%env NAME` prints it */
	if (code[stop] == '=')
		at = blanks(code, at, stop);
	name_end = trim(code, at, stop); /* empty in `%env  A 1`, which IPython cuts likewise */
	for (size_t i = at; i < name_end; i++)
		if (tg_text_blank(code[i]))
			return false; /* IPython refuses `%env A B=1` */
	*out = (struct tg_env_line){ .name = at, .name_len = name_end - at };
	out->value = blanks(code, stop + 1, end);
	out->value_len = end - out->value;
	return out->name_len > 0;
}

/* Whether the rest of a cell below `%%NAME` is run by IPython as a cell is. */
static bool is_transparent(const char *code, size_t at, size_t end)
{
	static const char *const names[] = { "capture", "prun", "time" };
	size_t n = 0;

	while (at + n < end && !tg_text_blank(code[at + n]))
		n++;
	for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && !memcmp(code + at, names[i], n))
			return true;
	return false;
}

/*
 * As IPython: a line of code ends at a newline only, one with a magic at any line break of Unicode;
 * and such breaks count above all code.
 */
bool tg_env_lines_next(struct tg_env_lines *l, struct tg_env_line *out)
{
	while (l->at < l->len) {
		size_t at = l->at, start = blanks(l->code, at, l->len);
		bool inside = l->quote || l->depth || l->joined;
		struct tg_text_line line =
			tg_text_line_at(l->code, l->len, l->code_met ? start : at);
		const char *stop = memchr(l->code + start, '\n', l->len - start);
		bool magic = !inside && start < line.end && l->code[start] == '%';

		if (inside) {
			start = at;
			stop = memchr(l->code + at, '\n', l->len - at);
		}
		if (!inside && !l->code_met &&
			start >= line.end) { /* an empty line above all code */
			l->at = line.next;
			continue;
		}
		if (magic) {
			bool first = !l->some;

			l->some = true;
			l->at = line.next;
			l->joined = l->code[line.end - 1] == '\\';
			if (first && line.end - start > 2 && l->code[start + 1] == '%' &&
				!is_transparent(l->code, start + 2, line.end))
				l->at = l->len;
			else if (read_line(l->code, start, line.end, false, out))
				return true;
			continue;
		}
		l->at = stop ? (size_t)(stop - l->code) + 1 : l->len;
		line.end = stop ? (size_t)(stop - l->code) : l->len;
		/* a cell of one line may leave the sign away */
		if (!l->some && line.next >= l->len &&
			read_line(l->code, start, line.end, true, out)) {
			l->at = l->len;
			return true;
		}
		l->some = l->code_met = true;
		follow(l, start, line.end);
	}
	return false;
}
