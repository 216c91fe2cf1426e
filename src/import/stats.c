/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/stats.h"

#include <math.h>

#include "base/sorted.h"

#include "base/mem.h"

void tg_stats_add(struct tg_stats *s, double v)
{
	if (isnan(v))
		return;
	TG_GROW(s->value, s->n + 1, s->cap);
	s->value[s->n++] = v;
}

static double quantile(const struct tg_stats *s, double q)
{
	double at, low;
	size_t i;

	if (!s->n)
		return NAN;
	at = q * (double)(s->n - 1);
	low = floor(at);
	i = (size_t)low;
	return i + 1 < s->n ? s->value[i] + (s->value[i + 1] - s->value[i]) * (at - low)
			    : s->value[s->n - 1];
}

static double mean_of(const struct tg_stats *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->value[i];
	return s->n ? sum / (double)s->n : NAN;
}

static double std_of(const struct tg_stats *s, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += (s->value[i] - mean) * (s->value[i] - mean);
	return s->n > 1 ? sqrt(sum / (double)(s->n - 1)) : NAN;
}

void tg_stats_write(struct tg_stats *s, struct tg_jw *w)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "min", 0 }, { "25%", 0.25 }, { "50%", 0.5 }, { "75%", 0.75 },
		{ "max", 1 } };
	double mean = mean_of(s);

	tg_jw_begin_object(w);
	tg_jw_kint(w, "count", (int64_t)s->n);
	tg_jw_knum(w, "mean", mean);
	tg_jw_knum(w, "std", std_of(s, mean));
	if (s->n)
		qsort(s->value, s->n, sizeof(*s->value), tg_by_double);
	for (size_t i = 0; i < TG_ARRAY_SIZE(quantiles); i++)
		tg_jw_knum(w, quantiles[i].name, quantile(s, quantiles[i].q));
	tg_jw_end_object(w);
	free(s->value);
	*s = (struct tg_stats){ 0 };
}
