/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dates and times of day as logs have them: what a clock on the wall showed, which only a zone (see
 * zone.h) makes a moment. As a number they are nanoseconds since 1970-01-01 00:00:00 on that wall.
 */
#ifndef TG_IMPORT_CIVIL_H
#define TG_IMPORT_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"

#define TG_NS_PER_DAY (86400 * TG_NS_PER_S)

struct tg_stamp {
	int64_t civil_ns;
	bool has_offset; /* it is known how far east of UTC that wall is */
	int offset_s;
};

/* Days from 1970-01-01 to that date of the Gregorian calendar; false when there is no such day. */
bool tg_civil_days(int year, int month, int day, int64_t *days);

/*
 * What follows reads one stamp at `p`, returns the place behind it, or NULL when there is none.
 *
 * tg_civil_time: "20:53:38", "20:53:38.312", "08:53:38 PM": of the day alone.
 * tg_civil_date: "2026/12/01", "2026-12-01", "01.12.2026", "12/01/26", "12/01/2026"; of the last
 * two the month comes first, as in the C locale, unless there is no such month. tg_civil_stamp: a
 * date, blanks or a T, a time, and an offset such as +0100 or Z right behind it.
 */
const char *tg_civil_time(const char *p, int64_t *ns);
const char *tg_civil_date(const char *p, int64_t *days);
const char *tg_civil_stamp(const char *p, struct tg_stamp *stamp);

/* Append "2026-12-01 20:53:38"; without the date when `time_only`. */
void tg_civil_text(struct tg_buf *out, int64_t civil_ns, bool time_only);

/* Append "0:01:05": hours, minutes and seconds of a stretch of time. */
void tg_elapsed_text(struct tg_buf *out, int64_t ns);

#endif
