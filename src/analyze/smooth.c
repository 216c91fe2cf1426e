/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/smooth.h"

#include <math.h>

#include "base/mem.h"

/* A stretch of time in which the value is known: a line from v0 to v1. */
struct stretch {
	int64_t t0_ns, t1_ns;
	double v0, v1;
};

struct stretches {
	struct stretch *at;
	size_t n, cap;
};

/* Goes forward through the stretches and adds up what is behind it. */
struct cursor {
	const struct stretches *of;
	size_t i;
	double area; /* value times seconds */
	double known_s;
};

static void add(struct stretches *s, int64_t t0_ns, int64_t t1_ns, double v0, double v1)
{
	if (t1_ns <= t0_ns)
		return;
	TG_GROW(s->at, s->n + 1, s->cap);
	s->at[s->n++] = (struct stretch){ t0_ns, t1_ns, v0, v1 };
}

static void stretches_of(const struct tg_points *p, struct stretches *out)
{
	double unit = pow(10, p->scale);

	if (p->kind == TG_COUNTER) {
		struct tg_rates rates = { 0 };

		tg_rates_from(p, &rates);
		for (size_t i = 0; i < rates.n; i++) {
			const struct tg_rate *r = &rates.rate[i];

			add(out, r->t0_ns, r->t1_ns, r->per_s * unit, r->per_s * unit);
		}
		tg_rates_release(&rates);
		return;
	}
	for (size_t i = 1; i < p->n; i++)
		if (!p->point[i].cut)
			add(out, p->point[i - 1].t_ns, p->point[i].t_ns,
				(double)p->point[i - 1].value * unit,
				(double)p->point[i].value * unit);
}

/* Area and known time of the beginning of a stretch, up to t_ns. */
static void part(const struct stretch *s, int64_t t_ns, double *area, double *known_s)
{
	double whole = (double)(s->t1_ns - s->t0_ns);
	double share = (double)(TG_MIN(t_ns, s->t1_ns) - s->t0_ns) / whole;
	double end = s->v0 + (s->v1 - s->v0) * share;

	*known_s = whole * share / 1e9;
	*area = (s->v0 + end) / 2 * *known_s;
}

/* Sums up to t_ns, which never falls from call to call. Returns whether it lies in a stretch. */
static bool sums_at(struct cursor *c, int64_t t_ns, double *area, double *known_s)
{
	double a, k;

	for (; c->i < c->of->n && c->of->at[c->i].t1_ns <= t_ns; c->i++) {
		part(&c->of->at[c->i], t_ns, &a, &k);
		c->area += a;
		c->known_s += k;
	}
	*area = c->area;
	*known_s = c->known_s;
	if (c->i == c->of->n || c->of->at[c->i].t0_ns > t_ns)
		return c->i && c->of->at[c->i - 1].t1_ns == t_ns;
	part(&c->of->at[c->i], t_ns, &a, &k);
	*area += a;
	*known_s += k;
	return true;
}

void tg_smooth(const struct tg_points *p, int64_t window_ns, struct tg_bin *bin, size_t n)
{
	struct stretches all = { 0 };
	struct cursor low = { .of = &all }, mid = { .of = &all }, high = { .of = &all };

	stretches_of(p, &all);
	for (size_t i = 0; i < n; i++) {
		int64_t t = bin[i].t0_ns + (bin[i].t1_ns - bin[i].t0_ns) / 2;
		double a0, a1, k0, k1, room_s = 0, mean = NAN;

		if (all.n)
			room_s = (double)(TG_MIN(t + window_ns / 2, all.at[all.n - 1].t1_ns) -
					  TG_MAX(t - window_ns / 2, all.at[0].t0_ns)) /
				 1e9;
		sums_at(&low, t - window_ns / 2, &a0, &k0);
		sums_at(&high, t + window_ns / 2, &a1, &k1);
		if (sums_at(&mid, t, &(double){ 0 }, &(double){ 0 }) && k1 > k0 &&
			2 * (k1 - k0) >= room_s)
			mean = (a1 - a0) / (k1 - k0);
		bin[i].min = bin[i].max = bin[i].mean = mean;
	}
	free(all.at);
}
