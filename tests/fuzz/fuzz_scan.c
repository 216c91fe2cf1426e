/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON of Jupyter messages: what is found lies within, and strings survive decode and quote. */
#include <stdint.h>

#include "base/json.h"
#include "jupyter/magic.h"
#include "jupyter/scan.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct tg_bytes v, const char *json, size_t len)
{
	if (v.at && (v.at < json || v.len > len || v.at + v.len > json + len))
		abort();
}

/* Decoding what quote wrote gives the same text: nothing of a cell's code is lost on its way. */
static void check_string(struct tg_bytes v)
{
	struct tg_buf text = TG_BUF_INIT, quoted = TG_BUF_INIT, again = TG_BUF_INIT,
		      requoted = TG_BUF_INIT;

	if (!tg_jscan_string(v, &text)) {
		enum tg_magic_name name = TG_NAMES;
		struct tg_magic m;

		tg_json_quote_lax(&quoted, text.data, text.len);
		if (tg_jscan_string((struct tg_bytes){ quoted.data, quoted.len }, &again))
			abort();
		tg_json_quote_lax(&requoted, again.data, again.len);
		if (requoted.len != quoted.len || memcmp(requoted.data, quoted.data, quoted.len))
			abort();
		tg_magic_read(text.data, text.len, &m);
		if (m.body > text.len ||
			(tg_magics_below(text.data, text.len, m.body, &name) && name == TG_NAMES))
			abort();
		tg_buf_clear(&again);
		if (m.kind != TG_MAGIC_NONE)
			tg_magic_rewrite(&m, text.data, text.len, "#", "/f", &again);
		if (m.kind != TG_MAGIC_NONE && again.len < text.len)
			abort();
	}
	tg_buf_release(&text);
	tg_buf_release(&quoted);
	tg_buf_release(&again);
	tg_buf_release(&requoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "code", "msg_id", "", "silent" };
	char *json = tg_xmemdup0(data, size);
	struct tg_bytes one = { 0 }, all = { json, size };

	for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++) {
		struct tg_bytes v = tg_jscan_member(json, size, names[i]);

		check_inside(v, json, size);
		check_string(v);
		if (v.at) {
			struct tg_buf out = TG_BUF_INIT;

			tg_jscan_splice(json, size, v, "1", 1, &out);
			if (out.len != size - v.len + 1)
				abort();
			tg_buf_release(&out);
			tg_jscan_int(v, 0);
		}
	}
	while ((one = tg_jscan_next(all, one)).at)
		check_inside(one, json, size);
	check_string(all);
	free(json);
	return 0;
}
