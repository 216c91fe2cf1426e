/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8.h"

#include "base/mem.h"

size_t tg_utf8_decode_lax(const char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] < 0x80   ? 1
		   : u[0] < 0xc2 ? 0
		   : u[0] < 0xe0 ? 2
		   : u[0] < 0xf0 ? 3
		   : u[0] < 0xf5 ? 4
				 : 0;
	uint32_t c;

	if (n == 0 || n > len)
		return 0;
	c = n == 1 ? u[0] : u[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff)
		return 0;
	*cp = c;
	return n;
}

size_t tg_utf8_decode(const char *s, size_t len, uint32_t *cp)
{
	uint32_t c;
	size_t n = tg_utf8_decode_lax(s, len, &c);

	if (n == 0 || (c >= 0xd800 && c < 0xe000))
		return 0;
	*cp = c;
	return n;
}

size_t tg_utf8_encode(uint32_t cp, char out[4])
{
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (cp & 0x3f));
		cp >>= 6;
	}
	out[0] = (char)(lead[n] | cp);
	return n;
}
