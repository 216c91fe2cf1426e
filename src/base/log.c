/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/mem.h"

static const char *const level_names[] = { "error", "warn", "info", "debug" };

/* the one piece of global state in the library */
static enum tg_log_level max_level = TG_LOG_WARN;

bool tg_log_init(void)
{
	const char *want = getenv("TACHOGRAPH_LOG");

	if (!want || !*want)
		return true;
	for (size_t i = 0; i < TG_ARRAY_SIZE(level_names); i++)
		if (!strcmp(want, level_names[i])) {
			max_level = (enum tg_log_level)i;
			return true;
		}
	return false;
}

void tg_log(enum tg_log_level level, const char *area, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n, m;

	if (level > max_level)
		return;
	n = snprintf(line, sizeof(line), "tachograph %s %s: ", level_names[level], area);
	if (n < 0 || (size_t)n >= sizeof(line) - 1)
		return;
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	va_end(ap);
	if (m < 0)
		return;
	n += m;
	if ((size_t)n > sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	/* one write a line, so that lines of several processes do not mix */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}
