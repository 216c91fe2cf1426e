/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/axis.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

static const double power10[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15, 1e16, 1e17 };
#define PLACES_MOST 17

static size_t put_uint(uint64_t u, char *out)
{
	char digit[20];
	size_t n = 0;

	do {
		digit[n++] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	for (size_t i = 0; i < n; i++)
		out[i] = digit[n - 1 - i];
	return n;
}

static size_t put_text(const char *s, char *out)
{
	size_t n = strlen(s);

	memcpy(out, s, n + 1);
	return n;
}

/* `places` decimals, all of them kept when `zeros`. */
static size_t put_decimal(double v, int places, bool zeros, char *out)
{
	size_t n = 0;
	double scaled;
	uint64_t u, whole, part, unit;

	if (!isfinite(v))
		return put_text("?", out);
	assert(places >= 0 && places <= PLACES_MOST);
	while (places > 0 && fabs(v) * power10[places] > 1e17)
		places--;
	scaled = fabs(v) * power10[places] + 0.5;
	u = scaled < 1.8e19 ? (uint64_t)scaled : UINT64_MAX;
	if (v < 0 && u)
		out[n++] = '-';
	unit = (uint64_t)power10[places];
	whole = u / unit;
	part = u % unit;
	n += put_uint(whole, out + n);
	if (part || (zeros && places)) {
		out[n++] = '.';
		for (; unit > 1 && (part || zeros); part %= unit) {
			unit /= 10;
			out[n++] = (char)('0' + part / unit);
		}
	}
	out[n] = '\0';
	return n;
}

size_t tg_num_fixed(double v, int decimals, char *out)
{
	return put_decimal(v, decimals, false, out);
}

/* The decimal exponent of v > 0, exact where log10 is off by one. */
static int exponent(double v)
{
	int e = (int)floor(log10(v));

	if (pow(10, e) > v)
		e--;
	else if (pow(10, e + 1) <= v)
		e++;
	return e;
}

size_t tg_num_digits(double v, int digits, char *out)
{
	int e;
	size_t n;

	if (!isfinite(v))
		return put_text("null", out);
	if (v == 0)
		return put_text("0", out);
	e = exponent(fabs(v));
	assert(digits >= 1 && digits <= PLACES_MOST + 1 - 6);
	if (e >= -6 && e < digits)
		return put_decimal(v, digits - 1 - e, false, out);
	if (e >= digits && e < 16) {
		double unit = pow(10, e + 1 - digits);

		return put_decimal(floor(v / unit + 0.5) * unit, 0, false, out);
	}
	n = put_decimal(v / pow(10, e), digits - 1, false, out);
	out[n++] = 'e';
	return n + put_decimal(e, 0, false, out + n);
}

/* SI prefix for numbers about `v`: none between 0.01 and 10,000. */
static const char *si_prefix(double v, double *unit)
{
	static const char *const prefix[] = { "p", "n", "µ", "m", "", "k", "M", "G", "T", "P" };
	int i = 4;

	if (v > 0 && (v >= 1e4 || v < 1e-3))
		i = (int)floor(exponent(v) / 3.0) + 4;
	i = TG_MIN(TG_MAX(i, 0), (int)TG_ARRAY_SIZE(prefix) - 1);
	*unit = pow(10, 3 * (i - 4));
	return prefix[i];
}

size_t tg_num_short(double v, char *out)
{
	double unit;
	const char *prefix;
	size_t n;

	if (!isfinite(v))
		return put_text("?", out);
	prefix = si_prefix(fabs(v), &unit);
	v /= unit;
	n = put_decimal(v,
		fabs(v) >= 99.95    ? 0
		: fabs(v) >= 9.995  ? 1
		: fabs(v) >= 0.0995 ? 2
				    : 3,
		false, out);
	return n + put_text(prefix, out + n);
}

size_t tg_num_seconds(double s, char *out)
{
	static const struct {
		double size;
		const char *big, *small;
		double small_size;
	} unit[] = {
		{ 86400, " d", " h", 3600 },
		{ 3600, " h", " min", 60 },
		{ 60, " min", " s", 1 },
	};
	size_t n;

	if (!isfinite(s))
		return put_text("?", out);
	for (size_t i = 0; i < TG_ARRAY_SIZE(unit); i++) {
		double small, whole;

		if (s < (i == 2 ? 119.95 : unit[i].size))
			continue;
		small = floor(s / unit[i].small_size + 0.5);
		whole = floor(small * unit[i].small_size / unit[i].size);
		small -= whole * unit[i].size / unit[i].small_size;
		n = put_decimal(whole, 0, false, out);
		n += put_text(unit[i].big, out + n);
		if (small > 0) {
			out[n++] = ' ';
			n += put_decimal(small, 0, false, out + n);
			n += put_text(unit[i].small, out + n);
		}
		return n;
	}
	if (s >= 0.9995) {
		n = put_decimal(s, 1, true, out);
		return n + put_text(" s", out + n);
	}
	n = put_decimal(s * 1e3, s < 0.00995 ? 1 : 0, false, out);
	return n + put_text(" ms", out + n);
}

static double nice_step(double least)
{
	double p = pow(10, exponent(least));
	double f = least / p;

	return p * (f <= 1.0000001 ? 1 : f <= 2.0000001 ? 2 : f <= 5.0000001 ? 5 : 10);
}

static void count_ticks(struct tg_ticks *t, double max)
{
	double places = -floor(log10(t->step / t->unit) + 1e-9);

	t->n = (size_t)floor(max / t->step * (1 + 1e-9)) + 1;
	t->decimals = places > 0 ? (int)TG_MIN(places, 9) : 0;
}

void tg_ticks_value(struct tg_ticks *t, double max, size_t most)
{
	*t = (struct tg_ticks){ .unit = 1, .suffix = "", .n = 1, .step = 1 };
	if (!(max > 0) || !isfinite(max))
		return;
	t->step = nice_step(max / (double)(most - 1));
	t->suffix = si_prefix(max, &t->unit);
	count_ticks(t, max);
}

void tg_ticks_time(struct tg_ticks *t, double t_end, size_t most)
{
	static const double step[] = { 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800,
		3600, 7200, 10800, 21600, 43200, 86400 };
	static const struct {
		double from, unit;
		const char *suffix;
	} unit[] = { { 86400, 86400, " d" }, { 3600, 3600, " h" }, { 60, 60, " min" },
		{ 1, 1, " s" }, { 1e-1, 1, " s" }, { 1e-4, 1e-3, " ms" }, { 1e-7, 1e-6, " µs" },
		{ 0, 1e-9, " ns" } };
	double least;
	size_t i = 0;

	*t = (struct tg_ticks){ .unit = 1, .suffix = " s", .n = 1, .step = 1 };
	if (!(t_end > 0) || !isfinite(t_end))
		return;
	least = t_end / (double)(most - 1);
	if (least <= 0.5000001) {
		t->step = nice_step(least);
	} else {
		while (i < TG_ARRAY_SIZE(step) && step[i] < least * 0.9999999)
			i++;
		t->step = i < TG_ARRAY_SIZE(step) ? step[i] : nice_step(least / 86400) * 86400;
	}
	i = 0;
	while (t->step < unit[i].from * 0.9999999)
		i++;
	t->unit = unit[i].unit;
	t->suffix = unit[i].suffix;
	count_ticks(t, t_end);
}

size_t tg_tick_label(const struct tg_ticks *t, size_t i, char *out)
{
	size_t n;

	if (i == 0)
		return put_text("0", out);
	n = put_decimal((double)i * t->step / t->unit, t->decimals, true, out);
	return n + put_text(t->suffix, out + n);
}
