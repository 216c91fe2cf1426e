/* SPDX-License-Identifier: BSD-3-Clause */
/* Multipart messages: frames are lines of the input. Parts are within, signatures hold. */
#include <stdint.h>

#include "jupyter/msg.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_msg m = TG_MSG_INIT, other = TG_MSG_INIT;
	struct tg_sign sign;

	tg_sign_init(&sign, "key", 3);
	for (size_t at = 0; at < size && m.n < 100;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t len = end ? (size_t)(end - data) - at : size - at;

		tg_msg_add(&m, data + at, len);
		at += len + 1;
	}
	tg_msg_index(&m);
	tg_msg_verify(&m, &sign);
	tg_msg_member(&m, TG_HEADER, "msg_type");
	tg_msg_member(&m, TG_PARENT, "msg_id");
	if (m.whole) {
		tg_msg_replace(&m, TG_CONTENT, "{}", 2, &sign);
		if (!tg_msg_verify(&m, &sign) || tg_msg_part(&m, TG_CONTENT).len != 2)
			abort();
	} else if (tg_msg_part(&m, TG_HEADER).at) {
		abort();
	}
	tg_msg_swap(&m, &other);
	if (m.n)
		abort();
	tg_msg_release(&m);
	tg_msg_release(&other);
	return 0;
}
