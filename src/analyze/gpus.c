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

		if (i < sum->n && a <= b)
			value = sum->point[i++].value;
		if (b <= a && k < p->n &&
			__builtin_add_overflow(value, p->point[k++].value, &value))
			continue;
		tg_points_add(&both, TG_MIN(a, b), value, false);
	}
	tg_points_release(sum);
	*sum = both;
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
		if (i + 1 < n)
			continue;
		for (size_t k = 0; k < sum.n; k++)
			if (sum.point[k].t_ns >= span->begin_utc_ns &&
				sum.point[k].t_ns <= span->end_utc_ns)
				*peak = fmax(
					*peak, (double)sum.point[k].value * pow(10, sum.scale));
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

	*out = (struct tg_gpu_totals){ NAN, NAN };
	for (size_t i = n; i-- > 0 && rc >= 0;) { /* parts come behind their device */
		rc = has_part(own, n_own, gpu[i]) ? 0 : is_own(r, span, gpu[i]);
		if (rc > 0)
			own[n_own++] = gpu[i];
	}
	rc = TG_MIN(rc, 0);
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
