/* SPDX-License-Identifier: BSD-3-Clause */
/* What spans and moments are called: labels, dates, and text from outside made fit to print. */
#include "analyze/recording.h"
#include "base/lines.h"
#include "base/utf8.h"

#include "base/mem.h"

/*
 * Controls, C1 among them, which terminals obey like ESC; and separators of lines and marks of
 * direction, which make a sentence look like another.
 */
static bool is_blanked(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x200E || cp == 0x200F ||
	       (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069);
}

void tg_plain(struct tg_buf *out, const char *s, size_t max)
{
	size_t len = strlen(s), n = 0, step;
	uint32_t cp;
	char bytes[4];

	for (; len; s += step, len -= step) {
		if (n++ == max) {
			tg_buf_adds(out, "…");
			return;
		}
		step = tg_utf8_decode(s, len, &cp);
		if (!step) {
			cp = 0xFFFD;
			step = 1;
		}
		tg_buf_add(out, bytes, tg_utf8_encode(is_blanked(cp) ? ' ' : cp, bytes));
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

void tg_span_title(struct tg_buf *out, const struct tg_span *span, size_t max)
{
	const char *code = span->code ? span->code : "";
	struct tg_text_line line = tg_text_first_code(code, strlen(code));
	char *text;

	if (span->name) {
		tg_plain(out, span->name, max);
	} else if (line.end > line.at) {
		text = tg_xmemdup0(code + line.at, line.end - line.at);
		tg_plain(out, text, max);
		free(text);
	}
}
