/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/noise.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/sorted.h"

#include "base/mem.h"

#define EXACT_MAX 40 /* values of both; sums of ranks are counted up to there */
#define P_MOST    0.05

#define MAD_TO_SD     1.4826 /* of normal values, as is the next */
#define MEAN_TO_SD    1.2533
#define MEDIAN_TO_SE2 1.5708 /* pi / 2: the variance of a median against that of a mean */

static double median_of(const double *sorted, size_t n)
{
	return n ? sorted[(n - 1) / 2] / 2 + sorted[n / 2] / 2 : NAN;
}

/* So that the deviation is right on average of n normal values (Croux and Rousseeuw, 1992). */
static double few(size_t n)
{
	static const double factor[] = { 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107 };
	size_t i = n - 2;

	return i < TG_ARRAY_SIZE(factor) ? factor[i] : (double)n / ((double)n - 0.8);
}

void tg_spread_of(double *v, size_t n, struct tg_spread *out)
{
	size_t known = 0;
	double *distance, mean = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[known++] = v[i];
	if (known)
		qsort(v, known, sizeof(*v), tg_by_double);
	*out = (struct tg_spread){ .n = known, .median = median_of(v, known), .sd = NAN };
	if (known < 2)
		return;
	distance = tg_xcalloc(known, sizeof(*distance));
	for (size_t i = 0; i < known; i++) {
		distance[i] = fabs(v[i] - out->median);
		mean += distance[i] / (double)known;
	}
	qsort(distance, known, sizeof(*distance), tg_by_double);
	out->sd = MAD_TO_SD * few(known) * median_of(distance, known);
	if (out->sd == 0)
		out->sd = MEAN_TO_SD * mean;
	free(distance);
}

/* ---- ranks ---- */

struct value {
	double v;
	bool of_a;
	size_t rank2; /* twice its rank: equal values have the mean of theirs */
};

static int by_v(const void *a, const void *b)
{
	return tg_by_double(&((const struct value *)a)->v, &((const struct value *)b)->v);
}

/* The sum over groups of t equal values of t^3 - t. */
static double rank(struct value *all, size_t n)
{
	double ties = 0;

	qsort(all, n, sizeof(*all), by_v);
	for (size_t i = 0, t; i < n; i += t) {
		for (t = 1; i + t < n && all[i + t].v == all[i].v; t++)
			continue;
		for (size_t k = 0; k < t; k++)
			all[i + k].rank2 = 2 * i + t + 1;
		ties += (double)t * (double)t * (double)t - (double)t;
	}
	return ties;
}

/* Of all ways to choose n of the values, the part with a sum of ranks of `sum2` / 2 or beyond. */
static double exact(const struct value *all, size_t n_all, size_t n, size_t sum2)
{
	size_t sums = n_all * (n_all + 1) + 1;
	double *ways = tg_xcalloc((n + 1) * sums, sizeof(*ways)); /* to choose k with such a sum */
	double below = 0, above = 0, total = 0;

	ways[0] = 1;
	for (size_t i = 0; i < n_all; i++)
		for (size_t k = TG_MIN(n, i + 1); k > 0; k--)
			for (size_t s = all[i].rank2; s < sums; s++)
				ways[k * sums + s] += ways[(k - 1) * sums + s - all[i].rank2];
	for (size_t s = 0; s < sums; s++) {
		total += ways[n * sums + s];
		below += s <= sum2 ? ways[n * sums + s] : 0;
		above += s >= sum2 ? ways[n * sums + s] : 0;
	}
	free(ways);
	return TG_MIN(1, 2 * TG_MIN(below, above) / total);
}

static double approximate(size_t n, size_t m, size_t sum2, double ties)
{
	double all = (double)(n + m);
	double mean = (double)n * (all + 1) / 2;
	double var = (double)n * (double)m / 12 * (all + 1 - ties / (all * (all - 1)));
	double off = fabs((double)sum2 / 2 - mean) - 0.5;

	return var > 0 && off > 0 ? erfc(off / sqrt(2 * var)) : 1;
}

double tg_rank_test(const double *a, size_t n, const double *b, size_t m)
{
	struct value *all = tg_xcalloc(n + m + 1, sizeof(*all));
	size_t sum2 = 0;
	double ties, p;

	for (size_t i = 0; i < n + m; i++)
		all[i] = (struct value){ .v = i < n ? a[i] : b[i - n], .of_a = i < n };
	ties = rank(all, n + m);
	for (size_t i = 0; i < n + m; i++)
		sum2 += all[i].of_a ? all[i].rank2 : 0;
	if (!n || !m)
		p = 1;
	else
		p = n + m <= EXACT_MAX ? exact(all, n + m, n, sum2) : approximate(n, m, sum2, ties);
	free(all);
	return p;
}

/* ---- the difference ---- */

/* The least p that n and m values can have: all of one below all of the other. */
static double least_p(size_t n, size_t m)
{
	double ways = 1;

	for (size_t i = 1; i <= TG_MIN(n, m) && ways < 1e6; i++)
		ways = ways * (double)(n + m + 1 - i) / (double)i;
	return TG_MIN(1, 2 / ways);
}

/* Student's t, both ways, 95 %. */
static double student(size_t freedom)
{
	static const double t[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
		2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
		2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042 };

	return freedom <= TG_ARRAY_SIZE(t) ? t[freedom - 1] : 1.96;
}

/* The variance of the median of n values of such a deviation; of one or two it is their mean. */
static double variance(double sd, size_t n)
{
	return sd * sd / (double)n * (n > 2 ? MEDIAN_TO_SE2 : 1);
}

static double noise_of(const struct tg_spread *a, const struct tg_spread *b)
{
	double sd_a = a->n > 1 ? a->sd : b->sd, sd_b = b->n > 1 ? b->sd : a->sd;
	size_t freedom = a->n - 1 + b->n - 1;

	return freedom ? student(freedom) * sqrt(variance(sd_a, a->n) + variance(sd_b, b->n)) : NAN;
}

void tg_difference_of(
	double *a, size_t n, double *b, size_t m, double tiny, struct tg_difference *out)
{
	*out = (struct tg_difference){
		.by = NAN, .pct = NAN, .noise = NAN, .noise_pct = NAN, .p = NAN
	};
	tg_spread_of(a, n, &out->a);
	tg_spread_of(b, m, &out->b);
	if (!out->a.n || !out->b.n)
		return;
	out->by = out->b.median - out->a.median;
	out->pct = out->by == 0 ? 0 : out->a.median != 0 ? 100 * out->by / out->a.median : NAN;
	out->noise = noise_of(&out->a, &out->b);
	out->noise_pct = out->a.median != 0 ? 100 * out->noise / out->a.median : NAN;
	if (!isnan(out->noise))
		out->p = tg_rank_test(a, out->a.n, b, out->b.n);
	if (fabs(out->by) < tiny)
		out->is = TG_CHANGE_TINY;
	else if (isnan(out->noise))
		out->is = TG_CHANGE_UNSURE;
	else if (fabs(out->by) > out->noise &&
		 out->p <= TG_MAX(P_MOST, least_p(out->a.n, out->b.n)) + 1e-9)
		out->is = TG_CHANGE_BEYOND;
	else
		out->is = TG_CHANGE_WITHIN;
}
