/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures for terminals. */
#ifndef TG_RENDER_TEXT_H
#define TG_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * One character a value: " ▁▂▃▄▅▆▇█" of `max` (0: the largest value), " .:-=+*#@" with `ascii`.
 * A value above 0 is never drawn as empty; a missing one (NaN) is a "·", or "?" with `ascii`.
 */
void tg_sparkline(struct tg_buf *out, const double *value, size_t n, double max, bool ascii);

#endif
