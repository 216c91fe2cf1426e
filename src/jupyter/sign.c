/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/sign.h"

#include "base/mem.h"

void tg_sign_init(struct tg_sign *s, const char *key, size_t len)
{
	s->unsigned_ = len == 0;
	crypto_auth_hmacsha256_init(&s->keyed, (const unsigned char *)key, len);
}

size_t tg_sign_hex(
	const struct tg_sign *s, const struct iovec *part, size_t n, char hex[TG_SIGN_HEX + 1])
{
	unsigned char digest[crypto_auth_hmacsha256_BYTES];
	crypto_auth_hmacsha256_state state = s->keyed;

	hex[0] = '\0';
	if (s->unsigned_)
		return 0;
	for (size_t i = 0; i < n; i++)
		crypto_auth_hmacsha256_update(&state, part[i].iov_base, part[i].iov_len);
	crypto_auth_hmacsha256_final(&state, digest);
	sodium_bin2hex(hex, TG_SIGN_HEX + 1, digest, sizeof(digest));
	return TG_SIGN_HEX;
}

bool tg_sign_check(
	const struct tg_sign *s, const struct iovec *part, size_t n, const void *hex, size_t len)
{
	char want[TG_SIGN_HEX + 1];

	if (s->unsigned_)
		return true;
	return tg_sign_hex(s, part, n, want) == len && !sodium_memcmp(want, hex, TG_SIGN_HEX);
}
