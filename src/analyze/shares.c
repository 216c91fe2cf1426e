/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/shares.h"

#include <math.h>

#include "base/metric.h"

#include "base/mem.h"

#define HOLDS 0.9 /* of RSS: as near as the sampler lets a reading stand for what is there */

void tg_shares_init(struct tg_shares *s, const struct tg_span *span, int64_t tolerance_ns)
{
	*s = (struct tg_shares){
		.top_bytes = NAN,
		.pss_bytes = NAN,
		.found_ns = TG_MISSING,
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.tolerance_ns = tolerance_ns,
		.last.t_ns = TG_MISSING,
		.since_ns = span->begin_ns,
		.reading_ns = TG_MISSING,
		.waiting_bytes = NAN,
	};
}

void tg_shares_session(
	struct tg_shares *s, const struct tg_edges *edges, const struct tg_peaks *lives)
{
	s->edges = edges;
	s->lives = lives;
}

static void keep(struct tg_shares *s, double bytes, bool is_pss)
{
	if (s->top_bytes >= bytes)
		return;
	s->top_bytes = bytes;
	s->top_is_pss = is_pss;
}

/* What a reading tells of a moment: of pages there are no more than were resident. */
static void keep_least(struct tg_shares *s, double rss_bytes, double pss_bytes)
{
	keep(s, fmin(rss_bytes, pss_bytes), pss_bytes < rss_bytes);
}

static void no_reading_comes(struct tg_shares *s)
{
	if (!isnan(s->waiting_bytes))
		keep(s, s->waiting_bytes, false);
	s->waiting_bytes = NAN;
}

/* A row of the span, also as one that stands for an edge of a span within. */
static void put(struct tg_shares *s, const struct tg_shares_row *row)
{
	double rss = row->rss_bytes;

	if (HOLDS * s->waiting_bytes > rss) /* what was there then is there no more */
		no_reading_comes(s);
	if (row->found_ns != TG_MISSING && row->found_ns >= s->since_ns &&
		row->found_ns != s->reading_ns) {
		s->reading_ns = row->found_ns;
		s->reading_bytes = row->pss_bytes;
		s->low_bytes = rss;
		if (!isnan(s->waiting_bytes))
			keep_least(s, s->waiting_bytes, s->reading_bytes);
		s->waiting_bytes = NAN;
	}
	s->low_bytes = fmin(s->low_bytes, rss);
	if (tg_peaks_lived(s->lives, row->t_ns, row->t_ns) < 2)
		keep(s, rss, false);
	else if (s->reading_ns != TG_MISSING && HOLDS * rss <= s->low_bytes)
		keep_least(s, rss, s->reading_bytes);
	else
		s->waiting_bytes = fmax(s->waiting_bytes, rss);
}

static bool is_nearer_after(int64_t before_ns, int64_t edge_ns, int64_t after_ns)
{
	return before_ns == TG_MISSING || after_ns - edge_ns < edge_ns - before_ns;
}

static void step(struct tg_shares *s, const struct tg_shares_row *row)
{
	const struct tg_edges *e = s->edges;
	int64_t t = row->t_ns, before = s->last.t_ns;
	bool counts = t >= s->begin_ns;

	if (counts && (before == TG_MISSING || before < s->begin_ns)) {
		s->last_counts = !is_nearer_after(before, s->begin_ns, t) &&
				 s->begin_ns - before <= s->tolerance_ns;
		if (s->last_counts)
			put(s, &s->last);
	}
	if (t > s->end_ns)
		counts = is_nearer_after(before, s->end_ns, t) && t - s->end_ns <= s->tolerance_ns;
	for (size_t i = tg_edges_after(
		     e, before == TG_MISSING ? s->begin_ns : TG_MAX(before, s->begin_ns));
		i < e->n && e->edge[i].t_ns <= t && e->edge[i].t_ns < s->end_ns; i++) {
		bool after = is_nearer_after(before, e->edge[i].t_ns, t);

		no_reading_comes(s);
		if (!e->edge[i].begin) {
			if (after && counts)
				put(s, row);
			no_reading_comes(s);
			continue;
		}
		s->since_ns = e->edge[i].t_ns;
		s->reading_ns = TG_MISSING;
		if (!after && s->last_counts)
			put(s, &s->last);
	}
	s->over = t > s->end_ns;
	if (s->over)
		no_reading_comes(s);
	if (counts)
		put(s, row);
	s->last = *row;
	s->last_counts = counts;
}

/* The largest reading that was found in the span, whatever it tells of. */
static void note_reading(struct tg_shares *s, const struct tg_shares_row *row)
{
	if (row->found_ns == TG_MISSING || row->found_ns < s->begin_ns ||
		row->found_ns > s->end_ns || row->t_ns > s->end_ns + s->tolerance_ns)
		return;
	s->pss_bytes = fmax(s->pss_bytes, row->pss_bytes);
	s->found_ns = TG_MAX(s->found_ns, row->found_ns);
}

/* Of a column that there is not in this table, TG_MISSING. */
static int64_t value_at(const struct tg_block *b, size_t column, uint32_t row)
{
	return column < b->n_columns ? b->values[column * b->cap + row] : TG_MISSING;
}

void tg_shares_take(
	struct tg_shares *s, const struct tg_block *block, const struct tg_shares_columns *at)
{
	for (uint32_t i = 0; i < block->n_rows && !s->over; i++) {
		int64_t rss = value_at(block, at->rss, i), pss = value_at(block, at->pss, i);
		int64_t age = value_at(block, at->age, i);
		struct tg_shares_row row = {
			.t_ns = block->t_ns[i],
			.found_ns = TG_MISSING,
			.rss_bytes = (double)rss * at->rss_scale,
			.pss_bytes = (double)pss * at->pss_scale,
		};

		if (rss == TG_MISSING || (s->last.t_ns != TG_MISSING && row.t_ns <= s->last.t_ns))
			continue;
		if (pss != TG_MISSING)
			row.found_ns = row.t_ns - TG_MIN(TG_MAX(age, 0), row.t_ns);
		note_reading(s, &row);
		step(s, &row);
	}
}

void tg_shares_end(struct tg_shares *s)
{
	no_reading_comes(s);
}

/* Whether RSS was lower at a moment than the line of PSS to `to`, as far as a tenth tells. */
static bool is_crossed(const struct tg_points *pss, size_t to, const struct tg_series_point *rss)
{
	const struct tg_series_point *a = &pss->point[to ? to - 1 : 0], *b = &pss->point[to];
	double part =
		b->t_ns > a->t_ns ? (double)(rss->t_ns - a->t_ns) / (double)(b->t_ns - a->t_ns) : 0;
	double line = (double)a->value + ((double)b->value - (double)a->value) * part;

	return to && (double)rss->value < HOLDS * line;
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
			p->cut |= is_crossed(pss, i, &rss->point[k]);
		}
		p->cut |= HOLDS * most > fmax(before, now) || least < HOLDS * fmin(before, now);
		lower |= (double)p->value < HOLDS * now;
		before = least = most = now;
	}
	return lower;
}
