/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC32C (Castagnoli, reflected polynomial 0x82f63b78), the checksum of chunk headers, payloads and
 * parts of summaries. Uses the processor's instruction where there is one.
 */
#ifndef TG_RECORD_CRC32C_H
#define TG_RECORD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC of `len` bytes that follow bytes whose CRC is `crc` (0 at the beginning). */
uint32_t tg_crc32c(uint32_t crc, const void *data, size_t len);

/* The same without the instruction, for tests and old processors. */
uint32_t tg_crc32c_portable(uint32_t crc, const void *data, size_t len);

#endif
