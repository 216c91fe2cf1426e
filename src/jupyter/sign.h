/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signatures of Jupyter messages: HMAC-SHA256 in hexadecimal over four frames. An empty key means
 * unsigned messages: the signature is empty then, and every one is right.
 */
#ifndef TG_JUPYTER_SIGN_H
#define TG_JUPYTER_SIGN_H

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#define TG_SIGN_HEX 64

struct tg_sign {
	crypto_auth_hmacsha256_state keyed; /* copied for each message, so the key is hashed once */
	bool unsigned_;
};

void tg_sign_init(struct tg_sign *s, const char *key, size_t len);

/* Write the signature with a NUL; returns its length, 64, or 0 when unsigned. */
size_t tg_sign_hex(
	const struct tg_sign *s, const struct iovec *part, size_t n, char hex[TG_SIGN_HEX + 1]);

/* Whether `hex` is the signature; takes the same time wherever it differs. */
bool tg_sign_check(
	const struct tg_sign *s, const struct iovec *part, size_t n, const void *hex, size_t len);

#endif
