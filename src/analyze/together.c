/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/together.h"

#include <errno.h>
#include <math.h>

#include "analyze/series.h"
#include "analyze/verdicts.h"
#include "analyze/window.h"

#include "base/mem.h"

static const char *const traffic[TG_TRAFFICS] = {
	[TG_TRAFFIC_READ] = "tree.read_bytes",
	[TG_TRAFFIC_WRITE] = "tree.write_bytes",
	[TG_TRAFFIC_RX] = "net.rx_bytes",
	[TG_TRAFFIC_TX] = "net.tx_bytes",
};

/* Sums of products over time, of parts in which the value is known. */
struct mean {
	double sum, time_s;
};

static double add_known(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void add_totals(struct tg_totals *sum, const struct tg_totals *t)
{
	double *const add[] = { &sum->cpu_s, &sum->read_bytes, &sum->write_bytes, &sum->read_ops,
		&sum->write_ops, &sum->net_rx_bytes, &sum->net_tx_bytes, &sum->mem_retained_bytes,
		&sum->file_retained_bytes, &sum->throttled_s, &sum->node_cpu_s, &sum->oom_kills,
		&sum->runqueue_s };
	const double what[] = { t->cpu_s, t->read_bytes, t->write_bytes, t->read_ops, t->write_ops,
		t->net_rx_bytes, t->net_tx_bytes, t->mem_retained_bytes, t->file_retained_bytes,
		t->throttled_s, t->node_cpu_s, t->oom_kills, t->runqueue_s };

	for (size_t i = 0; i < TG_ARRAY_SIZE(add); i++)
		*add[i] = add_known(*add[i], what[i]);
	if (isnan(sum->gpu_util_mean_pct))
		sum->gpu_util_mean_pct = t->gpu_util_mean_pct;
	else if (!isnan(t->gpu_util_mean_pct) && sum->wall_s + t->wall_s > 0)
		sum->gpu_util_mean_pct =
			(sum->gpu_util_mean_pct * sum->wall_s + t->gpu_util_mean_pct * t->wall_s) /
			(sum->wall_s + t->wall_s);
	sum->gpus = fmax(sum->gpus, t->gpus);
	sum->gpu_mem_peak_bytes = fmax(sum->gpu_mem_peak_bytes, t->gpu_mem_peak_bytes);
	sum->wall_s += t->wall_s;
	sum->cores_max = fmax(sum->cores_max, t->cores_max);
	sum->rss_peak_bytes = fmax(sum->rss_peak_bytes, t->rss_peak_bytes);
	sum->pss_peak_bytes = fmax(sum->pss_peak_bytes, t->pss_peak_bytes);
	if (!(sum->mem_peak_bytes >= t->mem_peak_bytes) && t->mem_peak_is) {
		sum->mem_peak_bytes = t->mem_peak_bytes;
		sum->mem_peak_is = t->mem_peak_is;
	}
	sum->single = sum->single && t->single;
	sum->exact = sum->exact && t->exact;
	sum->missed += t->missed;
	sum->samples += t->samples;
	sum->cores_allowed = t->cores_allowed;
	sum->memory_limit_bytes = t->memory_limit_bytes;
	sum->node_cores = t->node_cores;
	tg_verdicts_join_events(sum, t);
}

/* The highest rate of a counter in the span; left as it is where only a mean is known. */
static int add_rate_max(
	const struct tg_recording *r, const struct tg_span *span, const char *metric, double *max)
{
	struct tg_points p = { 0 };
	struct tg_rates rates = { 0 };
	int rc = tg_series_load(r, metric, NULL, span->begin_utc_ns, span->end_utc_ns, 0, &p);

	if (rc == 0 && !tg_points_window(&p, span->begin_utc_ns, span->end_utc_ns)) {
		double factor = pow(10, p.scale);

		tg_rates_from(&p, &rates);
		for (size_t i = 0; i < rates.n; i++)
			*max = fmax(*max, rates.rate[i].per_s * factor);
	}
	tg_points_release(&p);
	tg_rates_release(&rates);
	return rc == -ENOENT ? 0 : rc;
}

static int add_rss_mean(
	const struct tg_recording *r, const struct tg_span *span, double peak, struct mean *mean)
{
	struct tg_points p = { 0 };
	double wall_s = (double)(span->end_utc_ns - span->begin_utc_ns) / 1e9, v;
	int rc = tg_series_load(
		r, "tree.rss_bytes", NULL, span->begin_utc_ns, span->end_utc_ns, 0, &p);

	if (rc == 0) {
		v = tg_points_mean(&p, span->begin_utc_ns, span->end_utc_ns) * pow(10, p.scale);
		/* the line to a sample beyond the edge may begin above all within */
		if (!isnan(v) && wall_s > 0) {
			mean->sum += fmin(v, peak) * wall_s;
			mean->time_s += wall_s;
		}
	}
	tg_points_release(&p);
	return rc == -ENOENT ? 0 : rc;
}

static int by_begin(const void *a, const void *b)
{
	const struct tg_span *x = *(const struct tg_span *const *)a;
	const struct tg_span *y = *(const struct tg_span *const *)b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The time that spans from *i on cover without a break, as one span; *i is moved behind them. */
static struct tg_span next_stretch(const struct tg_span *const *span, size_t n, size_t *i)
{
	struct tg_span s = *span[(*i)++];

	while (*i < n && span[*i]->session == s.session && span[*i]->begin_ns <= s.end_ns) {
		const struct tg_span *next = span[(*i)++];

		s.figures = NULL; /* those of one are not those of all */
		s.since_session = TG_MIN(s.since_session, next->since_session);
		if (next->end_ns < s.end_ns)
			continue;
		s.end_ns = next->end_ns;
		s.end_utc_ns = next->end_utc_ns;
		s.status = next->status;
		s.open = s.open || next->open;
	}
	return s;
}

int tg_together_of(struct tg_recording *r, const struct tg_span *const *span, size_t n,
	struct tg_together *out)
{
	const struct tg_span **sorted = tg_xcalloc(n, sizeof(*sorted));
	struct mean cores = { 0 }, rss = { 0 };
	double mean[TG_TRAFFICS] = { 0 }; /* the highest of a stretch, bytes a second */
	int rc = 0;

	*out = (struct tg_together){
		.rss_mean_bytes = NAN, .from_ns = INT64_MAX, .to_ns = INT64_MIN
	};
	for (size_t k = 0; k < TG_TRAFFICS; k++)
		out->rate_max[k] = NAN;
	memcpy(sorted, span, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_begin);
	for (size_t i = 0; i < n && rc == 0;) {
		bool first = i == 0;
		struct tg_span s = next_stretch(sorted, n, &i);
		struct tg_totals t;

		out->from_ns = TG_MIN(out->from_ns, s.begin_utc_ns);
		out->to_ns = TG_MAX(out->to_ns, s.end_utc_ns);
		rc = tg_totals_of(r, &s, &t);
		if (rc == 0)
			rc = add_rss_mean(r, &s, t.rss_peak_bytes, &rss);
		for (size_t k = 0; k < TG_TRAFFICS && rc == 0; k++)
			rc = add_rate_max(r, &s, traffic[k], &out->rate_max[k]);
		if (rc == 0 && t.wall_s > 0) {
			mean[TG_TRAFFIC_READ] =
				fmax(mean[TG_TRAFFIC_READ], t.read_bytes / t.wall_s);
			mean[TG_TRAFFIC_WRITE] =
				fmax(mean[TG_TRAFFIC_WRITE], t.write_bytes / t.wall_s);
			mean[TG_TRAFFIC_RX] = fmax(mean[TG_TRAFFIC_RX], t.net_rx_bytes / t.wall_s);
			mean[TG_TRAFFIC_TX] = fmax(mean[TG_TRAFFIC_TX], t.net_tx_bytes / t.wall_s);
		}
		if (rc < 0)
			break;
		if (!isnan(t.cores_mean)) {
			cores.sum += t.cores_mean * t.wall_s;
			cores.time_s += t.wall_s;
		}
		if (first)
			out->totals = t;
		else
			add_totals(&out->totals, &t);
	}
	/* one that is too short for a maximum of its own may have been the busiest */
	for (size_t k = 0; k < TG_TRAFFICS; k++)
		if (!isnan(out->rate_max[k]))
			out->rate_max[k] = fmax(out->rate_max[k], mean[k]);
	free(sorted);
	if (cores.time_s > 0)
		out->totals.cores_mean = cores.sum / cores.time_s;
	if (rss.time_s > 0)
		out->rss_mean_bytes = rss.sum / rss.time_s;
	if (rc == 0)
		tg_verdicts_add_spending(&out->totals);
	return rc;
}
