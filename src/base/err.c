/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/err.h"

#include <stdarg.h>

#include "base/mem.h"

#define WHOLE_MAX 8192 /* two paths, and what is said of them */

/* Of a sentence that is too long, as one with a long path is, the middle goes: its end says why. */
static void fit(struct tg_err *err, const char *whole)
{
	static const char dots[] = "\xe2\x80\xa6";
	size_t len = strlen(whole), half = (sizeof(err->text) - sizeof(dots)) / 2, head = half;
	const char *tail = whole + len - half;

	if (len < sizeof(err->text)) {
		memcpy(err->text, whole, len + 1);
		return;
	}
	while (head && (whole[head] & 0xc0) == 0x80) /* not in the middle of a character */
		head--;
	while ((*tail & 0xc0) == 0x80)
		tail++;
	snprintf(err->text, sizeof(err->text), "%.*s%s%s", (int)head, whole, dots, tail);
}

int tg_err_set(struct tg_err *err, int code, const char *fmt, ...)
{
	char whole[WHOLE_MAX];
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	fit(err, whole);
	return code;
}

void tg_err_prefix(struct tg_err *err, const char *what)
{
	char whole[WHOLE_MAX];

	if (!err || snprintf(whole, sizeof(whole), "%s: %s", what, err->text) < 0)
		return;
	fit(err, whole);
}
