/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/lines.h"

#include "base/mem.h"

/* Length of the line break at `s`, 0 when there is none. */
static size_t line_break(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];

	if (c == '\r' && len > 1 && s[1] == '\n')
		return 2;
	if ((c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e))
		return 1;
	if (c == 0xc2 && len > 1 && (unsigned char)s[1] == 0x85) /* U+0085 */
		return 2;
	if (len > 2 && !memcmp(s, "\xe2\x80", 2) && ((unsigned char)s[2] & 0xfe) == 0xa8)
		return 3; /* U+2028, U+2029 */
	return 0;
}

struct tg_text_line tg_text_line_at(const char *text, size_t len, size_t at)
{
	struct tg_text_line line = { at, at, len };

	while (line.end < len) {
		size_t n = line_break(text + line.end, len - line.end);

		if (n) {
			line.next = line.end + n;
			break;
		}
		line.end++;
	}
	return line;
}

bool tg_text_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct tg_text_line tg_text_trim(const char *text, struct tg_text_line line)
{
	while (line.at < line.end && tg_text_blank(text[line.at]))
		line.at++;
	while (line.end > line.at && tg_text_blank(text[line.end - 1]))
		line.end--;
	return line;
}

struct tg_text_line tg_text_first_code(const char *text, size_t len)
{
	struct tg_text_line line;

	for (size_t at = 0; at < len; at = line.next) {
		line = tg_text_trim(text, tg_text_line_at(text, len, at));
		if (line.at < line.end && text[line.at] != '#')
			return line;
	}
	return (struct tg_text_line){ len, len, len };
}
