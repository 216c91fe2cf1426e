/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/series.h"

#include <errno.h>
#include <math.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "record/format.h"

#include "base/mem.h"

#define COLUMNS_MAX 1024 /* instances of one metric that are added up */

void tg_points_release(struct tg_points *p)
{
	free(p->point);
	*p = (struct tg_points){ 0 };
}

void tg_points_add(struct tg_points *p, int64_t t_ns, int64_t value, bool cut)
{
	TG_GROW(p->point, p->n + 1, p->cap);
	p->point[p->n] = (struct tg_series_point){ t_ns, value, cut || !p->n };
	p->n++;
}

size_t tg_series_instances(const struct tg_recording *r, const char *metric, char ***instance)
{
	size_t n_tables, n = 0, cap = 0;
	const struct tg_table *table = tg_reader_tables(r->reader, &n_tables);

	*instance = NULL;
	for (size_t i = 0; i < n_tables; i++) {
		for (size_t k = 0; k < table[i].n_columns; k++) {
			const struct tg_column *c = &table[i].column[k];
			bool known = strcmp(c->metric->name, metric) != 0;

			for (size_t j = 0; j < n && !known; j++)
				known = !strcmp((*instance)[j], c->instance);
			if (known || n == COLUMNS_MAX)
				continue;
			TG_GROW(*instance, n + 1, cap);
			(*instance)[n++] = tg_xstrdup(c->instance);
		}
	}
	return n;
}

/* ---- loading ---- */

/* The largest value in force between two moments; `at`: the first step behind t0. */
static int64_t largest_step(const struct tg_steps *s, size_t at, int64_t t0, int64_t t1)
{
	int64_t largest = tg_steps_at(s, t0);

	for (size_t i = at; i < s->n && s->step[i].t_ns <= t1; i++)
		largest = TG_MAX(largest, s->step[i].value);
	return largest;
}

struct load {
	struct tg_points *p;
	int64_t from_ns, to_ns; /* monotonic: what is wanted */
	size_t n_columns;
	int64_t cpus, allowed_milli; /* cores of the machine, and thousandths that are allowed */
	int64_t period_ns; /* values of the columns may be so far apart */
	uint64_t set; /* hash of the instances that were added up last */
	size_t start; /* first point of this session */
	bool cut; /* the next point is not joined */
	bool past; /* one point behind the window is there */
};

/* A point of the session's clock; keeps only the last one before the window. */
static int take_point(struct load *l, int64_t t_ns, int64_t value)
{
	struct tg_points *p = l->p;

	if (l->past)
		return 1;
	if (p->n > l->start && t_ns <= p->point[p->n - 1].t_ns)
		return 0; /* two tables may share a moment */
	if (t_ns <= l->from_ns && p->n > l->start) {
		p->point[p->n - 1].t_ns = t_ns;
		p->point[p->n - 1].value = value;
	} else {
		tg_points_add(p, t_ns, value, l->cut);
	}
	l->cut = false;
	l->past = t_ns >= l->to_ns;
	return l->past;
}

static int each_block(void *ctx, const struct tg_block *block)
{
	struct load *l = ctx;

	for (uint32_t row = 0; row < block->n_rows; row++) {
		int64_t sum = 0;
		bool missing = false;

		for (size_t c = 0; c < l->n_columns && !missing; c++) {
			int64_t v = block->values[c * block->cap + row];

			missing = v == TG_MISSING || __builtin_add_overflow(sum, v, &sum);
		}
		/* an edge row lacks the node's columns: that is no gap */
		if (!missing && take_point(l, block->t_ns[row], sum))
			return 1;
	}
	return 0;
}

/* A group becomes four points, so that its extremes fall into the bin they belong to. */
static int each_group(void *ctx, const struct tg_group *g)
{
	struct load *l = ctx;
	int64_t mid = g->first_ns + (g->last_ns - g->first_ns) / 2;

	if (!g->count)
		return 0;
	if (take_point(l, g->first_ns, g->first))
		return 1;
	if (l->p->kind == TG_GAUGE && g->last_ns - g->first_ns > 4)
		if (take_point(l, mid, g->min) || take_point(l, mid + 1, g->max))
			return 1;
	return take_point(l, g->last_ns, g->last);
}

/* Rows a bin must hold so that groups are shorter than bins. */
static bool use_groups(const struct tg_table *t, int64_t from, int64_t to, size_t bins)
{
	double length = (double)(t->last_ns - t->first_ns);
	double part = length > 0 ? ((double)to - (double)from) / length : 1;
	double rows = (double)t->n_rows * TG_MIN(part, 1.0);

	return bins && rows > TG_SERIES_ROWS_MAX && rows / (double)bins > 2 * TG_GROUP_ROWS;
}

/* CPU time, and how much of it there is in a second: that of all cores, or of one each. */
static const struct {
	const char *metric;
	enum { OF_ALL, OF_JOB, OF_ONE } of;
} cpu_times[] = {
	{ "tree.cpu_ns", OF_JOB },
	{ "tree.cpu_unattributed_ns", OF_JOB },
	{ "root.runqueue_ns", OF_ONE },
	{ "node.cpu_busy_ns", OF_ALL },
	{ "node.cpu_user_ns", OF_ALL },
	{ "node.cpu_system_ns", OF_ALL },
	{ "node.cpu_iowait_ns", OF_ALL },
	{ "node.cpu_steal_ns", OF_ALL },
	{ "core.busy_ns", OF_ONE },
	{ "cgroup.cpu_ns", OF_JOB },
	{ "self.cpu_ns", OF_ALL },
};

static void set_bounds(const struct load *l, const char *metric)
{
	struct tg_points *p = l->p;
	double ones = (double)l->n_columns, all = (double)TG_MAX(l->cpus, 0), most;

	for (size_t i = 0; i < TG_ARRAY_SIZE(cpu_times); i++) {
		if (strcmp(cpu_times[i].metric, metric) != 0)
			continue;
		most = (cpu_times[i].of == OF_ONE ? ones : all) * 1e9;
		p->most_per_s = fmax(p->most_per_s, most);
		if (cpu_times[i].of == OF_JOB && l->allowed_milli > 0)
			p->allowed_per_s = fmax(p->allowed_per_s, (double)l->allowed_milli * 1e6);
	}
}

static int load_table(struct load *l, struct tg_reader *reader, const struct tg_table *table,
	const char *metric, const char *instance, size_t bins)
{
	uint32_t column[COLUMNS_MAX];
	int64_t pad = 5 * TG_NS_PER_S;
	uint64_t set = TG_HASH_INIT;
	int64_t from, to;

	l->n_columns = 0;
	for (size_t k = 0; k < table->n_columns && l->n_columns < COLUMNS_MAX; k++) {
		const struct tg_column *c = &table->column[k];

		if (strcmp(c->metric->name, metric) != 0 ||
			(instance && strcmp(c->instance, instance) != 0))
			continue;
		column[l->n_columns++] = (uint32_t)k;
		l->period_ns = TG_MAX(l->period_ns, c->period_ns);
		set = tg_hash(set, c->instance, strlen(c->instance));
		set = tg_hash(set, "/", 1);
		l->p->kind = c->metric->kind;
		l->p->scale = c->metric->scale;
	}
	if (!l->n_columns)
		return -ENOENT;
	if (!table->n_rows || table->first_ns > l->to_ns || l->past)
		return 0;
	set_bounds(l, metric);
	/* the sum over another set of devices does not go on from the old sum */
	l->cut = set != l->set;
	l->set = set;
	/* some seconds around the window hold its neighbours, or the period of a slower table */
	pad = TG_MAX(pad, l->period_ns);
	from = l->from_ns > INT64_MIN + pad ? l->from_ns - pad : INT64_MIN;
	to = l->to_ns < INT64_MAX - pad ? l->to_ns + pad : INT64_MAX;
	if (table->last_ns < from)
		return 0;
	if (l->n_columns == 1 && use_groups(table, from, to, bins))
		return tg_reader_groups(
			reader, table, column[0], l->from_ns, l->to_ns, each_group, l);
	return tg_reader_blocks(reader, table, column, l->n_columns, from, to, each_block, l);
}

/* The usual distance of the points from `start` on: edge rows make some shorter, gaps longer. */
static int64_t usual_distance(const struct tg_points *p, size_t start)
{
	size_t n = p->n - start, step = n / 1000 + 1, m = 0;
	int64_t d[1001];

	for (size_t i = start + 1; i < p->n && m < TG_ARRAY_SIZE(d); i += step)
		d[m++] = p->point[i].t_ns - p->point[i - 1].t_ns;
	if (!m)
		return 0;
	qsort(d, m, sizeof(d[0]), tg_by_int64);
	return d[m / 2];
}

/* The longest period in force between two moments: between cells it is slow for a while. */
static int64_t longest_period(const struct tg_steps *period, size_t *at, int64_t t0, int64_t t1)
{
	while (*at < period->n && period->step[*at].t_ns <= t0)
		(*at)++;
	return largest_step(period, *at, t0, t1);
}

/*
 * Cut where samples are further apart than three periods, or where the recorder said that it lost
 * some.
 */
static void cut_gaps(
	struct tg_points *p, size_t start, const struct tg_span_session *s, int64_t period_ns)
{
	int64_t usual = TG_MAX(usual_distance(p, start), period_ns);
	size_t gap = 0, step = 0;

	if (p->n > start) /* of thousands of changes few are of this time */
		step = (size_t)(tg_steps_find(&s->period, p->point[start].t_ns) + 1);

	for (size_t i = start + 1; i < p->n; i++) {
		int64_t t0 = p->point[i - 1].t_ns, t1 = p->point[i].t_ns;
		int64_t period = TG_MAX(usual, longest_period(&s->period, &step, t0, t1));

		if (!s->period.n && period < TG_NS_PER_S)
			period = TG_NS_PER_S;
		if ((t1 - t0) / 3 > period)
			p->point[i].cut = true;
		while (gap < s->gap.n && s->gap.step[gap].value <= t0)
			gap++;
		if (gap < s->gap.n && s->gap.step[gap].t_ns < t1)
			p->point[i].cut = true;
	}
}

static int load_session(const struct tg_recording *r, const struct tg_span_session *s,
	const char *metric, const char *instance, int64_t from_ns, int64_t to_ns, size_t bins,
	struct tg_points *p)
{
	struct load l = { .p = p, .start = p->n };
	size_t n;
	const struct tg_table *table = tg_reader_tables(r->reader, &n);
	int found = -ENOENT;

	l.from_ns = tg_session_mono(s, from_ns);
	l.to_ns = tg_session_mono(s, to_ns);
	l.cpus = s->cpus;
	l.allowed_milli = largest_step(
		&s->cores, (size_t)(tg_steps_find(&s->cores, l.from_ns) + 1), l.from_ns, l.to_ns);
	for (size_t i = 0; i < n; i++) {
		int rc;

		if (table[i].session != s->number)
			continue;
		rc = load_table(&l, r->reader, &table[i], metric, instance, bins);
		if (rc != -ENOENT)
			found = 0;
		if (rc < 0 && rc != -ENOENT)
			return rc;
	}
	cut_gaps(p, l.start, s, l.period_ns);
	for (size_t i = l.start; i < p->n; i++) {
		p->point[i].t_ns = tg_session_utc(s, p->point[i].t_ns);
		/* a suspended machine makes a jump from one point to the next */
		if (i > l.start &&
			tg_steps_at(&s->clock, tg_session_mono(s, p->point[i].t_ns)) !=
				tg_steps_at(&s->clock, tg_session_mono(s, p->point[i - 1].t_ns)))
			p->point[i].cut = true;
	}
	/* clocks that were set back between sessions must not make time run backwards */
	while (p->n > l.start && l.start && p->point[l.start].t_ns <= p->point[l.start - 1].t_ns)
		memmove(&p->point[l.start], &p->point[l.start + 1],
			(--p->n - l.start) * sizeof(*p->point));
	if (p->n > l.start)
		p->point[l.start].cut = true;
	return found;
}

int tg_series_load(const struct tg_recording *r, const char *metric, const char *instance,
	int64_t from_ns, int64_t to_ns, size_t bins, struct tg_points *p)
{
	int found = -ENOENT;

	for (size_t i = 0; i < r->n_sessions; i++) {
		int rc = load_session(r, &r->session[i], metric, instance, from_ns, to_ns, bins, p);

		if (rc == 0)
			found = 0;
		else if (rc != -ENOENT)
			return rc;
	}
	return found;
}

/* ---- bins ---- */

/* Bins with a known part hold the sum of value * weight in `mean` until they are finished. */
struct binner {
	struct tg_bin *bin;
	size_t n;
	int64_t from_ns, to_ns;
	double *weight;
};

static int64_t bin_edge(const struct binner *b, size_t j)
{
	return b->from_ns +
	       (int64_t)((__int128)(b->to_ns - b->from_ns) * (__int128)j / (__int128)b->n);
}

static size_t bin_of(const struct binner *b, int64_t t_ns)
{
	size_t j;

	if (t_ns <= b->from_ns || b->to_ns <= b->from_ns)
		return 0;
	if (t_ns >= b->to_ns)
		return b->n - 1;
	j = (size_t)((__int128)(t_ns - b->from_ns) * (__int128)b->n / (b->to_ns - b->from_ns));
	if (j + 1 < b->n && bin_edge(b, j + 1) <= t_ns)
		j++; /* edges are rounded down */
	return TG_MIN(j, b->n - 1);
}

static void binner_init(
	struct binner *b, struct tg_bin *bin, size_t n, int64_t from_ns, int64_t to_ns)
{
	*b = (struct binner){ bin, n, from_ns, to_ns, tg_xcalloc(n, sizeof(double)) };
	for (size_t j = 0; j < n; j++)
		bin[j] = (struct tg_bin){ bin_edge(b, j), bin_edge(b, j + 1), NAN, NAN, 0 };
}

static void bin_put(struct binner *b, size_t j, double v, double weight)
{
	struct tg_bin *bin = &b->bin[j];

	bin->min = bin->min <= v ? bin->min : v; /* also when it is NaN */
	bin->max = bin->max >= v ? bin->max : v;
	bin->mean += v * weight;
	b->weight[j] += weight;
}

static void binner_finish(struct binner *b)
{
	for (size_t j = 0; j < b->n; j++) {
		struct tg_bin *bin = &b->bin[j];

		bin->mean = b->weight[j] > 0 ? bin->mean / b->weight[j] : NAN;
		if (isnan(bin->mean)) {
			bin->min = bin->max = NAN;
		} else { /* sums of products are off by a last digit now and then */
			bin->mean = fmin(fmax(bin->mean, bin->min), bin->max);
		}
	}
	free(b->weight);
}

void tg_bins_rate(
	const struct tg_rates *rates, int64_t from_ns, int64_t to_ns, struct tg_bin *bin, size_t n)
{
	struct binner b;

	binner_init(&b, bin, n, from_ns, to_ns);
	for (size_t i = 0; i < rates->n; i++) {
		const struct tg_rate *r = &rates->rate[i];
		int64_t t0 = TG_MAX(r->t0_ns, from_ns), t1 = TG_MIN(r->t1_ns, to_ns);

		if (t0 >= t1)
			continue;
		for (size_t j = bin_of(&b, t0); j < n && bin[j].t0_ns < t1; j++) {
			int64_t a = TG_MAX(t0, bin[j].t0_ns), e = TG_MIN(t1, bin[j].t1_ns);

			if (e > a)
				bin_put(&b, j, r->per_s, (double)(e - a));
		}
	}
	binner_finish(&b);
}

/* Half of the known time to the neighbours: what a sample stands for. */
static double gauge_weight(const struct tg_points *p, size_t i)
{
	double w = 0;

	if (!p->point[i].cut)
		w += (double)(p->point[i].t_ns - p->point[i - 1].t_ns) / 2;
	if (i + 1 < p->n && !p->point[i + 1].cut)
		w += (double)(p->point[i + 1].t_ns - p->point[i].t_ns) / 2;
	return w > 0 ? w : 1; /* a lone sample */
}

/* Bins between two joined samples that hold none: the straight line between them. */
static void fill_between(
	struct binner *b, const struct tg_series_point *p0, const struct tg_series_point *p1)
{
	double v0 = (double)p0->value, slope;

	if (p1->t_ns < b->from_ns || p0->t_ns > b->to_ns || p1->t_ns <= p0->t_ns)
		return;
	slope = ((double)p1->value - v0) / (double)(p1->t_ns - p0->t_ns);
	for (size_t j = bin_of(b, p0->t_ns); j < b->n && b->bin[j].t0_ns < p1->t_ns; j++) {
		int64_t mid = b->bin[j].t0_ns + (b->bin[j].t1_ns - b->bin[j].t0_ns) / 2;

		if (b->weight[j] == 0 && mid >= p0->t_ns && mid <= p1->t_ns)
			bin_put(b, j, v0 + slope * (double)(mid - p0->t_ns), 1);
	}
}

void tg_bins_gauge(
	const struct tg_points *p, int64_t from_ns, int64_t to_ns, struct tg_bin *bin, size_t n)
{
	struct binner b;

	binner_init(&b, bin, n, from_ns, to_ns);
	for (size_t i = 0; i < p->n; i++) {
		int64_t t = p->point[i].t_ns;

		if (t >= from_ns && t <= to_ns)
			bin_put(&b, bin_of(&b, t), (double)p->point[i].value, gauge_weight(p, i));
	}
	for (size_t i = 1; i < p->n; i++)
		if (!p->point[i].cut)
			fill_between(&b, &p->point[i - 1], &p->point[i]);
	binner_finish(&b);
}

void tg_bins_from(
	const struct tg_points *p, int64_t from_ns, int64_t to_ns, struct tg_bin *bin, size_t n)
{
	double factor = pow(10, p->scale);

	if (p->kind == TG_COUNTER) {
		struct tg_rates rates = { 0 };

		tg_rates_from(p, &rates);
		tg_bins_rate(&rates, from_ns, to_ns, bin, n);
		tg_rates_release(&rates);
	} else {
		tg_bins_gauge(p, from_ns, to_ns, bin, n);
	}
	for (size_t j = 0; j < n && factor != 1; j++) {
		bin[j].min *= factor;
		bin[j].max *= factor;
		bin[j].mean *= factor;
	}
}
