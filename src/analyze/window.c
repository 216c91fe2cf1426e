/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/window.h"

#include <math.h>

#include "analyze/totals.h"

#include "base/mem.h"

#define SAMPLES_MIN 2 /* between the edges, for rates of its own */

/* The value of the counter at an edge: a point with that stamp in `out`. False: unknown. */
static bool point_at(
	const struct tg_points *p, int64_t t_ns, int64_t tolerance_ns, struct tg_series_point *out)
{
	const struct tg_series_point *a, *b;
	size_t i = 0; /* the first point at or after the edge */
	int64_t d0, d1;

	while (i < p->n && p->point[i].t_ns < t_ns)
		i++;
	a = i ? &p->point[i - 1] : NULL;
	b = i < p->n ? &p->point[i] : NULL;
	d0 = a ? t_ns - a->t_ns : INT64_MAX;
	d1 = b ? b->t_ns - t_ns : INT64_MAX;
	*out = (struct tg_series_point){ .t_ns = t_ns };
	if (a && d0 <= tolerance_ns && d0 < d1) {
		out->value = a->value;
		return true;
	}
	if (b && d1 <= tolerance_ns) {
		out->value = b->value;
		return true;
	}
	if (!a || !b || b->cut || b->value < a->value)
		return false;
	/* the difference of two values may not fit into 64 bits, and lies between them in the end
	 */
	out->value = (int64_t)(a->value + ((__int128)b->value - a->value) * d0 / (d0 + d1));
	return true;
}

/* Whether nothing between the points hinders one difference over all of them. */
static bool is_joined(const struct tg_points *p, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 1; i < p->n; i++)
		if (p->point[i].t_ns > from_ns && p->point[i - 1].t_ns < to_ns &&
			(p->point[i].cut || p->point[i].value < p->point[i - 1].value))
			return false;
	return true;
}

bool tg_points_window(struct tg_points *p, int64_t from_ns, int64_t to_ns)
{
	int64_t wide = TG_MAX(TG_EDGE_NS, (to_ns - from_ns) / 20);
	int64_t own = TG_MAX(wide, TG_RATE_MIN_NS); /* nearer to an edge a row has no rate */
	struct tg_points in = *p;
	struct tg_series_point edge[2];
	bool known[2], single, cut = false;
	size_t samples = 0;

	in.point = NULL;
	in.n = in.cap = 0;
	if (p->kind != TG_COUNTER || to_ns <= from_ns)
		return false;
	for (size_t i = 0; i < p->n; i++)
		samples += p->point[i].t_ns > from_ns + own && p->point[i].t_ns < to_ns - own;
	single = samples < SAMPLES_MIN;
	/* a long span has rates enough that one need not be bent to the edge */
	for (int e = 0; e < 2; e++)
		known[e] = point_at(p, e ? to_ns : from_ns, single ? wide : TG_EDGE_NS, &edge[e]);
	single = single && is_joined(p, from_ns, to_ns);
	if (known[0])
		tg_points_add(&in, from_ns, edge[0].value, true);
	for (size_t i = 0; i < p->n; i++) {
		const struct tg_series_point *q = &p->point[i];

		if (q->t_ns <= from_ns + (known[0] ? TG_EDGE_NS : 0))
			continue;
		cut = cut || q->cut;
		if (q->t_ns >= to_ns - (known[1] ? TG_EDGE_NS : 0))
			break;
		if (single && known[0] && known[1])
			continue;
		tg_points_add(&in, q->t_ns, q->value, cut);
		cut = false;
	}
	if (known[1])
		tg_points_add(&in, to_ns, edge[1].value, cut);
	tg_points_release(p);
	*p = in;
	return single;
}

double tg_points_mean(const struct tg_points *p, int64_t from_ns, int64_t to_ns)
{
	double sum = 0, time = 0, lone = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct tg_series_point *b = &p->point[i], *a = b - 1;
		double t0, t1, slope, mid;

		if (b->t_ns >= from_ns && b->t_ns <= to_ns) {
			lone += (double)b->value;
			n++;
		}
		if (!i || b->cut || b->t_ns <= from_ns || a->t_ns >= to_ns)
			continue;
		t0 = (double)(TG_MAX(a->t_ns, from_ns) - a->t_ns);
		t1 = (double)(TG_MIN(b->t_ns, to_ns) - a->t_ns);
		slope = ((double)b->value - (double)a->value) / (double)(b->t_ns - a->t_ns);
		mid = (double)a->value + slope * (t0 + t1) / 2;
		sum += mid * (t1 - t0);
		time += t1 - t0;
	}
	return time > 0 ? sum / time : n ? lone / (double)n : NAN;
}
