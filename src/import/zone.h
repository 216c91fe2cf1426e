/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The zone in which the logs' clock was, by the C library's rules. There is one at a time in a
 * program: this is the only place that sets it.
 */
#ifndef TG_IMPORT_ZONE_H
#define TG_IMPORT_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* "Europe/Berlin", "UTC", "CET-1CEST,M3.5.0,M10.5.0/3". 0, or -EINVAL with a sentence. */
int tg_zone_set(const char *name, struct tg_err *err);

/* How far east of UTC its clocks are at that moment. */
int64_t tg_zone_offset_s(int64_t utc_s);

/*
 * The moment at which its clocks showed `civil_ns`. Of two, when clocks were set back, the first
 * that is not before `not_before_ns`; where clocks were set forward over it, that which the old
 * offset makes it. May be before `not_before_ns` when there is no better one.
 */
int64_t tg_zone_utc(int64_t civil_ns, int64_t not_before_ns);

#endif
