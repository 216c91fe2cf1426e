/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks and number texts. No locale: the decimal sign is a full stop wherever it runs. Formatting
 * is done by hand since a chart writes some 30,000 coordinates and printf would be most of its
 * cost.
 */
#ifndef TG_RENDER_AXIS_H
#define TG_RENDER_AXIS_H

#include <stddef.h>

#define TG_NUM_SIZE 40 /* room for any number text and its NUL */

/* Tick i (0 <= i < n) is at i * step; tg_tick_label() writes its text. */
struct tg_ticks {
	double step;
	size_t n;
	double unit; /* what 1 in a label stands for */
	const char *suffix; /* "", "k", " ms", " min" */
	int decimals;
};

/* Steps of 1, 2 or 5 times a power of ten within [0, max]; at most `most` (>= 2) ticks. */
void tg_ticks_value(struct tg_ticks *t, double max, size_t most);

/* The same for seconds: steps that clocks have, labelled in the unit of the step. */
void tg_ticks_time(struct tg_ticks *t, double t_end, size_t most);

/* Each returns the length written to `out` (TG_NUM_SIZE bytes, NUL-terminated). */
size_t tg_tick_label(const struct tg_ticks *t, size_t i, char *out);

/* `v` with at most `decimals` (0 to 17) places, without trailing zeros: "12.5", "0", "-3". */
size_t tg_num_fixed(double v, int decimals, char *out);

/* `v` with `digits` (1 to 12) significant digits, as JSON takes it: "0.01234", "1.234e-12". */
size_t tg_num_digits(double v, int digits, char *out);

/* For people: three digits, an SI prefix below 0.001 and from 10,000: "31.7", "0.004", "12.3k". */
size_t tg_num_short(double v, char *out);

/* A length of time for people: "21.5 s", "3 min 20 s", "2 h 5 min", "12 ms". */
size_t tg_num_seconds(double s, char *out);

#endif
