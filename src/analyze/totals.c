/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/totals.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "analyze/figures.h"
#include "analyze/gpus.h"
#include "analyze/missed.h"
#include "analyze/peaks.h"
#include "analyze/resumed.h"
#include "analyze/series.h"
#include "analyze/shares.h"
#include "analyze/verdicts.h"
#include "analyze/window.h"
#include "base/clock.h"
#include "base/sorted.h"
#include "record/format.h"

#include "base/mem.h"

#define PAD_NS     (5 * TG_NS_PER_S) /* the nearest rows around an edge lie within, or a period */
#define PROBES_MAX 4096

/* What is wanted of each metric, and where it goes. Sums over instances. */
enum want { WANT_RISE, WANT_PEAK, WANT_CHANGE, WANT_SHARES };

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
	{ "tree.pss_bytes", WANT_SHARES, FIELD(pss_peak_bytes), 1 },
	{ "tree.pss_age_ns", WANT_SHARES, FIELD(pss_age_s), 1e-9 },
	{ "tree.file_bytes", WANT_CHANGE, FIELD(file_retained_bytes), 1 },
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
	{ "nfs.wire_read_bytes", WANT_RISE, FIELD(nfs_read_bytes), 1 },
	{ "nfs.wire_write_bytes", WANT_RISE, FIELD(nfs_write_bytes), 1 },
	{ "energy.cpu_j", WANT_RISE, FIELD(energy_j), 1 },
	{ "tree.cpu_unattributed_ns", WANT_RISE, FIELD(unattributed_cpu_s), 1e-9 },
	{ "root.runqueue_ns", WANT_RISE, FIELD(runqueue_s), 1e-9 },
	{ "node.cpu_busy_ns", WANT_RISE, FIELD(node_cpu_s), 1e-9 },
	{ "node.cores", WANT_PEAK, FIELD(node_cores), 1 },
	{ "cgroup.throttled_ns", WANT_RISE, FIELD(throttled_s), 1e-9 },
	{ "cgroup.oom_kills", WANT_RISE, FIELD(oom_kills), 1 },
};

/* One column followed over the span. */
struct probe {
	const struct wish *wish;
	char instance[TG_INSTANCE_MAX];
	enum tg_kind kind;
	double scale;
	int64_t pad_ns; /* how far the nearest row may be from an edge */
	int64_t t_before[2], v_before[2]; /* nearest at or before begin and end; t MISSING: none */
	int64_t t_after[2], v_after[2]; /* nearest at or after them */
	int64_t t_last, v_last;
	double fall; /* what decreases of a counter between rows of the span took away */
	double edge_fall[2]; /* the same between the rows on either side of an edge */
	int64_t peak; /* of the rows from edge to edge, as is their number */
	int64_t n;
};

/* Where the value at an edge comes from. */
enum origin { FROM_NOTHING, FROM_BEFORE, FROM_AFTER, FROM_BETWEEN };

struct ends {
	enum origin from[2];
	bool exact; /* rows were taken at both edges */
};

struct pass {
	const struct tg_span *span;
	int64_t edge_ns[2]; /* begin, end */
	int64_t tolerance_ns; /* a row that near is the one that was taken at an edge */
	struct probe *probe;
	size_t n_probes, cap;
	size_t *column_probe; /* of the table that is being read */
	size_t n_columns;
	int64_t rows_ns[2]; /* the rows of memory at the edges, or the outermost between them */
	bool rows_exact;
	struct tg_shares_columns shares_at; /* of the table that is being read */
	struct tg_shares shares;
	double hwm_bytes; /* the highest peak of a process that rose in the span; NaN: unknown */
	bool several; /* processes lived in the span */
};

/* Logs of others may have a sample a minute. */
static int64_t pad_of(const struct wish *wish, const struct tg_column *column)
{
	return wish->want == WANT_SHARES ? PAD_NS : TG_MAX(PAD_NS, column->period_ns);
}

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
		.pad_ns = pad_of(wish, column),
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
	double fall = probe->t_last != TG_MISSING && v < probe->v_last
			      ? (double)probe->v_last - (double)v
			      : 0;

	for (int e = 0; e < 2; e++) {
		if (probe->t_last < p->edge_ns[e] && t > p->edge_ns[e])
			probe->edge_fall[e] = fall;
		if (t <= p->edge_ns[e]) {
			probe->t_before[e] = t;
			probe->v_before[e] = v;
		}
		if (t >= p->edge_ns[e] && probe->t_after[e] == TG_MISSING) {
			probe->t_after[e] = t;
			probe->v_after[e] = v;
		}
	}
	if (t >= begin && t <= end) {
		probe->peak = TG_MAX(probe->peak, v);
		probe->n++;
		if (probe->t_last >= begin)
			probe->fall += fall;
	}
	probe->t_last = t;
	probe->v_last = v;
}

/* How many rows of a block lie at or before `t_ns`. */
static uint32_t rows_to(const struct tg_block *b, int64_t t_ns)
{
	return (uint32_t)tg_sorted_count(b->t_ns, b->n_rows, sizeof(*b->t_ns), 0, t_ns, true);
}

/*
 * Follow a column from its last value at or before the begin, of which there are `before` rows, to
 * its first at or after the end: what lies beyond changes nothing.
 */
static void take_column(const struct pass *p, struct probe *probe, const struct tg_block *b,
	size_t c, uint32_t before)
{
	const int64_t *v = b->values + c * b->cap;
	uint32_t row = before;

	while (row > 0 && v[row - 1] == TG_MISSING)
		row--;
	for (row -= row > 0; row < b->n_rows && probe->t_after[1] == TG_MISSING; row++) {
		int64_t t = b->t_ns[row];

		if (v[row] == TG_MISSING || (probe->t_last != TG_MISSING && t <= probe->t_last))
			continue;
		probe_take(p, probe, t, v[row]);
	}
}

/* Returns 1, to stop, when every column was followed behind the end. */
static int each_block(void *ctx, const struct tg_block *block)
{
	struct pass *p = ctx;
	uint32_t before = rows_to(block, p->edge_ns[0]);
	bool more = false;

	for (size_t c = 0; c < p->n_columns; c++) {
		struct probe *probe = &p->probe[p->column_probe[c]];

		take_column(p, probe, block, c, before);
		more |= probe->t_after[1] == TG_MISSING;
	}
	tg_shares_take(&p->shares, block, &p->shares_at);
	return !more;
}

/* Remember which column of the blocks it is, if memory is counted by it. */
static void note_shares(struct tg_shares_columns *at, const struct probe *probe, size_t column)
{
	if (!strcmp(probe->wish->metric, "tree.rss_bytes")) {
		at->rss = column;
		at->rss_scale = probe->scale;
	} else if (!strcmp(probe->wish->metric, "tree.pss_bytes")) {
		at->pss = column;
		at->pss_scale = probe->scale;
	} else if (!strcmp(probe->wish->metric, "tree.pss_age_ns")) {
		at->age = column;
	}
}

static const struct wish *wish_for(const char *metric)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(wishes); i++)
		if (!strcmp(wishes[i].metric, metric))
			return &wishes[i];
	return NULL;
}

/* The longest pad of a table's columns. */
static int64_t pad_of_table(const struct tg_table *t)
{
	int64_t pad = PAD_NS;

	for (size_t k = 0; k < t->n_columns; k++) {
		const struct wish *wish = NULL;

		if (t->column[k].period_ns > pad)
			wish = wish_for(t->column[k].metric->name);
		if (wish)
			pad = TG_MAX(pad, pad_of(wish, &t->column[k]));
	}
	return pad;
}

static int begin_shares(struct tg_recording *r, struct pass *p, uint32_t session)
{
	struct tg_peaks *lives;
	int rc = tg_peaks_of(r, session, &lives);

	if (rc == 0)
		tg_shares_session(
			&p->shares, tg_edges_of(r, tg_recording_session(r, session)), lives);
	return rc;
}

static int read_tables(struct tg_recording *r, struct pass *p)
{
	size_t n;
	const struct tg_table *table = tg_reader_tables(r->reader, &n);
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		const struct tg_table *t = &table[i];
		int64_t pad = pad_of_table(t);
		int64_t from = TG_MAX(p->edge_ns[0] - pad, 0);
		int64_t to = TG_MIN(p->edge_ns[1] + pad, TG_TIME_MAX);
		const struct wish *wish = NULL;
		uint32_t *column;

		if (!tg_span_covers(p->span, t->session) || !t->n_rows || t->first_ns > to ||
			t->last_ns < from)
			continue;
		column = tg_xcalloc(t->n_columns + 1, sizeof(*column));
		p->column_probe = tg_xcalloc(t->n_columns + 1, sizeof(*p->column_probe));
		p->n_columns = 0;
		p->shares_at = (struct tg_shares_columns){
			.pss = SIZE_MAX, .rss = SIZE_MAX, .age = SIZE_MAX
		};
		for (size_t k = 0; k < t->n_columns; k++) {
			struct probe *probe;

			/* instances of a metric share it */
			if (!k || t->column[k].metric != t->column[k - 1].metric)
				wish = wish_for(t->column[k].metric->name);
			probe = wish ? probe_for(p, wish, &t->column[k]) : NULL;

			if (!probe)
				continue;
			note_shares(&p->shares_at, probe, p->n_columns);
			column[p->n_columns] = (uint32_t)k;
			p->column_probe[p->n_columns++] = (size_t)(probe - p->probe);
		}
		if (p->shares_at.rss != SIZE_MAX)
			rc = begin_shares(r, p, t->session);
		if (p->n_columns && rc >= 0)
			rc = tg_reader_blocks(
				r->reader, t, column, p->n_columns, from, to, each_block, p);
		free(column);
		free(p->column_probe);
	}
	return TG_MIN(rc, 0);
}

/*
 * The row that was taken at the edge when there is one, else the line between its neighbours; but
 * a counter that fell between them began anew at a moment that nobody knows: the nearer one. With
 * rows on one side only it is the nearest of the span's own, which loses what lies beyond. Nothing,
 * when the nearest is farther than the pad.
 */
static enum origin origin_of(const struct pass *p, const struct probe *probe, int e, bool *exact)
{
	int64_t edge = p->edge_ns[e], t0 = probe->t_before[e], t1 = probe->t_after[e];
	int64_t d0 = t0 != TG_MISSING ? edge - t0 : INT64_MAX;
	int64_t d1 = t1 != TG_MISSING ? t1 - edge : INT64_MAX;
	enum origin nearer = d0 <= d1 ? FROM_BEFORE : FROM_AFTER;

	if (TG_MIN(d0, d1) <= p->tolerance_ns)
		return nearer;
	*exact = false;
	if (TG_MIN(d0, d1) > probe->pad_ns)
		return FROM_NOTHING;
	if (t0 != TG_MISSING && t1 != TG_MISSING)
		return probe->kind == TG_COUNTER && probe->edge_fall[e] > 0 ? nearer : FROM_BETWEEN;
	if (e == 0)
		return t1 <= p->edge_ns[1] ? nearer : FROM_NOTHING;
	return t0 >= p->edge_ns[0] ? nearer : FROM_NOTHING;
}

/* The stamp of the row that stands for an edge; TG_MISSING: no single row does. */
static int64_t row_at(const struct probe *probe, const struct ends *ends, int e)
{
	return ends->from[e] == FROM_BEFORE  ? probe->t_before[e]
	       : ends->from[e] == FROM_AFTER ? probe->t_after[e]
					     : TG_MISSING;
}

static struct ends ends_of(const struct pass *p, const struct probe *probe)
{
	struct ends ends = { .exact = true };

	for (int e = 0; e < 2; e++)
		ends.from[e] = origin_of(p, probe, e, &ends.exact);
	/* one row for both says nothing of what happened between them */
	if (!ends.exact && row_at(probe, &ends, 0) != TG_MISSING &&
		row_at(probe, &ends, 0) == row_at(probe, &ends, 1))
		ends.from[0] = ends.from[1] = FROM_NOTHING;
	return ends;
}

static double value_at(
	const struct pass *p, const struct probe *probe, const struct ends *ends, int e)
{
	double v0 = (double)probe->v_before[e], v1 = (double)probe->v_after[e];
	double d0 = (double)p->edge_ns[e] - (double)probe->t_before[e];
	double d1 = (double)probe->t_after[e] - (double)p->edge_ns[e];

	switch (ends->from[e]) {
	case FROM_BEFORE:
		return v0;
	case FROM_AFTER:
		return v1;
	case FROM_BETWEEN:
		return v0 + (v1 - v0) * d0 / (d0 + d1);
	case FROM_NOTHING:
		break;
	}
	return NAN;
}

/* What decreases between the rows that stand for the edges took away. */
static double fall_of(const struct probe *probe, const struct ends *ends)
{
	double fall = probe->fall;
	bool one_step = probe->t_before[0] == probe->t_before[1];

	if (ends->from[0] == FROM_BEFORE && !(one_step && ends->from[1] == FROM_BEFORE))
		fall += probe->edge_fall[0];
	if (ends->from[1] == FROM_AFTER && !one_step)
		fall += probe->edge_fall[1];
	return fall;
}

/* A row that stands for an edge belongs to the span, whichever side of it the stamp fell. */
static void take_edges(const struct pass *p, struct probe *probe, const struct ends *ends)
{
	if (ends->from[0] == FROM_BEFORE && probe->t_before[0] < p->edge_ns[0]) {
		probe->peak = TG_MAX(probe->peak, probe->v_before[0]);
		probe->n++;
	}
	if (ends->from[1] == FROM_AFTER && probe->t_after[1] > p->edge_ns[1]) {
		probe->peak = TG_MAX(probe->peak, probe->v_after[1]);
		probe->n++;
	}
}

static void collect_memory(
	struct pass *p, const struct probe *probe, const struct ends *ends, struct tg_totals *out)
{
	double f = probe->scale * probe->wish->factor;
	double a = value_at(p, probe, ends, 0) * f, b = value_at(p, probe, ends, 1) * f;

	out->rss_begin_bytes = a;
	out->mem_retained_bytes = b - a;
	/* a span shorter than a period may hold no sample at all */
	out->rss_peak_bytes = probe->peak != TG_MISSING ? (double)probe->peak * f : fmax(a, b);
	for (int e = 0; e < 2; e++) {
		p->rows_ns[e] = row_at(probe, ends, e);
		if (p->rows_ns[e] == TG_MISSING)
			p->rows_ns[e] = e ? probe->t_before[e] : probe->t_after[e];
	}
	p->rows_exact = ends->exact;
}

static void collect(struct pass *p, struct tg_totals *out)
{
	out->exact = true;
	for (size_t i = 0; i < p->n_probes; i++) {
		struct probe *probe = &p->probe[i];
		const struct wish *wish = probe->wish;
		const struct ends ends = ends_of(p, probe);
		double *field = (double *)((char *)out + wish->offset);
		double f = probe->scale * wish->factor, v = NAN;
		/* only the job's own columns decide: a slow tier has no rows at edges */
		bool own = !strncmp(wish->metric, "tree.", 5) &&
			   wish->offset != offsetof(struct tg_totals, unattributed_cpu_s);

		take_edges(p, probe, &ends);
		if (!strcmp(wish->metric, "tree.cpu_ns")) {
			out->samples = probe->n;
			out->cut = probe->t_before[1] != TG_MISSING &&
				   probe->t_after[1] == TG_MISSING &&
				   p->edge_ns[1] - probe->t_before[1] > p->tolerance_ns;
		}
		if (!strcmp(wish->metric, "tree.rss_bytes")) {
			collect_memory(p, probe, &ends, out);
			continue;
		}
		if (wish->want == WANT_RISE && probe->kind == TG_COUNTER) {
			double fall = fall_of(probe, &ends);

			v = (value_at(p, probe, &ends, 1) - value_at(p, probe, &ends, 0) + fall) *
			    f;
			if (own && !(ends.exact && fall == 0 && !isnan(v)))
				out->exact = false;
		} else if (wish->want == WANT_PEAK && probe->peak != TG_MISSING) {
			v = (double)probe->peak * f;
		} else if (wish->want == WANT_CHANGE && ends.exact) {
			v = (value_at(p, probe, &ends, 1) - value_at(p, probe, &ends, 0)) * f;
		}
		if (!isnan(v))
			*field = isnan(*field) ? v : *field + v;
	}
	if (isnan(out->cpu_s))
		out->exact = false;
}

/* ---- the busiest moment ---- */

static int cores_max(
	const struct tg_recording *r, const struct tg_span *span, double *out, bool *single)
{
	struct tg_points p = { 0 };
	struct tg_rates rates = { 0 };
	int rc =
		tg_series_load(r, "tree.cpu_ns", NULL, span->begin_utc_ns, span->end_utc_ns, 0, &p);

	if (rc == 0) {
		*single = tg_points_window(&p, span->begin_utc_ns, span->end_utc_ns);
		tg_rates_from(&p, &rates);
		for (size_t i = 0; i < rates.n && !*single; i++)
			if (!(*out >= rates.rate[i].per_s / 1e9))
				*out = rates.rate[i].per_s / 1e9;
	}
	tg_points_release(&p);
	tg_rates_release(&rates);
	return rc == -ENOENT ? 0 : rc;
}

/* ---- the peak that the kernel kept ---- */

/*
 * VmHWM of a process that rose within the span is its peak in the span. It is the tree's peak too
 * when no other process lived in that time; otherwise it is a lower bound beside the samples.
 */
static int peak_from_hwm(struct tg_recording *r, struct pass *p, struct tg_totals *out)
{
	const struct tg_span *span = p->span;
	int64_t best = TG_MISSING;

	if (p->rows_ns[0] == TG_MISSING || p->rows_ns[1] == TG_MISSING)
		return 0;
	for (const struct tg_span_session *s = tg_recording_session(r, span->session); s;
		s = tg_span_session_before(r, span, s)) {
		struct tg_peaks *peaks;
		int64_t risen;
		size_t lived;
		int rc = tg_peaks_of(r, s->number, &peaks);

		if (rc < 0)
			return rc;
		risen = tg_peaks_risen(r, peaks, s->number, span, p->rows_ns);
		best = TG_MAX(best, risen);
		lived = tg_peaks_lived(peaks, span->begin_ns, span->end_ns);
		out->peak_exact = p->rows_exact && lived == 1;
		p->several |= lived > 1;
	}
	out->peak_exact = out->peak_exact && best != TG_MISSING && !tg_span_outlived_recorder(span);
	if (best == TG_MISSING)
		return 0;
	p->hwm_bytes = (double)best;
	out->rss_peak_bytes = fmax(out->rss_peak_bytes, p->hwm_bytes);
	return 0;
}

/*
 * The most memory that was in use at one moment. Between rows a process may have had more than all
 * of them in any: no page of one counts twice.
 */
static void choose_peak(struct pass *p, struct tg_totals *out)
{
	bool is_pss;

	tg_shares_end(&p->shares);
	out->pss_peak_bytes = p->shares.pss_bytes;
	if (p->shares.found_ns != TG_MISSING)
		out->pss_age_s = (double)(p->edge_ns[1] - p->shares.found_ns) / 1e9;
	out->mem_peak_bytes = fmax(p->shares.top_bytes, p->hwm_bytes);
	if (isnan(out->mem_peak_bytes)) /* between two rows */
		out->mem_peak_bytes = out->rss_peak_bytes;
	is_pss = p->shares.top_is_pss && out->mem_peak_bytes == p->shares.top_bytes;
	if (!isnan(out->mem_peak_bytes))
		out->mem_peak_is = is_pss ? "PSS" : "RSS";
}

static void fill_unknown(struct tg_totals *t)
{
	*t = (struct tg_totals){ 0 };
	for (size_t i = 0; i < TG_ARRAY_SIZE(wishes); i++)
		*(double *)((char *)t + wishes[i].offset) = NAN;
	t->cores_mean = t->cores_max = t->cores_allowed = t->memory_limit_bytes = NAN;
	t->rss_begin_bytes = t->mem_retained_bytes = t->mem_peak_bytes = NAN;
	t->gpus = t->gpu_util_mean_pct = t->gpu_mem_peak_bytes = NAN;
}

static double limit_at(const struct tg_steps *steps, int64_t t_ns, double factor)
{
	int64_t v = tg_steps_at(steps, t_ns);

	return v == TG_MISSING ? NAN : (double)v * factor;
}

int tg_totals_of(struct tg_recording *r, const struct tg_span *span, struct tg_totals *out)
{
	const struct tg_span_session *s = tg_recording_session(r, span->session);
	struct pass p = { .span = span,
		.edge_ns = { span->begin_ns, span->end_ns },
		.rows_ns = { TG_MISSING, TG_MISSING },
		.hwm_bytes = NAN };
	int64_t wall_ns = span->end_ns - span->begin_ns;
	struct tg_gpu_totals gpus;
	int rc;

	fill_unknown(out);
	p.tolerance_ns = TG_MAX(TG_EDGE_NS, wall_ns / 20);
	out->wall_s = (double)wall_ns / 1e9;
	if (span->figures) { /* what is not among them is unknown: samples are of others, too */
		tg_figures_take(span, out);
		tg_verdicts_add_events(out, span, false);
		tg_verdicts_add_spending(out);
		return 0;
	}
	tg_shares_init(&p.shares, span, p.tolerance_ns);
	rc = read_tables(r, &p);
	if (rc == 0)
		collect(&p, out);
	free(p.probe);
	if (rc == 0)
		rc = cores_max(r, span, &out->cores_max, &out->single);
	if (rc == 0)
		rc = peak_from_hwm(r, &p, out);
	if (rc == 0)
		rc = tg_gpus_of(r, span, &gpus);
	if (rc == 0) {
		out->gpus = gpus.n;
		out->gpu_util_mean_pct = gpus.util_mean_pct;
		out->gpu_mem_peak_bytes = gpus.memory_peak_bytes;
	}
	if (!isnan(out->cpu_s) && wall_ns > 0)
		out->cores_mean = out->cpu_s / out->wall_s;
	if (s->cpus > 0 && out->cores_mean > (double)s->cpus) /* by the ticks it is told in */
		out->cores_mean = (double)s->cpus;
	/* one that is shorter than a rate needs has its mean only */
	if (isnan(out->cores_max) || out->cores_max < out->cores_mean)
		out->cores_max = out->cores_mean;
	if (isnan(out->node_cores) && s->cpus > 0) /* logs of others have no counter of them */
		out->node_cores = (double)s->cpus;
	out->cores_allowed = limit_at(&s->cores, span->end_ns, 1e-3);
	out->memory_limit_bytes = limit_at(&s->memory, span->end_ns, 1);
	out->missed = tg_missed_in(r, span);
	if (span->open || tg_span_outlived_recorder(span))
		out->exact = false;
	choose_peak(&p, out);
	tg_verdicts_add_events(out, span, p.several);
	tg_verdicts_add_spending(out);
	return rc;
}
