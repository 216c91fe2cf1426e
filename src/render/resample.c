/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/resample.h"

#include <math.h>

#include "base/mem.h"

bool tg_bucket_is_value(const struct tg_bucket *b)
{
	return b->t1 >= b->t0 && isfinite(b->min) && isfinite(b->max) && isfinite(b->mean);
}

void tg_resample(const struct tg_series *s, const double *edge, size_t n, struct tg_bucket *out)
{
	size_t first = 0; /* buckets before it end before the slot */

	for (size_t i = 0; i < n; i++) {
		double a = edge[i], b = edge[i + 1];
		double sum = 0, weight = 0, min = INFINITY, max = -INFINITY;
		bool last = i + 1 == n;

		while (first < s->n_buckets && s->bucket[first].t1 <= a && s->bucket[first].t0 < a)
			first++;
		for (size_t k = first; k < s->n_buckets; k++) {
			const struct tg_bucket *p = &s->bucket[k];
			double w;

			if (p->t0 > b || (p->t0 == b && !last))
				break;
			if (!tg_bucket_is_value(p))
				continue;
			w = fmin(p->t1, b) - fmax(p->t0, a);
			/* A sliver is rounding of the edges, but an instant has no width at all. */
			if (p->t1 > p->t0 && w < 1e-9 * (b - a) && w < 1e-9 * (p->t1 - p->t0))
				continue;
			w = fmax(w, 1e-12 * (b - a));
			min = fmin(min, p->min);
			max = fmax(max, p->max);
			sum += w * p->mean;
			weight += w;
		}
		if (weight > 0)
			out[i] = (struct tg_bucket){ a, b, min, max, sum / weight };
		else
			out[i] = (struct tg_bucket){ a, b, NAN, NAN, NAN };
	}
}

void tg_peak_label(const struct tg_panel *p, const struct tg_series *s, double max, double t_end,
	char out[TG_PEAK_SIZE])
{
	const double edge[] = { 0, t_end };
	struct tg_bucket whole;
	int n = snprintf(out, TG_PEAK_SIZE, p->mean_only ? "mean " : "max ");

	if (p->mean_only)
		tg_resample(s, edge, 1, &whole);
	tg_num_short(p->mean_only ? whole.mean : max, out + n);
}
