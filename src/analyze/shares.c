/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/shares.h"

#include <math.h>

#include "base/metric.h"

#include "base/mem.h"

#define HOLDS 0.9 /* of the peak: as near as the sampler lets it stand for what is there */

void tg_shares_init(struct tg_shares *s)
{
	*s = (struct tg_shares){ NAN, NAN, TG_MISSING };
}

/* Of a column that there is not in this table, TG_MISSING. */
static int64_t value_at(const struct tg_block *b, size_t column, uint32_t row)
{
	return column < b->n_columns ? b->values[column * b->cap + row] : TG_MISSING;
}

void tg_shares_take(struct tg_shares *s, const struct tg_block *block,
	const struct tg_shares_columns *at, int64_t begin_ns, int64_t end_ns, int64_t last_ns)
{
	if (at->pss >= block->n_columns)
		return;
	for (uint32_t row = 0; row < block->n_rows && block->t_ns[row] <= last_ns; row++) {
		int64_t pss = value_at(block, at->pss, row), rss = value_at(block, at->rss, row);
		int64_t age = value_at(block, at->age, row), found_ns = block->t_ns[row];

		if (pss == TG_MISSING || found_ns < begin_ns)
			continue;
		if (age > 0)
			found_ns -= TG_MIN(age, found_ns);
		if (found_ns < begin_ns || found_ns > end_ns)
			continue;
		s->pss_bytes = fmax(s->pss_bytes, (double)pss * at->pss_scale);
		if (rss != TG_MISSING)
			s->rss_bytes = fmax(s->rss_bytes, (double)rss * at->rss_scale);
		s->found_ns = TG_MAX(s->found_ns, found_ns);
	}
}

bool tg_shares_cut(struct tg_points *pss, const struct tg_points *rss)
{
	double before = NAN, least = NAN, most = NAN,
	       now = NAN; /* of RSS; the two between points */
	bool lower = false;
	size_t k = 0;

	for (size_t i = 0; i < pss->n; i++) {
		struct tg_series_point *p = &pss->point[i];

		for (; k < rss->n && rss->point[k].t_ns <= p->t_ns; k++) {
			now = (double)rss->point[k].value;
			least = fmin(least, now);
			most = fmax(most, now);
		}
		p->cut |= HOLDS * most > fmax(before, now) || least < HOLDS * fmin(before, now);
		lower |= (double)p->value < HOLDS * now;
		before = least = most = now;
	}
	return lower;
}

bool tg_shares_hold(const struct tg_shares *s, double rss_peak_bytes)
{
	return s->rss_bytes >= HOLDS * rss_peak_bytes;
}
