/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 without a locale (RFC 3629: shortest form, no surrogates, at most U+10FFFF). */
#ifndef TG_BASE_UTF8_H
#define TG_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decode the character at `s`, which has `len` >= 1 bytes. Returns its length, or 0 when the
 * bytes are no character (`cp` is then unchanged).
 */
size_t tg_utf8_decode(const char *s, size_t len, uint32_t *cp);

/* The same with lone surrogates taken for characters, as JSON of others may hold them. */
size_t tg_utf8_decode_lax(const char *s, size_t len, uint32_t *cp);

/* Write `cp` (a at most 0x10ffff) to `out`. Returns 1 to 4. */
size_t tg_utf8_encode(uint32_t cp, char out[4]);

#endif
