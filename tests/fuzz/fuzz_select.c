/* SPDX-License-Identifier: BSD-3-Clause */
/* A selection of spans, and the lines of a cell that hold magics: text from people. */
#include "analyze/select.h"
#include "command/line.h"
#include "mark/magics.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_span span[5] = {
		{ .kind = (char *)"run", .name = (char *)"kernel", .index = -1 }
	};
	struct tg_recording r = { .span = span, .n_spans = TG_ARRAY_SIZE(span) };
	char *text = tg_xmemdup0(data, size), *word[8];
	const struct tg_span **chosen = NULL;
	struct tg_select select;
	struct tg_err err = { 0 };
	struct tg_magics top = { .code = text, .len = size };
	struct tg_magic_line line;

	for (int i = 1; i < 5; i++)
		span[i] = (struct tg_span){ .kind = (char *)"cell", .index = i - 1 };
	if (tg_select_parse(&select, text, &err) == 0) {
		int64_t n = tg_select_spans(&select, &r, &chosen, &err);

		if (n == 0 || n > 5 || (n < 0 && !err.text[0]))
			abort();
	} else if (!err.text[0]) {
		abort();
	}
	free(chosen);
	tg_select_release(&select);
	while (tg_magics_next(&top, &line)) {
		char *rest = tg_xmemdup0(text + line.args, line.args_len);

		if (tg_line_split(rest, word, TG_ARRAY_SIZE(word)) > 8)
			abort();
		free(rest);
	}
	if (top.at > size)
		abort();
	free(text);
	return 0;
}
