/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unit tests' framework: TAP on stdout, one line a check, failed ones with file, line and both
 * values on stderr. A test program is a main() that calls checks and ends with `return t_done();`.
 */
#ifndef TG_TESTS_TAP_H
#define TG_TESTS_TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int t_n, t_failed;

static inline bool t_check(bool ok, const char *file, int line, const char *what)
{
	t_n++;
	printf("%sok %d - %s:%d %s\n", ok ? "" : "not ", t_n, file, line, what);
	if (!ok) {
		t_failed++;
		fprintf(stderr, "# %s:%d: failed: %s\n", file, line, what);
	}
	return ok;
}

static inline bool t_eq_i(int64_t a, int64_t b, const char *file, int line, const char *what)
{
	if (!t_check(a == b, file, line, what))
		fprintf(stderr, "#   got %" PRId64 ", want %" PRId64 "\n", a, b);
	return a == b;
}

static inline bool t_eq_s(
	const char *a, const char *b, const char *file, int line, const char *what)
{
	bool ok = a && b && !strcmp(a, b);

	if (!t_check(ok, file, line, what))
		fprintf(stderr, "#   got  |%s|\n#   want |%s|\n", a ? a : "(null)",
			b ? b : "(null)");
	return ok;
}

static inline bool t_near(
	double a, double b, double tol, const char *file, int line, const char *what)
{
	bool ok = fabs(a - b) <= tol;

	if (!t_check(ok, file, line, what))
		fprintf(stderr, "#   got %.17g, want %.17g within %g\n", a, b, tol);
	return ok;
}

#define T_OK(x)           t_check((x), __FILE__, __LINE__, #x)
#define T_EQ_I(a, b)      t_eq_i((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define T_EQ_S(a, b)      t_eq_s((a), (b), __FILE__, __LINE__, #a " is " #b)
#define T_NEAR(a, b, tol) t_near((a), (b), (tol), __FILE__, __LINE__, #a " ~ " #b)
#define T_SKIP(what, why) (t_n++, printf("ok %d - %s # SKIP %s\n", t_n, what, why))

/* xorshift64*: the same numbers for the same seed; print the seed when a property fails */
static inline uint64_t t_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

/* Where fixtures and golden files are: the source tree's tests/, from the environment. */
static inline const char *t_dir(void)
{
	const char *dir = getenv("TG_TESTS_DIR");

	return dir ? dir : "tests";
}

static inline int t_done(void)
{
	printf("1..%d\n", t_n);
	return t_failed ? 1 : 0;
}

#endif
