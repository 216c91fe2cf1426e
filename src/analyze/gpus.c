/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/gpus.h"

#include <errno.h>
#include <math.h>

#include "analyze/series.h"
#include "analyze/window.h"

#include "base/mem.h"

static int load(const struct tg_recording *r, const struct tg_span *span, const char *metric,
	const char *gpu, struct tg_points *p)
{
	int rc = tg_series_load(r, metric, gpu, span->begin_utc_ns, span->end_utc_ns, 0, p);

	return rc == -ENOENT ? 0 : rc;
}

/* Whether it was the job's at any time of the span; an error is told as such. */
static int is_own(const struct tg_recording *r, const struct tg_span *span, const char *gpu)
{
	struct tg_points p = { 0 };
	int rc = load(r, span, "gpu.in_job", gpu, &p);

	for (size_t i = 0; i < p.n && rc == 0; i++)
		rc = p.point[i].value > 0;
	tg_points_release(&p);
	return rc;
}

/* Parts of a device (GPU0-MIG1) stand for it where they are the job's. */
static bool has_part(char *const *own, size_t n, const char *gpu)
{
	size_t len = strlen(gpu);

	for (size_t i = 0; i < n; i++)
		if (!strncmp(own[i], gpu, len) && own[i][len] == '-')
			return true;
	return false;
}

/* Add `p` to `sum`, row by row: devices are told of in the same rows. */
static void add(struct tg_points *sum, const struct tg_points *p)
{
	struct tg_points both = { .kind = p->kind, .scale = p->scale };
	size_t i = 0, k = 0;

	while (i < sum->n || k < p->n) {
		int64_t a = i < sum->n ? sum->point[i].t_ns : INT64_MAX;
		int64_t b = k < p->n ? p->point[k].t_ns : INT64_MAX, value = 0;
		bool cut = false;

		if (i < sum->n && a <= b) {
			cut = sum->point[i].cut;
			value = sum->point[i++].value;
		}
		if (b <= a && k < p->n) {
			cut |= p->point[k].cut;
			if (__builtin_add_overflow(value, p->point[k++].value, &value))
				continue;
		}
		tg_points_add(&both, TG_MIN(a, b), value, cut);
	}
	tg_points_release(sum);
	*sum = both;
}

static double line_at(const struct tg_series_point *a, const struct tg_series_point *b, int64_t t)
{
	double part = (double)(t - a->t_ns) / (double)(b->t_ns - a->t_ns);

	return (double)a->value + part * ((double)b->value - (double)a->value);
}

/* The highest in the span; in one that is shorter than a driver's round, of the line there. */
static double highest(const struct tg_points *p, const struct tg_span *span)
{
	const int64_t t0 = span->begin_utc_ns, t1 = span->end_utc_ns;
	double most = NAN, between = NAN;

	for (size_t i = 0; i < p->n; i++) {
		const struct tg_series_point *b = &p->point[i], *a = b - 1;

		if (b->t_ns >= t0 && b->t_ns <= t1)
			most = fmax(most, (double)b->value);
		else if (!b->cut && a->t_ns < t0 && b->t_ns > t1)
			between = fmax(line_at(a, b, t0), line_at(a, b, t1));
	}
	return (isnan(most) ? between : most) * pow(10, p->scale);
}

/* The highest sum in the span. NaN when one of them has no such value there. */
static int memory_peak(const struct tg_recording *r, const struct tg_span *span, const char *metric,
	char *const *own, size_t n, double *peak)
{
	struct tg_points sum = { 0 };
	int rc = 0;

	*peak = NAN;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct tg_points p = { 0 };

		rc = load(r, span, metric, own[i], &p);
		if (rc == 0 && !p.n) {
			tg_points_release(&p);
			break;
		}
		add(&sum, &p);
		tg_points_release(&p);
		if (i + 1 == n)
			*peak = highest(&sum, span);
	}
	tg_points_release(&sum);
	return rc;
}

static int util_mean(const struct tg_recording *r, const struct tg_span *span, char *const *own,
	size_t n, double *mean)
{
	double sum = 0;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct tg_points p = { 0 };

		rc = load(r, span, "gpu.util_pct", own[i], &p);
		sum += p.n ? tg_points_mean(&p, span->begin_utc_ns, span->end_utc_ns) *
				       pow(10, p.scale)
			   : NAN;
		tg_points_release(&p);
	}
	*mean = n ? sum / (double)n : NAN;
	return rc;
}

int tg_gpus_of(const struct tg_recording *r, const struct tg_span *span, struct tg_gpu_totals *out)
{
	char **gpu;
	size_t n = tg_series_instances(r, "gpu.in_job", &gpu), n_own = 0;
	char **own = tg_xcalloc(n + 1, sizeof(*own));
	int rc = 0;

	*out = (struct tg_gpu_totals){ NAN, NAN, NAN };
	for (size_t i = n; i-- > 0 && rc >= 0;) { /* parts come behind their device */
		rc = has_part(own, n_own, gpu[i]) ? 0 : is_own(r, span, gpu[i]);
		if (rc > 0)
			own[n_own++] = gpu[i];
	}
	rc = TG_MIN(rc, 0);
	if (n_own)
		out->n = (double)n_own;
	if (rc == 0)
		rc = util_mean(r, span, own, n_own, &out->util_mean_pct);
	if (rc == 0)
		rc = memory_peak(
			r, span, "gpu.job_memory_bytes", own, n_own, &out->memory_peak_bytes);
	if (rc == 0 && isnan(out->memory_peak_bytes))
		rc = memory_peak(
			r, span, "gpu.memory_used_bytes", own, n_own, &out->memory_peak_bytes);
	for (size_t i = 0; i < n; i++)
		free(gpu[i]);
	free(gpu);
	free(own);
	return rc;
}
