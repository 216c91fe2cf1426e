/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/vega_data.h"

#include <math.h>

#include "base/sorted.h"
#include "render/resample.h"

#include "base/mem.h"

#define GAPS_MOST 30 /* gaps with edges of their own; the longest ones where there are more */
#define DIGITS    4

struct gap {
	double from, to;
};

static int by_length(const void *a, const void *b)
{
	const struct gap *p = a, *q = b;
	double x = p->to - p->from, y = q->to - q->from;

	return x < y ? 1 : x > y ? -1 : p->from > q->from ? 1 : p->from < q->from ? -1 : 0;
}

/* Keep the GAPS_MOST longest; the same gap of several series counts once. */
static void add_gap(struct gap *gap, size_t *n, struct gap g, double t_end)
{
	for (size_t i = 0; i < *n; i++)
		if (fabs(gap[i].from - g.from) + fabs(gap[i].to - g.to) < 1e-6 * t_end)
			return;
	gap[(*n)++] = g;
	if (*n <= GAPS_MOST)
		return;
	qsort(gap, *n, sizeof(*gap), by_length);
	(*n)--;
}

static void find_gaps(const struct tg_series *s, double t_end, struct gap *gap, size_t *n)
{
	bool open = false;
	double from = 0;

	for (size_t i = 0; i < s->n_buckets; i++) {
		const struct tg_bucket *b = &s->bucket[i];

		if (!tg_bucket_is_value(b)) {
			if (!open)
				from = b->t0;
			open = true;
		} else if (open) {
			if (b->t0 > from)
				add_gap(gap, n, (struct gap){ from, b->t0 }, t_end);
			open = false;
		}
	}
}

/* The series' own grid, when all have the same one without holes and it is small enough. */
static bool own_grid(struct tg_vega_data *d, const struct tg_layout *l)
{
	const struct tg_series *first = NULL;
	double eps = 1e-9 * l->t_end;

	for (size_t p = 0; p < l->chart->n_panels; p++) {
		for (size_t i = 0; i < l->chart->panel[p].n_series; i++) {
			const struct tg_series *s = &l->chart->panel[p].series[i];

			first = first ? first : s;
			if (!s->n_buckets || s->n_buckets > TG_VEGA_SLOTS ||
				s->n_buckets != first->n_buckets)
				return false;
			for (size_t k = 0; k < s->n_buckets; k++) {
				const struct tg_bucket *a = &s->bucket[k];

				if (!(a->t1 > a->t0) || fabs(a->t0 - first->bucket[k].t0) > eps ||
					fabs(a->t1 - first->bucket[k].t1) > eps ||
					(k && fabs(a->t0 - s->bucket[k - 1].t1) > eps))
					return false;
			}
		}
	}
	if (!first)
		return false;
	d->n_slots = first->n_buckets;
	for (size_t k = 0; k < d->n_slots; k++)
		d->edge[k] = first->bucket[k].t0;
	d->edge[d->n_slots] = first->bucket[d->n_slots - 1].t1;
	return true;
}

/* Even slots, and edges where a gap begins or ends in place of the nearest even ones. */
static void even_grid(struct tg_vega_data *d, const struct tg_layout *l)
{
	struct gap gap[GAPS_MOST + 1];
	size_t n_gaps = 0, n = 0, even;
	double step;

	for (size_t p = 0; p < l->chart->n_panels; p++)
		for (size_t i = 0; i < l->chart->panel[p].n_series; i++)
			find_gaps(&l->chart->panel[p].series[i], l->t_end, gap, &n_gaps);
	for (size_t i = 0; i < n_gaps; i++) {
		if (gap[i].from > 0 && gap[i].from < l->t_end)
			d->edge[n++] = gap[i].from;
		if (gap[i].to > 0 && gap[i].to < l->t_end)
			d->edge[n++] = gap[i].to;
	}
	even = TG_VEGA_SLOTS - n;
	step = l->t_end / (double)even;
	n_gaps = n;
	for (size_t i = 0; i <= even; i++) {
		double t = i == even ? l->t_end : step * (double)i;
		bool near = false;

		for (size_t k = 0; k < n_gaps && i && i < even; k++)
			near = near || fabs(d->edge[k] - t) < 0.3 * step;
		if (!near)
			d->edge[n++] = t;
	}
	qsort(d->edge, n, sizeof(*d->edge), tg_by_double);
	d->n_slots = n - 1;
}

void tg_vega_data_init(struct tg_vega_data *d, const struct tg_layout *l)
{
	size_t n = 0;

	*d = (struct tg_vega_data){ 0 };
	for (size_t p = 0; p < l->chart->n_panels; p++)
		d->n_series += l->chart->panel[p].n_series;
	if (!own_grid(d, l))
		even_grid(d, l);
	d->bucket = tg_xcalloc(d->n_series * d->n_slots, sizeof(*d->bucket));
	for (size_t p = 0; p < l->chart->n_panels; p++)
		for (size_t i = 0; i < l->chart->panel[p].n_series; i++)
			tg_resample(&l->chart->panel[p].series[i], d->edge, d->n_slots,
				d->bucket + d->n_slots * n++);
}

void tg_vega_data_release(struct tg_vega_data *d)
{
	free(d->bucket);
}

const struct tg_bucket *tg_vega_data_of(const struct tg_vega_data *d, size_t i)
{
	return d->bucket + i * d->n_slots;
}

bool tg_vega_data_has_band(const struct tg_vega_data *d, size_t i)
{
	const struct tg_bucket *b = tg_vega_data_of(d, i);

	for (size_t k = 0; k < d->n_slots; k++)
		if (tg_bucket_is_value(&b[k]) && b[k].max - b[k].min > 1e-4 * b[k].max)
			return true;
	return false;
}

bool tg_vega_data_is_alone(const struct tg_vega_data *d, size_t i, size_t slot)
{
	const struct tg_bucket *b = tg_vega_data_of(d, i);

	return tg_bucket_is_value(&b[slot]) && (!slot || !tg_bucket_is_value(&b[slot - 1])) &&
	       (slot + 1 == d->n_slots || !tg_bucket_is_value(&b[slot + 1]));
}

static void put_value(struct tg_buf *out, double v)
{
	char text[TG_NUM_SIZE];

	tg_buf_addc(out, ',');
	if (isfinite(v))
		tg_buf_add(out, text, tg_num_digits(v, DIGITS, text));
}

void tg_vega_data_csv(const struct tg_vega_data *d, struct tg_buf *out)
{
	bool *band = tg_xcalloc(d->n_series, sizeof(*band));
	double end = d->edge[d->n_slots];
	char text[TG_NUM_SIZE];

	tg_buf_addc(out, 't');
	for (size_t i = 0; i < d->n_series; i++) {
		band[i] = tg_vega_data_has_band(d, i);
		tg_buf_addf(out, ",m%zu", i);
		if (band[i])
			tg_buf_addf(out, ",a%zu,b%zu", i, i);
	}
	for (size_t k = 0; k < d->n_slots; k++) {
		double t = (d->edge[k] + d->edge[k + 1]) / 2;
		/* as fine as a ten-thousandth of the whole, also late in a long recording */
		int digits = t > 0 ? DIGITS + 1 + (int)fmin(fmax(log10(t / end), -4), 0) : 1;

		tg_buf_addc(out, '\n');
		tg_buf_add(out, text, tg_num_digits(t, digits, text));
		for (size_t i = 0; i < d->n_series; i++) {
			const struct tg_bucket *b = tg_vega_data_of(d, i) + k;

			put_value(out, b->mean);
			if (band[i]) {
				put_value(out, b->min);
				put_value(out, b->max);
			}
		}
	}
	free(band);
}
