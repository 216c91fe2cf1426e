/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of marks: any datagram gives a message within its bounds, or a sentence. */
#include <errno.h>
#include <stdint.h>

#include "base/mem.h"
#include "mark/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

static void check_string(const char *s, size_t max)
{
	check(!s || (*s && strlen(s) <= max));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_err err = { 0 };
	struct tg_mark_message m;
	size_t cut = tg_mark_cut((const char *)data, size, size / 2);
	int r = tg_mark_message_parse(&m, (const char *)data, size, &err);

	check(cut <= size / 2 && cut + 4 > size / 2);
	check(r == 0 || (r == -EBADMSG && err.text[0]));
	check(m.n >= -1);
	if (r == 0) {
		check(m.op < TG_MARK_OPS);
		check(m.t_ns >= 0 && m.count >= -1 && m.pid >= 0);
		check_string(m.id, TG_MARK_ID_MAX);
		check_string(m.kind, TG_MARK_WORD_MAX);
		check_string(m.status, TG_MARK_WORD_MAX);
		check_string(m.key, TG_MARK_WORD_MAX);
		check_string(m.name, TG_MARK_NAME_MAX);
		check_string(m.lane, TG_MARK_NAME_MAX);
		check_string(m.text, TG_MARK_TEXT_MAX);
		check_string(m.code, TG_MARK_CODE_MAX);
		check(m.attrs.len <= TG_MARK_ATTRS_MAX);
		check(m.op != TG_MARK_BEGIN || (m.id && m.kind));
		check(m.op != TG_MARK_SET || m.value >= TG_MARK_INTERVAL_MIN);
	}
	tg_mark_message_release(&m);
	return 0;
}
