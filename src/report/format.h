/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for people: three significant digits, a blank, a unit. NaN appends "–", which is also
 * what tables show for unknown. No thousands separators, no locale.
 */
#ifndef TG_REPORT_FORMAT_H
#define TG_REPORT_FORMAT_H

#include "analyze/totals.h"
#include "base/buf.h"

void tg_fmt_number(struct tg_buf *out, double v); /* "28.1", "0.05", "1234" */
void tg_fmt_bytes(struct tg_buf *out, double bytes); /* "55.1 GB": powers of 1000 */
void tg_fmt_seconds(struct tg_buf *out, double s); /* "3.2 ms", "21.5 s", "12 min 5 s" */
void tg_fmt_cores(struct tg_buf *out, double cores); /* "28.1 cores", "1 core" */

/* "2026-12-03 10:36:45" on a clock `zone_s` seconds east of UTC, and " (UTC+1)" behind it. */
void tg_fmt_date(struct tg_buf *out, int64_t utc_ns, int64_t zone_s);
void tg_fmt_zone(struct tg_buf *out, int64_t zone_s);

/* "42 %" */
void tg_fmt_pct(struct tg_buf *out, double part, double whole);
void tg_fmt_count(struct tg_buf *out, uint64_t n, const char *one); /* "3 holes", "1 hole" */

/* "~" before a total `v` that is known and not exact. */
void tg_fmt_about(struct tg_buf *out, const struct tg_totals *t, double v);

void tg_fmt_peak(struct tg_buf *out, const struct tg_totals *t); /* "55.1 GB RSS", "2 GB PSS" */

/* "21.5 s · 28.1 of 32 cores · peak 55.1 GB RSS of 72 · +43 GB kept": what happened, in one line.
 */
void tg_fmt_headline(struct tg_buf *out, const struct tg_totals *t);

/* Columns that a terminal needs for UTF-8 text of one column a character. */
size_t tg_fmt_width(const char *s);

/* Append `s` and blanks up to `width` columns, or blanks first. */
void tg_fmt_left(struct tg_buf *out, const char *s, size_t width);
void tg_fmt_right(struct tg_buf *out, const char *s, size_t width);

/* Eight steps of height for each value in [0, top]; a blank where it is NaN. */
void tg_fmt_spark(struct tg_buf *out, const double *v, size_t n, double top);

#endif
