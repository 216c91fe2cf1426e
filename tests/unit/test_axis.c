/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <locale.h>

#include "render/axis.h"

#include "base/mem.h"

static const char *fixed(double v, int decimals)
{
	static char text[TG_NUM_SIZE];

	tg_num_fixed(v, decimals, text);
	return text;
}

static const char *digits(double v)
{
	static char text[TG_NUM_SIZE];

	tg_num_digits(v, 4, text);
	return text;
}

static const char *brief(double v)
{
	static char text[TG_NUM_SIZE];

	tg_num_short(v, text);
	return text;
}

static const char *seconds(double v)
{
	static char text[TG_NUM_SIZE];

	tg_num_seconds(v, text);
	return text;
}

static void test_numbers(void)
{
	T_EQ_S(fixed(0, 1), "0");
	T_EQ_S(fixed(12.34, 1), "12.3");
	T_EQ_S(fixed(12.96, 1), "13");
	T_EQ_S(fixed(-0.04, 1), "0");
	T_EQ_S(fixed(-3.25, 2), "-3.25");
	T_EQ_S(fixed(1e15, 9), "1000000000000000");
	T_EQ_S(fixed(NAN, 1), "?");
	T_EQ_S(digits(0), "0");
	T_EQ_S(digits(1.23456), "1.235");
	T_EQ_S(digits(99999), "100000");
	T_EQ_S(digits(0.000123456), "0.0001235");
	T_EQ_S(digits(1.23456e-12), "1.235e-12");
	T_EQ_S(digits(9.99999e-12), "10e-12");
	T_EQ_S(digits(1.23456e15), "1235000000000000");
	T_EQ_S(digits(1.23456e22), "1.235e22");
	T_EQ_S(digits(NAN), "null");
	T_EQ_S(brief(31.66), "31.7");
	T_EQ_S(brief(0.266), "0.27");
	T_EQ_S(brief(2.5), "2.5");
	T_EQ_S(brief(492.4), "492");
	T_EQ_S(brief(9999), "9999");
	T_EQ_S(brief(12345), "12.3k");
	T_EQ_S(brief(1e15), "1P");
	T_EQ_S(brief(1e-12), "1p");
	T_EQ_S(seconds(0.0034), "3.4 ms");
	T_EQ_S(seconds(0.25), "250 ms");
	T_EQ_S(seconds(21.54), "21.5 s");
	T_EQ_S(seconds(119.9), "119.9 s");
	T_EQ_S(seconds(200), "3 min 20 s");
	T_EQ_S(seconds(7199.9), "2 h");
	T_EQ_S(seconds(7500), "2 h 5 min");
	T_EQ_S(seconds(90000), "1 d 1 h");
}

/* What JSON and SVG take must read back as the value, over all magnitudes. */
static void test_numbers_read_back(void)
{
	uint64_t seed = 42;
	int wrong = 0;

	for (int i = 0; i < 20000; i++) {
		double v = (double)(t_random(&seed) >> 11) / 9007199254740992.0;
		char text[TG_NUM_SIZE];

		v = v * pow(10, (double)(t_random(&seed) % 28) - 12);
		tg_num_digits(v, 4, text);
		wrong += fabs(strtod(text, NULL) - v) > 0.000501 * v;
		wrong += strlen(text) > 20;
		tg_num_digits(v, 12, text);
		wrong += fabs(strtod(text, NULL) - v) > 1e-11 * v;
		if (v > 1e12)
			continue;
		tg_num_fixed(v, 1, text);
		wrong += fabs(strtod(text, NULL) - v) > 0.0501 + 1e-15 * v;
	}
	T_EQ_I(wrong, 0);
}

static void check_ticks(const struct tg_ticks *t, double end, size_t most)
{
	char text[TG_NUM_SIZE], before[TG_NUM_SIZE] = "";

	T_OK(t->n >= 1 && t->n <= most);
	T_OK((double)(t->n - 1) * t->step <= end * (1 + 1e-6));
	for (size_t i = 0; i < t->n; i++) {
		T_OK(tg_tick_label(t, i, text) < 16);
		T_OK(strcmp(text, before) != 0);
		memcpy(before, text, sizeof(text));
	}
}

static void test_ticks(void)
{
	struct tg_ticks t;
	char text[TG_NUM_SIZE];

	for (double max = 1e-12; max < 2e15; max *= 3.7) {
		tg_ticks_value(&t, max, 5);
		check_ticks(&t, max, 5);
		T_OK(t.n >= 2);
		tg_ticks_time(&t, max, 9);
		check_ticks(&t, max, 9);
	}
	tg_ticks_value(&t, 0, 5);
	T_EQ_I(t.n, 1);
	tg_ticks_value(&t, NAN, 5);
	T_EQ_I(t.n, 1);
	tg_ticks_time(&t, 0, 5);
	T_EQ_I(t.n, 1);

	tg_ticks_value(&t, 38.1, 5);
	T_NEAR(t.step, 10, 0);
	T_EQ_I(t.n, 4);
	tg_ticks_value(&t, 2.4e9, 5);
	tg_tick_label(&t, 1, text);
	T_EQ_S(text, "1G");
	tg_ticks_time(&t, 62, 9);
	T_NEAR(t.step, 10, 0);
	tg_tick_label(&t, 6, text);
	T_EQ_S(text, "60 s");
	tg_ticks_time(&t, 3000, 6);
	tg_tick_label(&t, 3, text);
	T_EQ_S(text, "30 min");
	tg_ticks_time(&t, 86400 * 3, 8);
	tg_tick_label(&t, 1, text);
	T_EQ_S(text, "12 h");
	tg_ticks_time(&t, 0.012, 8);
	tg_tick_label(&t, 1, text);
	T_EQ_S(text, "2 ms");
}

int main(void)
{
	/* A locale with a decimal comma, where the machine has one, must change nothing. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	test_numbers();
	setlocale(LC_NUMERIC, "C"); /* for strtod() */
	test_numbers_read_back();
	test_ticks();
	return t_done();
}
