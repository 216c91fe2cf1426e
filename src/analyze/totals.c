/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/totals.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "analyze/series.h"
#include "base/clock.h"
#include "record/format.h"

#include "base/mem.h"

#define PAD_NS       (5 * TG_NS_PER_S) /* the nearest rows around an edge lie within */
#define PROBES_MAX   4096
#define ENTITIES_MAX 65536

/* What is wanted of each metric, and where it goes. Sums over instances. */
enum want { WANT_RISE, WANT_PEAK };

struct wish {
	const char *metric;
	enum want want;
	size_t offset; /* of the double in struct tg_totals */
	double factor;
};

#define FIELD(name) offsetof(struct tg_totals, name)

static const struct wish wishes[] = {
	{ "tree.cpu_ns", WANT_RISE, FIELD(cpu_s), 1e-9 },
	{ "tree.rss_bytes", WANT_PEAK, FIELD(rss_peak_bytes), 1 },
	{ "tree.pss_bytes", WANT_PEAK, FIELD(pss_peak_bytes), 1 },
	{ "tree.vms_bytes", WANT_PEAK, FIELD(vms_peak_bytes), 1 },
	{ "tree.read_bytes", WANT_RISE, FIELD(read_bytes), 1 },
	{ "tree.write_bytes", WANT_RISE, FIELD(write_bytes), 1 },
	{ "tree.rchar_bytes", WANT_RISE, FIELD(rchar_bytes), 1 },
	{ "tree.wchar_bytes", WANT_RISE, FIELD(wchar_bytes), 1 },
	{ "tree.read_ops", WANT_RISE, FIELD(read_ops), 1 },
	{ "tree.write_ops", WANT_RISE, FIELD(write_ops), 1 },
	{ "disk.read_bytes", WANT_RISE, FIELD(disk_read_bytes), 1 },
	{ "disk.write_bytes", WANT_RISE, FIELD(disk_write_bytes), 1 },
	{ "net.rx_bytes", WANT_RISE, FIELD(net_rx_bytes), 1 },
	{ "net.tx_bytes", WANT_RISE, FIELD(net_tx_bytes), 1 },
	{ "nfs.read_bytes", WANT_RISE, FIELD(nfs_read_bytes), 1 },
	{ "nfs.write_bytes", WANT_RISE, FIELD(nfs_write_bytes), 1 },
	{ "cgroup.throttled_ns", WANT_RISE, FIELD(throttled_s), 1e-9 },
	{ "tree.unattributed_cpu_ns", WANT_RISE, FIELD(unattributed_cpu_s), 1e-9 },
};

/* One column followed over the span. */
struct probe {
	const struct wish *wish;
	char instance[TG_INSTANCE_MAX];
	enum tg_kind kind;
	double scale;
	int64_t t_before[2], v_before[2]; /* nearest at or before begin and end; t MISSING: none */
	int64_t t_after[2], v_after[2]; /* nearest at or after them */
	int64_t t_last, v_last;
	double reset; /* what decreases within the span took away */
	int64_t peak;
};

struct pass {
	const struct tg_span *span;
	int64_t edge_ns[2]; /* begin, end */
	int64_t tolerance_ns;
	struct probe *probe;
	size_t n_probes, cap;
	size_t *column_probe; /* of the table that is being read */
	size_t n_columns;
	int64_t samples;
};

static struct probe *probe_for(
	struct pass *p, const struct wish *wish, const struct tg_column *column)
{
	struct probe *probe;

	for (size_t i = 0; i < p->n_probes; i++)
		if (p->probe[i].wish == wish && !strcmp(p->probe[i].instance, column->instance))
			return &p->probe[i];
	if (p->n_probes == PROBES_MAX)
		return NULL;
	TG_GROW(p->probe, p->n_probes + 1, p->cap);
	probe = &p->probe[p->n_probes++];
	*probe = (struct probe){
		.wish = wish,
		.kind = column->metric->kind,
		.scale = pow(10, column->metric->scale),
		.t_before = { TG_MISSING, TG_MISSING },
		.t_after = { TG_MISSING, TG_MISSING },
		.t_last = TG_MISSING,
		.peak = TG_MISSING,
	};
	memcpy(probe->instance, column->instance, sizeof(probe->instance));
	return probe;
}

static void probe_take(const struct pass *p, struct probe *probe, int64_t t, int64_t v)
{
	int64_t begin = p->edge_ns[0], end = p->edge_ns[1];

	for (int e = 0; e < 2; e++) {
		if (t <= p->edge_ns[e]) {
			probe->t_before[e] = t;
			probe->v_before[e] = v;
		}
		if (t >= p->edge_ns[e] && probe->t_after[e] == TG_MISSING) {
			probe->t_after[e] = t;
			probe->v_after[e] = v;
		}
	}
	if (probe->t_last != TG_MISSING && t > begin && probe->t_last < end &&
		probe->kind == TG_COUNTER && v < probe->v_last)
		probe->reset += (double)probe->v_last - (double)v;
	/* a row taken at an edge belongs to the span, whichever side of it the stamp fell */
	if (t >= begin - p->tolerance_ns && t <= end + p->tolerance_ns)
		probe->peak = TG_MAX(probe->peak, v);
	probe->t_last = t;
	probe->v_last = v;
}

static int each_block(void *ctx, const struct tg_block *block)
{
	struct pass *p = ctx;

	for (uint32_t row = 0; row < block->n_rows; row++) {
		int64_t t = block->t_ns[row];

		for (size_t c = 0; c < p->n_columns; c++) {
			struct probe *probe = &p->probe[p->column_probe[c]];
			int64_t v = block->values[c * block->cap + row];

			if (v == TG_MISSING || t < 0 || t > TG_TIME_MAX ||
				(probe->t_last != TG_MISSING && t <= probe->t_last))
				continue;
			if (!strcmp(probe->wish->metric, "tree.cpu_ns") &&
				t >= p->edge_ns[0] - p->tolerance_ns &&
				t <= p->edge_ns[1] + p->tolerance_ns)
				p->samples++;
			probe_take(p, probe, t, v);
		}
	}
	return 0;
}

static const struct wish *wish_for(const char *metric)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(wishes); i++)
		if (!strcmp(wishes[i].metric, metric))
			return &wishes[i];
	return NULL;
}

static int64_t minus_pad(int64_t t)
{
	return t > INT64_MIN + PAD_NS ? t - PAD_NS : INT64_MIN;
}

static int64_t plus_pad(int64_t t)
{
	return t < INT64_MAX - PAD_NS ? t + PAD_NS : INT64_MAX;
}

static int read_tables(const struct tg_recording *r, struct pass *p)
{
	size_t n;
	const struct tg_table *table = tg_reader_tables(r->reader, &n);
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		const struct tg_table *t = &table[i];
		uint32_t *column;

		if (t->session != p->span->session || !t->n_rows ||
			t->first_ns > plus_pad(p->edge_ns[1]) ||
			t->last_ns < minus_pad(p->edge_ns[0]))
			continue;
		column = tg_xcalloc(t->n_columns + 1, sizeof(*column));
		p->column_probe = tg_xcalloc(t->n_columns + 1, sizeof(*p->column_probe));
		p->n_columns = 0;
		for (size_t k = 0; k < t->n_columns; k++) {
			const struct wish *wish = wish_for(t->column[k].metric->name);
			struct probe *probe = wish ? probe_for(p, wish, &t->column[k]) : NULL;

			if (!probe)
				continue;
			column[p->n_columns] = (uint32_t)k;
			p->column_probe[p->n_columns++] = (size_t)(probe - p->probe);
		}
		if (p->n_columns)
			rc = tg_reader_blocks(r->reader, t, column, p->n_columns,
				minus_pad(p->edge_ns[0]), plus_pad(p->edge_ns[1]), each_block, p);
		free(column);
		free(p->column_probe);
	}
	return TG_MIN(rc, 0);
}

/*
 * The value at an edge: of the row that was taken for it when there is one, else on the line
 * between its neighbours. NaN when the edge lies outside of what is known by more than the pad.
 */
static double value_at(const struct pass *p, const struct probe *probe, int e, bool *exact)
{
	int64_t edge = p->edge_ns[e];
	bool before = probe->t_before[e] != TG_MISSING, after = probe->t_after[e] != TG_MISSING;
	int64_t d0 = before ? edge - probe->t_before[e] : INT64_MAX;
	int64_t d1 = after ? probe->t_after[e] - edge : INT64_MAX;

	if (!before && !after)
		return NAN;
	if (TG_MIN(d0, d1) <= p->tolerance_ns)
		return (double)(d0 <= d1 ? probe->v_before[e] : probe->v_after[e]);
	*exact = false;
	if (!before)
		return (double)probe->v_after[e];
	if (!after)
		return (double)probe->v_before[e];
	return (double)probe->v_before[e] +
	       ((double)probe->v_after[e] - (double)probe->v_before[e]) * (double)d0 /
		       ((double)d0 + (double)d1);
}

static void collect(const struct pass *p, struct tg_totals *out)
{
	out->exact = true;
	for (size_t i = 0; i < p->n_probes; i++) {
		const struct probe *probe = &p->probe[i];
		const struct wish *wish = probe->wish;
		double *field = (double *)((char *)out + wish->offset);
		double f = probe->scale * wish->factor, v = NAN;
		/* only the job's own columns decide: a slow tier has no rows at edges */
		bool own = !strncmp(wish->metric, "tree.", 5), exact = true;

		if (wish->want == WANT_RISE && probe->kind == TG_COUNTER) {
			double a = value_at(p, probe, 0, &exact), b = value_at(p, probe, 1, &exact);

			v = (b - a + probe->reset) * f;
			if (own && !(exact && probe->reset == 0 && !isnan(v)))
				out->exact = false;
		} else if (wish->want == WANT_PEAK && probe->peak != TG_MISSING) {
			v = (double)probe->peak * f;
		}
		if (!strcmp(wish->metric, "tree.rss_bytes")) {
			double a = value_at(p, probe, 0, &exact), b = value_at(p, probe, 1, &exact);

			out->rss_begin_bytes = a * f;
			out->mem_retained_bytes = (b - a) * f;
			/* a span shorter than a period may hold no sample at all */
			if (isnan(v))
				v = TG_MAX(a, b) * f;
		}
		if (!isnan(v))
			*field = isnan(*field) ? v : *field + v;
	}
	if (isnan(out->cpu_s))
		out->exact = false;
}

/* ---- the busiest moment ---- */

static int cores_max(
	const struct tg_recording *r, const struct tg_span *span, int64_t slack, double *out)
{
	struct tg_points p = { 0 };
	struct tg_rates rates = { 0 };
	int rc =
		tg_series_load(r, "tree.cpu_ns", NULL, span->begin_utc_ns, span->end_utc_ns, 0, &p);

	if (rc == 0) {
		tg_rates_from(&p, &rates);
		for (size_t i = 0; i < rates.n; i++) {
			const struct tg_rate *rate = &rates.rate[i];

			/* what mostly lies outside is another span's */
			if (rate->t0_ns >= span->begin_utc_ns - slack &&
				rate->t1_ns <= span->end_utc_ns + slack &&
				!(*out >= rate->per_s / 1e9))
				*out = rate->per_s / 1e9;
		}
	}
	tg_points_release(&p);
	tg_rates_release(&rates);
	return rc == -ENOENT ? 0 : rc;
}

/* ---- the peak that the kernel kept ---- */

struct hwm {
	const struct tg_span *span;
	int64_t slack;
	int64_t *before, *within; /* by entity - first */
	uint32_t first, n;
};

static void take_hwm(struct hwm *h, const struct tg_process_cell *cell)
{
	uint32_t i = cell->entity - h->first;

	if (i >= h->n)
		return;
	if (cell->t_ns <= h->span->begin_ns + h->slack)
		h->before[i] = cell->value;
	else if (cell->t_ns <= h->span->end_ns + h->slack)
		h->within[i] = TG_MAX(h->within[i], cell->value);
}

/*
 * VmHWM of a process that rose within the span is its peak in the span. It is the tree's peak too
 * when no other process lived in that time; otherwise it is a lower bound beside the samples.
 */
static int peak_from_hwm(
	struct tg_recording *r, const struct tg_span *span, int64_t slack, struct tg_totals *out)
{
	struct hwm h = { .span = span, .slack = slack, .first = UINT32_MAX };
	const struct tg_peaks *peaks;
	uint32_t last = 0, lived = 0;
	int64_t best = TG_MISSING;
	int rc = tg_recording_peaks(r, span->session, &peaks);

	if (rc < 0)
		return rc;

	for (size_t i = 0; i < r->n_lives; i++) {
		const struct tg_life *life = &r->life[i];

		if (life->session != span->session || life->birth_ns > span->end_ns ||
			life->death_ns < span->begin_ns)
			continue;
		lived++;
		h.first = TG_MIN(h.first, life->entity);
		last = TG_MAX(last, life->entity);
	}
	if (!lived || last - h.first >= ENTITIES_MAX)
		return 0;
	h.n = last - h.first + 1;
	h.before = tg_xcalloc(h.n, sizeof(*h.before));
	h.within = tg_xcalloc(h.n, sizeof(*h.within));
	for (size_t i = 0; i < peaks->n; i++)
		take_hwm(&h, &peaks->cell[i]);
	for (uint32_t i = 0; i < h.n; i++)
		if (h.within[i] > h.before[i])
			best = TG_MAX(best, h.within[i]);
	free(h.before);
	free(h.within);
	if (best == TG_MISSING)
		return 0;
	out->peak_exact = lived == 1;
	if (!((double)best <= out->rss_peak_bytes))
		out->rss_peak_bytes = (double)best;
	return 0;
}

/* ---- verdicts: few, plain, and only when sure ---- */

static void verdict(struct tg_totals *t, const char *text)
{
	if (t->n_verdicts < TG_VERDICTS_MAX)
		t->verdict[t->n_verdicts++] = text;
}

static void judge(struct tg_totals *t, const struct tg_span *span)
{
	if (!strcmp(span->status, "died"))
		verdict(t, "died");
	if (t->rss_peak_bytes >= 0.9 * t->memory_limit_bytes)
		verdict(t, "memory near limit");
	if (t->wall_s < 1 || isnan(t->cores_mean)) /* too short to say how it spent its time */
		return;
	if (t->throttled_s >= 0.1 * t->wall_s)
		verdict(t, "throttled by its CPU quota");
	if (t->cores_mean >= 0.85 * t->cores_allowed)
		verdict(t, "all cores busy");
	else if (t->cores_mean >= 0.9 && t->cores_mean <= 1.1 && t->cores_max <= 1.25 &&
		 t->cores_allowed >= 2)
		verdict(t, "one core busy");
	else if (t->cores_mean < 0.05)
		verdict(t, "waits");
}

static void fill_unknown(struct tg_totals *t)
{
	*t = (struct tg_totals){ 0 };
	for (size_t i = 0; i < TG_ARRAY_SIZE(wishes); i++)
		*(double *)((char *)t + wishes[i].offset) = NAN;
	t->cores_mean = t->cores_max = t->cores_allowed = t->memory_limit_bytes = NAN;
	t->rss_begin_bytes = t->mem_retained_bytes = NAN;
	t->gpu_util_mean_pct = t->gpu_mem_peak_bytes = t->energy_j = NAN;
}

static double limit_at(const struct tg_steps *steps, int64_t t_ns, double factor)
{
	int64_t v = tg_steps_at(steps, t_ns);

	return v == TG_MISSING ? NAN : (double)v * factor;
}

int tg_totals_of(struct tg_recording *r, const struct tg_span *span, struct tg_totals *out)
{
	const struct tg_span_session *s = tg_recording_session(r, span->session);
	struct pass p = { .span = span, .edge_ns = { span->begin_ns, span->end_ns } };
	int64_t wall_ns = span->end_ns - span->begin_ns;
	int rc;

	fill_unknown(out);
	p.tolerance_ns = TG_MAX(TG_EDGE_NS, wall_ns / 20);
	out->wall_s = (double)wall_ns / 1e9;
	rc = read_tables(r, &p);
	if (rc == 0)
		collect(&p, out);
	out->samples = p.samples;
	free(p.probe);
	if (rc == 0)
		rc = cores_max(
			r, span, TG_MAX(p.tolerance_ns, TG_RATE_MIN_NS / 2), &out->cores_max);
	if (rc == 0)
		rc = peak_from_hwm(r, span, p.tolerance_ns, out);
	if (!isnan(out->cpu_s) && wall_ns > 0)
		out->cores_mean = out->cpu_s / out->wall_s;
	/* one that is shorter than a rate needs has its mean only */
	if (isnan(out->cores_max) || out->cores_max < out->cores_mean)
		out->cores_max = out->cores_mean;
	out->cores_allowed = limit_at(&s->cores, span->end_ns, 1e-3);
	out->memory_limit_bytes = limit_at(&s->memory, span->end_ns, 1);
	for (size_t i = 0; i < s->missed.n; i++)
		if (s->missed.step[i].t_ns >= span->begin_ns &&
			s->missed.step[i].t_ns <= span->end_ns)
			out->missed += s->missed.step[i].value;
	if (span->open)
		out->exact = false;
	judge(out, span);
	return rc;
}
