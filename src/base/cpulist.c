/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cpulist.h"

#include "base/mem.h"

#define CPU_MAX 65535

/* Take a number; false when none is there or it is too large. */
static bool number(const char **p, const char *end, int64_t *n)
{
	const char *start = *p;

	for (*n = 0; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		*n = *n * 10 + (**p - '0');
		if (*n > CPU_MAX)
			return false;
	}
	return *p > start;
}

/* Count those in the list, or those equal to `only` unless that is negative. */
static int64_t count(const char *text, size_t len, int64_t only)
{
	const char *p = text, *end = text + len;
	int64_t n = 0, first, last;

	while (number(&p, end, &first)) {
		last = first;
		if (p < end && *p == '-') {
			p++;
			if (!number(&p, end, &last) || last < first)
				return 0;
		}
		n += only < 0 ? last - first + 1 : only >= first && only <= last;
		if (p == end || *p == '\n')
			return n;
		if (*p++ != ',')
			return 0;
	}
	return 0;
}

int64_t tg_cpulist_count(const char *text, size_t len)
{
	return count(text, len, -1);
}

bool tg_cpulist_has(const char *text, size_t len, int64_t cpu)
{
	return cpu >= 0 && count(text, len, cpu) > 0;
}
