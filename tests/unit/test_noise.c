/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, scatter and ranks, against numbers that were worked out by hand. */
#include "tap.h"

#include "analyze/noise.h"

#include "base/mem.h"

#define DIFFERENCE(a, b, tiny, d)                                                                  \
	tg_difference_of(a, TG_ARRAY_SIZE(a), b, TG_ARRAY_SIZE(b), tiny, d)

static void test_spread(void)
{
	struct tg_spread s;

	tg_spread_of(NULL, 0, &s);
	T_OK(s.n == 0 && isnan(s.median) && isnan(s.sd));
	tg_spread_of((double[]){ NAN, 7, NAN }, 3, &s);
	T_OK(s.n == 1 && s.median == 7 && isnan(s.sd));
	/* two: each is 1 from 11; 1.4826 * 1.196 */
	tg_spread_of((double[]){ 12, 10 }, 2, &s);
	T_NEAR(s.median, 11, 0);
	T_NEAR(s.sd, 1.77319, 1e-5);
	/* five: distances from 12 are 0 1 2 3 88; 1.4826 * 1.206 * 2: the wild one changes nothing
	 */
	tg_spread_of((double[]){ 100, 9, 14, NAN, 12, 13 }, 6, &s);
	T_EQ_I(s.n, 5);
	T_NEAR(s.median, 13, 0);
	T_NEAR(s.sd, 1.4826 * 1.206 * 1, 1e-9); /* distances from 13: 0 1 1 4 87 */
	/* most are equal: the mean distance, 1 of 4 is 4 away */
	tg_spread_of((double[]){ 5, 5, 5, 9 }, 4, &s);
	T_NEAR(s.sd, 1.2533, 1e-9);
	tg_spread_of((double[]){ 5, 5, 5 }, 3, &s);
	T_NEAR(s.sd, 0, 0);
}

static void test_ranks(void)
{
	double many[2][40];

	T_NEAR(tg_rank_test((double[]){ 1, 2, 3 }, 3, (double[]){ 4, 5, 6 }, 3), 0.1, 1e-12);
	T_NEAR(tg_rank_test((double[]){ 4, 5, 6 }, 3, (double[]){ 1, 2, 3 }, 3), 0.1, 1e-12);
	/* sums of ranks 6 and 7 of 20 choices: 2 * 2 / 20 */
	T_NEAR(tg_rank_test((double[]){ 1, 2, 4 }, 3, (double[]){ 3, 5, 6 }, 3), 0.2, 1e-12);
	T_NEAR(tg_rank_test((double[]){ 1, 2, 3, 4 }, 4, (double[]){ 5, 6, 7, 8 }, 4), 2.0 / 70,
		1e-12);
	T_NEAR(tg_rank_test((double[]){ 1 }, 1, (double[]){ 2, 3, 4, 5, 6 }, 5), 2.0 / 6, 1e-12);
	T_NEAR(tg_rank_test((double[]){ 3, 3 }, 2, (double[]){ 3, 3 }, 2), 1, 1e-12);
	/* ranks 1, 2.5, 2.5, 4: of 6 choices two have the sum 3.5 or less: 2 * 2 / 6 */
	T_NEAR(tg_rank_test((double[]){ 1, 2 }, 2, (double[]){ 2, 3 }, 2), 4.0 / 6, 1e-12);
	T_NEAR(tg_rank_test(NULL, 0, (double[]){ 1 }, 1), 1, 0);
	/* beyond forty: 40 against 40 shifted by all of the range, and of the same */
	for (int i = 0; i < 40; i++) {
		many[0][i] = i;
		many[1][i] = i + 40;
	}
	T_OK(tg_rank_test(many[0], 40, many[1], 40) < 1e-10);
	T_OK(tg_rank_test(many[0], 40, many[0], 40) > 0.99);
	/* 21 against 20 is not exact, 20 against 20 is: they say nearly the same */
	T_NEAR(tg_rank_test(many[0], 21, many[0] + 5, 20),
		tg_rank_test(many[0], 20, many[0] + 5, 20), 0.05);
}

static void test_difference(void)
{
	double a[] = { 10, 11, 12 }, b[] = { 20, 22, 21 }, near[] = { 11, 12, 13 };
	double one[] = { 10 }, other[] = { 15 }, none[] = { NAN }, zero[] = { 0 };
	struct tg_difference d;

	/* sd 1.4826 * 1.495 * 1 on both; 2.776 * sqrt(2 * sd^2 / 3 * 1.5708) */
	DIFFERENCE(a, b, 0.01, &d);
	T_NEAR(d.by, 10, 0);
	T_NEAR(d.pct, 1000.0 / 11, 1e-9);
	T_NEAR(d.noise, 2.776 * sqrt(2 * 1.5708 / 3) * 1.4826 * 1.495, 1e-9);
	T_NEAR(d.noise_pct, d.noise / 11 * 100, 1e-9);
	T_NEAR(d.p, 0.1, 1e-12);
	T_EQ_I(d.is, TG_CHANGE_BEYOND);
	DIFFERENCE(b, a, 0.01, &d);
	T_NEAR(d.by, -10, 0);
	T_EQ_I(d.is, TG_CHANGE_BEYOND);
	DIFFERENCE(a, near, 0.01, &d);
	T_EQ_I(d.is, TG_CHANGE_WITHIN);
	DIFFERENCE(a, near, 2, &d);
	T_EQ_I(d.is, TG_CHANGE_TINY);
	DIFFERENCE(one, other, 0.01, &d);
	T_EQ_I(d.is, TG_CHANGE_UNSURE);
	T_OK(d.pct == 50 && isnan(d.noise) && isnan(d.p));
	DIFFERENCE(one, none, 0.01, &d);
	T_EQ_I(d.is, TG_CHANGE_UNKNOWN);
	T_OK(isnan(d.by) && isnan(d.pct) && d.a.median == 10 && isnan(d.b.median));
	DIFFERENCE(zero, one, 0.01, &d);
	T_OK(isnan(d.pct) && d.by == 10 && isnan(d.noise_pct));
	DIFFERENCE(zero, zero, 0.01, &d);
	T_OK(d.pct == 0);
	/* one run takes the scatter of three: 4.303 * sd * sqrt(1 + 1.5708 / 3) */
	DIFFERENCE(one, b, 0.01, &d);
	T_NEAR(d.noise, 4.303 * 1.4826 * 1.495 * sqrt(1 + 1.5708 / 3), 1e-9);
	T_EQ_I(d.is, TG_CHANGE_WITHIN); /* 11 is less than 11.77 */
}

/* Larger than the noise of the medians, but one of the three is among the others. */
static void test_separate(void)
{
	double a[] = { 10, 10.1, 30 }, b[] = { 20, 20.1, 20.2 };
	struct tg_difference d;

	DIFFERENCE(a, b, 0.01, &d);
	T_OK(d.by > d.noise);
	T_EQ_I(d.is, TG_CHANGE_WITHIN);
	a[2] = 10.2;
	DIFFERENCE(a, b, 0.01, &d);
	T_EQ_I(d.is, TG_CHANGE_BEYOND);
}

int main(void)
{
	test_spread();
	test_ranks();
	test_difference();
	test_separate();
	return t_done();
}
