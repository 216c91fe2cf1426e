/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mem.h"

#include <stdint.h>
#include <unistd.h>

_Noreturn void tg_out_of_memory(void)
{
	static const char text[] = "tachograph: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(125);
	_exit(125);
}

void *tg_xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		tg_out_of_memory();
	return p;
}

void *tg_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		tg_out_of_memory();
	return p;
}

void *tg_xrealloc(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		tg_out_of_memory();
	p = realloc(p, n && size ? n * size : 1);
	if (!p)
		tg_out_of_memory();
	return p;
}

char *tg_xmemdup0(const void *data, size_t len)
{
	char *p = tg_xmalloc(len + 1);

	if (len)
		memcpy(p, data, len);
	p[len] = '\0';
	return p;
}

char *tg_xstrdup(const char *s)
{
	return tg_xmemdup0(s, strlen(s));
}
