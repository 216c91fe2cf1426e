/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what clocks showed to moments. Time never runs back: what seems to is the second pass of an
 * hour when clocks were set back, a new day of a log that has times of the day only, or a clock
 * that was set; the machine's uptime, where the log has it, tells these apart.
 */
#ifndef TG_IMPORT_RESOLVE_H
#define TG_IMPORT_RESOLVE_H

#include "import/readings.h"

/*
 * Give every tick its utc_ns, by the zone that is set (zone.h), and a full date to civil_ns where
 * it has only the time of the day. Readings without any date keep times from their first day on, as
 * if that were 1970-01-01 and the zone UTC, and are `undated`.
 */
void tg_resolve_ticks(struct tg_readings *g);

/* The usual distance of ticks, or 0 where there are less than two. */
int64_t tg_resolve_period_ns(const struct tg_readings *g);

#endif
