/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers and words of a line, which ends with a NUL. No locale, no library call: logs of a week
 * have a hundred million of them. A decimal comma is as good as a point where a digit follows.
 */
#ifndef TG_IMPORT_SCAN_H
#define TG_IMPORT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TG_SCAN_DIGITS 18 /* more of them are passed over: no tool prints so many */

static inline const char *tg_scan_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* To the blank, or the end, behind the word at `p`. */
static inline const char *tg_scan_word(const char *p)
{
	while (*p && *p != ' ' && *p != '\t')
		p++;
	return p;
}

static inline bool tg_scan_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline double tg_scan_power(unsigned n)
{
	static const double power[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18 };

	return power[n];
}

/* "-12.5", "11,12": the place behind it, or NULL when there is no number at `p`. */
static inline const char *tg_scan_number(const char *p, double *v)
{
	bool negative = *p == '-';
	uint64_t n = 0;
	unsigned digits = 0, decimals = 0;

	p += negative;
	if (!tg_scan_is_digit(*p))
		return NULL;
	for (; tg_scan_is_digit(*p); p++)
		if (digits < TG_SCAN_DIGITS) {
			n = n * 10 + (unsigned)(*p - '0');
			digits += n > 0;
		}
	if ((*p == '.' || *p == ',') && tg_scan_is_digit(p[1]))
		for (p++; tg_scan_is_digit(*p); p++)
			if (digits < TG_SCAN_DIGITS && decimals < TG_SCAN_DIGITS) {
				n = n * 10 + (unsigned)(*p - '0');
				digits += n > 0;
				decimals++;
			}
	*v = (double)n;
	if (decimals)
		*v /= tg_scan_power(decimals); /* exact to the last bit up to 2^53 */
	if (negative)
		*v = -*v;
	return p;
}

/* Digits alone; at most 9 of them. The place behind, or NULL. */
static inline const char *tg_scan_digits(const char *p, int *v)
{
	int n = 0, digits = 0;

	for (; tg_scan_is_digit(*p); p++)
		if (++digits <= 9)
			n = n * 10 + (*p - '0');
	*v = n;
	return digits && digits <= 9 ? p : NULL;
}

/* What a k, m, g, t, p or e behind a number stands for; 0: it is none of these. */
static inline double tg_scan_suffix(char c)
{
	switch (c | 0x20) {
	case 'k':
		return 1024.0;
	case 'm':
		return 1024.0 * 1024;
	case 'g':
		return 1024.0 * 1024 * 1024;
	case 't':
		return 1024.0 * 1024 * 1024 * 1024;
	case 'p':
		return 1024.0 * 1024 * 1024 * 1024 * 1024;
	case 'e':
		return 1024.0 * 1024 * 1024 * 1024 * 1024 * 1024;
	default:
		return 0;
	}
}

static inline bool tg_scan_starts(const char *p, const char *with)
{
	return !strncmp(p, with, strlen(with));
}

/* Whether the word from `p` to `end` is that one. */
static inline bool tg_scan_is(const char *p, const char *end, const char *word)
{
	size_t n = (size_t)(end - p);

	return strlen(word) == n && !memcmp(p, word, n);
}

#endif
