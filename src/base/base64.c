/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/base64.h"

#include <stdint.h>

#include "base/mem.h"

void tg_base64(struct tg_buf *out, const void *data, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = data;

	tg_buf_reserve(out, len / 3 * 4 + 8);
	for (; len >= 3; len -= 3, p += 3) {
		tg_buf_addc(out, digit[p[0] >> 2]);
		tg_buf_addc(out, digit[(p[0] & 3) << 4 | p[1] >> 4]);
		tg_buf_addc(out, digit[(p[1] & 15) << 2 | p[2] >> 6]);
		tg_buf_addc(out, digit[p[2] & 63]);
	}
	if (!len)
		return;
	tg_buf_addc(out, digit[p[0] >> 2]);
	tg_buf_addc(out, digit[(p[0] & 3) << 4 | (len > 1 ? p[1] >> 4 : 0)]);
	tg_buf_addc(out, len > 1 ? digit[(p[1] & 15) << 2] : '=');
	tg_buf_addc(out, '=');
}
