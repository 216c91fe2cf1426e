/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/format.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"

#include "base/mem.h"

#define KEPT_MIN_BYTES 50e6 /* less is the interpreter's own breathing */

/* With three significant digits at least; whole numbers beyond; no trailing zeros. */
void tg_fmt_number(struct tg_buf *out, double v)
{
	double a = fabs(v);
	int decimals = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
	size_t start = out->len;

	if (isnan(v)) {
		tg_buf_adds(out, "–");
		return;
	}
	if (!(a < 1e15)) {
		tg_buf_addf(out, "%.3g", v);
		return;
	}
	if (a < 0.005 && a > 0)
		decimals = 3;
	tg_buf_addf(out, "%.*f", decimals, v);
	if (!decimals)
		return;
	while (out->len > start && out->data[out->len - 1] == '0')
		out->data[--out->len] = '\0';
	if (out->data[out->len - 1] == '.')
		out->data[--out->len] = '\0';
	if (!strcmp(out->data + start, "-0")) {
		out->len = start;
		out->data[out->len] = '\0';
		tg_buf_addc(out, '0');
	}
}

static const char *const byte_unit[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };

/* The power of 1000 in which `bytes` is shown. */
static size_t byte_power(double bytes)
{
	double a = fabs(bytes);
	size_t k = 0;

	while (a >= 999.5 && k + 1 < TG_ARRAY_SIZE(byte_unit)) {
		a /= 1000;
		k++;
	}
	return k;
}

void tg_fmt_bytes(struct tg_buf *out, double bytes)
{
	size_t k = isnan(bytes) ? 0 : byte_power(bytes);

	tg_fmt_number(out, bytes / pow(1000, (double)k));
	if (!isnan(bytes))
		tg_buf_addf(out, " %s", byte_unit[k]);
}

void tg_fmt_seconds(struct tg_buf *out, double s)
{
	if (isnan(s)) {
		tg_buf_adds(out, "–");
	} else if (s < 0.9995) {
		tg_fmt_number(out, s * 1e3);
		tg_buf_adds(out, " ms");
	} else if (s < 599.5) {
		tg_fmt_number(out, s);
		tg_buf_adds(out, " s");
	} else {
		long long whole = (long long)(s + 0.5);

		if (whole < 7200)
			tg_buf_addf(out, "%lld min %lld s", whole / 60, whole % 60);
		else
			tg_buf_addf(out, "%lld h %lld min", whole / 3600, whole % 3600 / 60);
	}
}

void tg_fmt_cores(struct tg_buf *out, double cores)
{
	size_t start = out->len;

	tg_fmt_number(out, cores);
	tg_buf_adds(out, strcmp(out->data + start, "1") != 0 ? " cores" : " core");
}

void tg_fmt_pct(struct tg_buf *out, double part, double whole)
{
	double pct = 100 * part / whole;

	if (isfinite(pct))
		tg_buf_addf(out, "%.*f %%", pct < 0.95 && pct > 0 ? 1 : 0, pct);
	else
		tg_buf_adds(out, "–");
}

void tg_fmt_count(struct tg_buf *out, uint64_t n, const char *one)
{
	tg_buf_addf(out, "%llu %s%s", (unsigned long long)n, one, n == 1 ? "" : "s");
}

void tg_fmt_about(struct tg_buf *out, const struct tg_totals *t, double v)
{
	if (!t->exact && !isnan(v))
		tg_buf_addc(out, '~');
}

void tg_fmt_peak(struct tg_buf *out, const struct tg_totals *t)
{
	tg_fmt_bytes(out, t->mem_peak_bytes);
	if (t->mem_peak_is)
		tg_buf_addf(out, " %s", t->mem_peak_is);
}

void tg_fmt_headline(struct tg_buf *out, const struct tg_totals *t)
{
	/* a file's pages are cache: they are kept as long as nobody else needs room */
	double kept = t->mem_retained_bytes -
		      (isnan(t->file_retained_bytes) ? 0 : t->file_retained_bytes);

	tg_fmt_seconds(out, t->wall_s);
	if (!isnan(t->cores_mean)) {
		tg_buf_adds(out, " · ");
		tg_fmt_about(out, t, t->cores_mean);
		if (!isnan(t->cores_allowed)) {
			tg_fmt_number(out, t->cores_mean);
			tg_buf_adds(out, " of ");
			tg_fmt_cores(out, t->cores_allowed);
		} else {
			tg_fmt_cores(out, t->cores_mean);
		}
	}
	if (!isnan(t->mem_peak_bytes)) {
		size_t k = byte_power(t->mem_peak_bytes);

		tg_buf_adds(out, " · peak ");
		tg_fmt_peak(out, t);
		if (!isnan(t->memory_limit_bytes)) {
			tg_buf_adds(out, " of ");
			if (byte_power(t->memory_limit_bytes) == k)
				tg_fmt_number(out, t->memory_limit_bytes / pow(1000, (double)k));
			else
				tg_fmt_bytes(out, t->memory_limit_bytes);
		}
	}
	if (fabs(kept) >= KEPT_MIN_BYTES) {
		tg_buf_adds(out, " · ");
		tg_fmt_about(out, t, kept);
		tg_buf_adds(out, kept > 0 ? "+" : "−");
		tg_fmt_bytes(out, fabs(kept));
		tg_buf_adds(out, kept > 0 ? " kept" : " freed");
	}
}

size_t tg_fmt_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xC0) != 0x80;
	return n;
}

static void blanks(struct tg_buf *out, size_t used, size_t width)
{
	while (used++ < width)
		tg_buf_addc(out, ' ');
}

void tg_fmt_left(struct tg_buf *out, const char *s, size_t width)
{
	tg_buf_adds(out, s);
	blanks(out, tg_fmt_width(s), width);
}

void tg_fmt_right(struct tg_buf *out, const char *s, size_t width)
{
	blanks(out, tg_fmt_width(s), width);
	tg_buf_adds(out, s);
}

void tg_fmt_spark(struct tg_buf *out, const double *v, size_t n, double top)
{
	static const char *const step[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

	for (size_t i = 0; i < n; i++) {
		double h = top > 0 ? v[i] / top : 0;

		if (isnan(v[i]))
			tg_buf_addc(out, ' ');
		else
			tg_buf_adds(out, step[h >= 1 ? 7 : h <= 0 ? 0 : (int)(h * 7.999)]);
	}
}

void tg_fmt_date(struct tg_buf *out, int64_t utc_ns, int64_t zone_s)
{
	time_t s = (time_t)(utc_ns / TG_NS_PER_S - (utc_ns % TG_NS_PER_S < 0) + zone_s);
	struct tm tm;

	if (!gmtime_r(&s, &tm) || tm.tm_year > 8099) {
		tg_buf_adds(out, "–");
		return;
	}
	tg_buf_addf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

void tg_fmt_zone(struct tg_buf *out, int64_t zone_s)
{
	long long minutes = (long long)(zone_s < 0 ? -zone_s : zone_s) / 60;

	tg_buf_adds(out, " (UTC");
	if (minutes)
		tg_buf_addf(out, "%s%lld", zone_s < 0 ? "−" : "+", minutes / 60);
	if (minutes % 60)
		tg_buf_addf(out, ":%02lld", minutes % 60);
	tg_buf_addc(out, ')');
}
