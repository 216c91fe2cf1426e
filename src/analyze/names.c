/* SPDX-License-Identifier: BSD-3-Clause */
/* What spans and moments are called: labels, dates, and text from outside made fit to print. */
#include "analyze/recording.h"

#include "base/mem.h"

/* Separators of lines and marks of direction (U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069)
 * make a sentence look like another. */
static bool turns_text(const unsigned char *s)
{
	if (s[0] != 0xE2)
		return false;
	if (s[1] == 0x80)
		return s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xA8 && s[2] <= 0xAE);
	return s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9;
}

void tg_plain(struct tg_buf *out, const char *s, size_t max)
{
	size_t n = 0;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c & 0xC0) != 0x80 && n++ == max) { /* not in the middle of a character */
			tg_buf_adds(out, "…");
			return;
		}
		/* C1 controls are C2 80..9F in UTF-8; terminals obey them like ESC */
		if (c == 0xC2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] < 0xA0) {
			tg_buf_addc(out, ' ');
			s++;
		} else if (turns_text((const unsigned char *)s)) {
			tg_buf_addc(out, ' ');
			s += 2;
		} else {
			tg_buf_addc(out, c < 0x20 || c == 0x7F ? ' ' : *s);
		}
	}
}

void tg_span_label(const struct tg_span *span, struct tg_buf *out)
{
	/* the name of a cell is its first line of code: too long for a label */
	if (span->index != TG_NO_NUMBER && !strcmp(span->kind, "cell"))
		tg_buf_addf(out, "#%lld", (long long)span->index);
	else if (span->name)
		tg_plain(out, span->name, 40);
	else if (span->index != TG_NO_NUMBER) {
		tg_plain(out, span->kind, 20);
		tg_buf_addf(out, " #%lld", (long long)span->index);
	} else
		tg_plain(out, span->kind, 20);
}

void tg_utc_text(struct tg_buf *out, int64_t utc_ns)
{
	int64_t us = utc_ns / 1000 - (utc_ns % 1000 < 0);
	time_t s = us / 1000000 - (us % 1000000 < 0);
	struct tm tm;

	if (!gmtime_r(&s, &tm) || tm.tm_year > 8099)
		return;
	tg_buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(us - s * 1000000));
}
