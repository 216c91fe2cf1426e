/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/describe.h"

#include <math.h>

#include "base/mem.h"

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

/* Let value[k] be what it is in order, the smaller ones before it and the others behind it. */
static void select_kth(double *value, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = value[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		while (i <= j) {
			while (value[i] < pivot)
				i++;
			while (value[j] > pivot)
				j--;
			if (i > j)
				break;
			swap(&value[i++], &value[j]);
			if (!j)
				break;
			j--;
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			return;
	}
}

static double quantile(double *value, size_t n, double share)
{
	double at = share * (double)(n - 1), next;
	size_t k = (size_t)at;

	select_kth(value, n, k);
	if (at <= (double)k || k + 1 == n)
		return value[k];
	next = value[k + 1];
	for (size_t i = k + 2; i < n; i++)
		next = fmin(next, value[i]);
	return value[k] + (next - value[k]) * (at - (double)k);
}

void tg_describe(double *value, size_t n, struct tg_description *out)
{
	double sum = 0, squares = 0;

	*out = (struct tg_description){ n, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	if (!n)
		return;
	out->min = out->max = value[0];
	for (size_t i = 0; i < n; i++) {
		sum += value[i];
		out->min = fmin(out->min, value[i]);
		out->max = fmax(out->max, value[i]);
	}
	out->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (value[i] - out->mean) * (value[i] - out->mean);
	if (n > 1)
		out->std = sqrt(squares / (double)(n - 1));
	out->q25 = quantile(value, n, 0.25);
	out->q50 = quantile(value, n, 0.5);
	out->q75 = quantile(value, n, 0.75);
}

void tg_describe_points(
	const struct tg_points *p, int64_t from_ns, int64_t to_ns, struct tg_description *out)
{
	double unit = pow(10, p->scale), *value;
	size_t n = 0;

	if (p->kind == TG_COUNTER) {
		struct tg_rates rates = { 0 };

		tg_rates_from(p, &rates);
		value = tg_xcalloc(rates.n + 1, sizeof(*value));
		for (size_t i = 0; i < rates.n; i++)
			if (rates.rate[i].t1_ns > from_ns && rates.rate[i].t0_ns < to_ns)
				value[n++] = rates.rate[i].per_s * unit;
		tg_rates_release(&rates);
	} else {
		value = tg_xcalloc(p->n + 1, sizeof(*value));
		for (size_t i = 0; i < p->n; i++)
			if (p->point[i].t_ns >= from_ns && p->point[i].t_ns <= to_ns)
				value[n++] = (double)p->point[i].value * unit;
	}
	tg_describe(value, n, out);
	free(value);
}

void tg_description_scale(struct tg_description *d, double factor)
{
	double *const value[] = { &d->mean, &d->std, &d->min, &d->q25, &d->q50, &d->q75, &d->max };

	for (size_t i = 0; i < TG_ARRAY_SIZE(value); i++)
		*value[i] *= factor;
}
