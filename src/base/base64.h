/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64 as RFC 4648 has it: pictures in JSON. */
#ifndef TG_BASE_BASE64_H
#define TG_BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"

/* Append `data` in base64, padded, on one line. */
void tg_base64(struct tg_buf *out, const void *data, size_t len);

#endif
