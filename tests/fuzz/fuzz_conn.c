/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection files and kernelspecs: a sentence or a result, and what is written reads back. */
#include <stdint.h>

#include "jupyter/conn.h"
#include "jupyter/kernelspec.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_spec(const char *data, size_t size)
{
	char *const base[] = { (char[]){ "PATH=/bin" }, NULL };
	struct tg_kernelspec s;
	struct tg_err err = { 0 };

	if (!tg_kernelspec_parse(&s, "/d", data, size, &err)) {
		tg_strv_free(tg_kernelspec_command(&s, "/c", NULL, "python3", NULL));
		tg_strv_free(tg_kernelspec_environ(&s, base, 1));
	} else if (!err.text[0]) {
		abort();
	}
	tg_kernelspec_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_conn c, again;

	try_spec((const char *)data, size);
	if (!tg_conn_parse(&c, (const char *)data, size, &err)) {
		tg_conn_format(&c, &text);
		if (tg_conn_parse(&again, text.data, text.len, &err) || strcmp(again.key, c.key) ||
			again.port[TG_HB] != c.port[TG_HB])
			abort();
		tg_conn_release(&again);
	} else if (!err.text[0]) {
		abort();
	}
	tg_conn_release(&c);
	tg_buf_release(&text);
	return 0;
}
