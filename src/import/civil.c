/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/civil.h"

#include "import/scan.h"

#include "base/mem.h"

bool tg_civil_days(int year, int month, int day, int64_t *days)
{
	static const int length[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	int y, era, of_era, of_year;

	if (year < 1970 || year > 2199 || month < 1 || month > 12 || day < 1 ||
		day > length[month - 1] + (month == 2 && leap))
		return false;
	/* years begin in March here, so that leap days come last */
	y = year - (month <= 2);
	era = y / 400;
	of_era = y - era * 400;
	of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	*days = (int64_t)era * 146097 + (int64_t)of_era * 365 + of_era / 4 - of_era / 100 +
		of_year - 719468;
	return true;
}

/* "AM" or "PM" behind a time of 12 hours: what it adds. */
static const char *half_of_day(const char *p, int *hour)
{
	const char *q = tg_scan_blanks(p);
	bool pm = (*q | 0x20) == 'p';

	if ((!pm && (*q | 0x20) != 'a') || (q[1] | 0x20) != 'm' || *hour < 1 || *hour > 12)
		return p;
	*hour = *hour % 12 + (pm ? 12 : 0);
	return q + 2;
}

const char *tg_civil_time(const char *p, int64_t *ns)
{
	int hour, minute, second;
	int64_t part_ns = 0;

	if (!(p = tg_scan_digits(p, &hour)) || *p++ != ':' || !(p = tg_scan_digits(p, &minute)) ||
		*p++ != ':' || !(p = tg_scan_digits(p, &second)))
		return NULL;
	if (*p == '.' && tg_scan_is_digit(p[1])) {
		int64_t unit_ns = TG_NS_PER_S / 10;

		for (p++; tg_scan_is_digit(*p); p++, unit_ns /= 10)
			part_ns += unit_ns * (*p - '0');
	}
	p = half_of_day(p, &hour);
	if (hour > 23 || minute > 59 || second > 60)
		return NULL;
	*ns = ((int64_t)hour * 3600 + (int64_t)minute * 60 + second) * TG_NS_PER_S + part_ns;
	return p;
}

const char *tg_civil_date(const char *p, int64_t *days)
{
	int a, b, c, year;
	char sep;

	if (!(p = tg_scan_digits(p, &a)))
		return NULL;
	sep = *p++;
	if (sep != '/' && sep != '-' && sep != '.')
		return NULL;
	if (!(p = tg_scan_digits(p, &b)) || *p++ != sep || !(p = tg_scan_digits(p, &c)))
		return NULL;
	if (a > 31)
		return tg_civil_days(a, b, c, days) ? p : NULL;
	year = c < 100 ? 2000 + c : c;
	if (sep == '.' || a > 12)
		return tg_civil_days(year, b, a, days) ? p : NULL;
	return tg_civil_days(year, a, b, days) ? p : NULL;
}

/* "+0000", "-05:30", "Z" */
static const char *offset_of(const char *p, struct tg_stamp *stamp)
{
	const char *q = p + 1;
	int hour, minute = 0;

	if (*p == 'Z') {
		stamp->has_offset = true;
		return q;
	}
	if ((*p != '+' && *p != '-') || !(q = tg_scan_digits(q, &hour)))
		return p;
	if (*q == ':' && !(q = tg_scan_digits(q + 1, &minute)))
		return p;
	if (hour > 99) {
		minute = hour % 100;
		hour /= 100;
	}
	if (hour > 14 || minute > 59)
		return p;
	stamp->has_offset = true;
	stamp->offset_s = (hour * 3600 + minute * 60) * (*p == '-' ? -1 : 1);
	return q;
}

const char *tg_civil_stamp(const char *p, struct tg_stamp *stamp)
{
	int64_t days, ns;

	*stamp = (struct tg_stamp){ 0 };
	if (!(p = tg_civil_date(p, &days)))
		return NULL;
	p = *p == 'T' ? p + 1 : tg_scan_blanks(p);
	if (!(p = tg_civil_time(p, &ns)))
		return NULL;
	stamp->civil_ns = days * TG_NS_PER_DAY + ns;
	return offset_of(p, stamp);
}

void tg_civil_text(struct tg_buf *out, int64_t civil_ns, bool time_only)
{
	time_t s = (time_t)(civil_ns / TG_NS_PER_S);
	struct tm tm;

	if (!gmtime_r(&s, &tm))
		return;
	if (!time_only)
		tg_buf_addf(out, "%04d-%02d-%02d ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	tg_buf_addf(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void tg_elapsed_text(struct tg_buf *out, int64_t ns)
{
	long long s = (long long)(ns / TG_NS_PER_S);

	tg_buf_addf(out, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}
