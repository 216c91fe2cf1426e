/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether two sets of measurements differ by more than their own scatter. Made for few of them, of
 * which one may have been disturbed: medians, not means, and no distribution is assumed but for the
 * factor that makes a noise of a scatter.
 */
#ifndef TG_ANALYZE_NOISE_H
#define TG_ANALYZE_NOISE_H

#include <stddef.h>

struct tg_spread {
	size_t n; /* of known values */
	double median; /* NaN: of none */
	double sd; /* robust standard deviation, see tg_spread_of; NaN: of fewer than two */
};

/*
 * Of v[n], which are sorted by it; NaN are unknown and left out. The deviation is the median
 * distance from the median, times 1.4826 and a factor for so few values, as it is for normal ones;
 * where more than half are equal and not all, it is 1.2533 times the mean distance.
 */
void tg_spread_of(double *v, size_t n, struct tg_spread *out);

/*
 * The rank test of Mann and Whitney: how probable it is, both ways, that ranks are as uneven as
 * these or more when a[n] and b[m] are of one kind. Exact, also with equal values, up to 60 values
 * in all; beyond by the normal approximation. 1 when one of them is empty. No NaN.
 */
double tg_rank_test(const double *a, size_t n, const double *b, size_t m);

enum tg_judgement {
	TG_CHANGE_UNKNOWN, /* nothing is known of one of them */
	TG_CHANGE_TINY, /* less than is worth a word */
	TG_CHANGE_UNSURE, /* one value each: the noise is unknown */
	TG_CHANGE_WITHIN, /* the noise */
	TG_CHANGE_BEYOND,
};

struct tg_difference {
	struct tg_spread a, b;
	double by; /* median of b less that of a */
	double pct; /* of a; NaN when it is unknown, or a is 0 and b is not */
	double noise; /* by so much medians like these differ by chance; NaN: unknown */
	double noise_pct; /* of a */
	double p; /* of tg_rank_test; NaN: one value each, or none */
	enum tg_judgement is;
};

/*
 * b[m] against a[n], which both are sorted by it and may have NaN. The noise is Student's factor
 * for 95 % times the standard error of the difference of the medians; a single value takes the
 * scatter of the others. A difference is beyond it when it is larger and the ranks are as uneven as
 * 1 in 20 allows, or, with so few values that they cannot be, no value of one is among the other's.
 * Below `tiny` it is not judged.
 */
void tg_difference_of(
	double *a, size_t n, double *b, size_t m, double tiny, struct tg_difference *out);

#endif
