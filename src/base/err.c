/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/err.h"

#include <stdarg.h>

#include "base/mem.h"

int tg_err_set(struct tg_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

void tg_err_prefix(struct tg_err *err, const char *what)
{
	struct tg_err whole;

	if (!err)
		return;
	/* a cut is fine: the beginning of a sentence says most */
	if (snprintf(whole.text, sizeof(whole.text), "%s: %s", what, err->text) < 0)
		return;
	memcpy(err->text, whole.text, sizeof(err->text));
}
