/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a label: what is drawn is clean UTF-8 of the room that it was given. */
#include <stdint.h>

#include "base/utf8.h"
#include "render/font.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tg_buf *b)
{
	for (size_t i = 0, n; i < b->len; i += n) {
		uint32_t cp = 0;

		n = tg_utf8_decode(b->data + i, b->len - i, &cp);
		if (n == 0 || cp < 0x20 || cp == 0x7f || (cp & 0xfffe) == 0xfffe ||
			(cp >= 0x202a && cp <= 0x202e))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_font *font = tg_font_new();
	struct tg_buf b = TG_BUF_INIT;
	char *text = tg_xmemdup0(data, size);

	tg_text_clean(text, 50, &b);
	check(&b);
	tg_buf_clear(&b);
	tg_font_fit(font, text, 12, false, 80, &b);
	check(&b);
	if (tg_font_width(font, b.data, 12, false) > 80.001)
		abort();
	tg_buf_release(&b);
	free(text);
	tg_font_free(font);
	return 0;
}
