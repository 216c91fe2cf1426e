/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/series.h"

#include <math.h>

#include "base/mem.h"

/*
 * So much later than it was used CPU time is counted at most: processes that are found late are
 * found within a second. More than that has another reason, such as cores that were added.
 */
#define LATE_S 1

static void add_rate(struct tg_rates *out, const struct tg_rate *rate)
{
	TG_GROW(out->rate, out->n + 1, out->cap);
	out->rate[out->n++] = *rate;
}

/* Put a stretch that is too short for a rate of its own into the one before it. */
static void merge_rate(struct tg_rates *out, int64_t t1_ns, double increase)
{
	struct tg_rate *last = &out->rate[out->n - 1];
	double before = (double)(last->t1_ns - last->t0_ns);
	double sum = last->per_s * before / 1e9 + increase;

	last->t1_ns = t1_ns;
	last->per_s = sum * 1e9 / (double)(t1_ns - last->t0_ns);
}

/* What is too much for one stretch, with what was `over` in its neighbour. */
static double take_over(struct tg_rate *r, double over, double most_per_s, double late_s)
{
	double time_s = (double)(r->t1_ns - r->t0_ns) / 1e9, sum = r->per_s * time_s + over;
	double rest = fmin(fmax(sum - most_per_s * time_s, 0), most_per_s * late_s);

	r->per_s = (sum - rest) / time_s;
	if (rest < most_per_s * late_s)
		r->per_s = fmin(r->per_s, most_per_s); /* not a last digit more */
	return rest;
}

/* Rates above `most_per_s` give to their neighbours what was counted up to `late_s` too late. */
static void level(struct tg_rates *rates, double most_per_s, double late_s)
{
	for (size_t begin = 0, end; begin < rates->n && most_per_s > 0; begin = end) {
		double over = 0;

		for (end = begin + 1; end < rates->n && !rates->rate[end].cut; end++)
			continue;
		for (size_t i = end; i > begin; i--)
			over = take_over(&rates->rate[i - 1], over, most_per_s, late_s);
		for (size_t i = begin; i < end && over > 0; i++)
			over = take_over(&rates->rate[i], over, most_per_s, late_s);
	}
}

void tg_rates_from(const struct tg_points *p, struct tg_rates *out)
{
	size_t i = 0;

	while (i + 1 < p->n) {
		const struct tg_series_point *a = &p->point[i];
		struct tg_rate rate = { .t0_ns = a->t_ns };
		double increase;
		size_t j = i;

		/* take points together until there is enough time between them */
		while (j + 1 < p->n && !p->point[j + 1].cut &&
			p->point[j + 1].value >= p->point[j].value &&
			(j == i || p->point[j].t_ns - a->t_ns < TG_RATE_MIN_NS))
			j++;
		if (j == i) { /* a gap or a decrease: start anew behind it */
			i++;
			continue;
		}
		i = j;
		rate.t1_ns = p->point[j].t_ns;
		increase = (double)p->point[j].value - (double)a->value;
		rate.cut = !out->n || out->rate[out->n - 1].t1_ns != a->t_ns;
		if (!rate.cut && rate.t1_ns - rate.t0_ns < TG_RATE_MIN_NS) {
			merge_rate(out, rate.t1_ns, increase);
		} else if (rate.t1_ns > rate.t0_ns) {
			rate.per_s = increase * 1e9 / (double)(rate.t1_ns - rate.t0_ns);
			add_rate(out, &rate);
		}
	}
	level(out, p->allowed_per_s, (double)TG_RATE_MIN_NS / 1e9);
	level(out, p->most_per_s, LATE_S);
}

void tg_rates_release(struct tg_rates *rates)
{
	free(rates->rate);
	*rates = (struct tg_rates){ 0 };
}
