/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion: the first byte is a cursor, then comes code up to a NUL, then the content of a reply.
 * What the user's kernel said stays in it, in its order, unless the whole reply is ours.
 */
#include <stdint.h>

#include "jupyter/complete.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_kept(struct tg_bytes content, const struct tg_buf *out)
{
	static const char ours[] = "{\"status\":\"ok\",\"matches\":[";
	size_t i = 0;

	for (size_t j = 0; j < out->len && i < content.len; j++)
		i += out->data[j] == content.at[i];
	if (i < content.len && strncmp(out->data, ours, sizeof(ours) - 1) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_buf out = TG_BUF_INIT, text = TG_BUF_INIT;
	struct tg_bytes content;
	struct tg_offer offer;
	const uint8_t *nul;
	char *code, *reply;
	size_t len, at;

	if (size < 1)
		return 0;
	nul = memchr(data + 1, 0, size - 1);
	len = nul ? (size_t)(nul - data) - 1 : size - 1;
	code = tg_xmemdup0(data + 1, len);
	reply = nul ? tg_xmemdup0(nul + 1, size - len - 2) : tg_xmemdup0("", 0);
	content = (struct tg_bytes){ reply, nul ? size - len - 2 : 0 };
	at = tg_complete_byte(code, len, data[0]);
	if (at > len || tg_complete_point(code, at) > data[0])
		abort();
	if (tg_offer(code, len, at, &offer)) {
		if (offer.start > offer.end || offer.end != at)
			abort();
		if (tg_complete_merge(code, &offer, content, &out))
			check_kept(content, &out);
		else if (out.len)
			abort();
	}
	if (tg_explain(code, len, at, &text) && !text.len)
		abort();
	tg_buf_release(&offer.match);
	tg_buf_release(&out);
	tg_buf_release(&text);
	free(code);
	free(reply);
	return 0;
}
