/* SPDX-License-Identifier: BSD-3-Clause */
/* JUmPER's lists and its report, worked out from a recording. */
#include <errno.h>
#include <math.h>

#include "analyze/series.h"
#include "base/cpulist.h"
#include "base/sorted.h"
#include "command/jumper.h"

#include "base/mem.h"

#define DEVICES_MAX 4096
#define GIB         (1024.0 * 1024 * 1024)
#define MIB         (1024.0 * 1024)

enum { MEM, OPS_R, OPS_W, MB_R, MB_W, LISTS };
enum { CORES, GPU_UTIL, GPU_MEM, GROUPS };

/* Devices of a kind. */
struct group {
	size_t n_devices;
	double *value; /* [device * n + value], per cent */
	double *mean, *max, *min; /* over devices */
};

struct lists {
	size_t n; /* values */
	struct group group[GROUPS];
	double *list[LISTS];
};

static void lists_release(struct lists *l)
{
	for (int i = 0; i < GROUPS; i++) {
		free(l->group[i].value);
		free(l->group[i].mean);
		free(l->group[i].max);
		free(l->group[i].min);
	}
	for (int i = 0; i < LISTS; i++)
		free(l->list[i]);
}

/*
 * The value at `t_ns`, on the line between its neighbours; *at is the time that it is of: outside
 * of what is known that is the nearest point.
 */
static double value_at(const struct tg_points *p, int64_t t_ns, int64_t *at)
{
	size_t lo;

	*at = t_ns;
	if (!p->n)
		return NAN;
	lo = tg_sorted_to(p->point, p->n, t_ns, t_ns);
	if (lo == 0 || lo == p->n) {
		const struct tg_series_point *near = &p->point[lo ? lo - 1 : 0];

		*at = near->t_ns;
		return (double)near->value;
	}
	if (p->point[lo].cut)
		return p->point[lo - 1].t_ns == t_ns ? (double)p->point[lo - 1].value : NAN;
	return (double)p->point[lo - 1].value +
	       ((double)p->point[lo].value - (double)p->point[lo - 1].value) *
		       (double)(t_ns - p->point[lo - 1].t_ns) /
		       (double)(p->point[lo].t_ns - p->point[lo - 1].t_ns);
}

/* End of the k-th period of the cell, from 0; the last one may be shorter. */
static int64_t period_end(const struct tg_span *cell, double period_s, size_t k)
{
	double end = (double)(k + 1) * period_s * 1e9;
	int64_t length = cell->end_utc_ns - cell->begin_utc_ns;

	return cell->begin_utc_ns + (end < (double)length ? (int64_t)end : length);
}

/* Busy per cent in each period; a counter of ns. */
static void busy(const struct tg_points *p, const struct tg_span *cell, double period_s, size_t n,
	double *out)
{
	int64_t t0, t1;
	double v0 = value_at(p, cell->begin_utc_ns, &t0);

	for (size_t k = 0; k < n; k++) {
		double v1 = value_at(p, period_end(cell, period_s, k), &t1);
		double pct = t1 > t0 ? 100 * (v1 - v0) / (double)(t1 - t0) : NAN;

		/* a period without a sample of its own is like the one before */
		if (t1 <= t0 && k && !isnan(v1))
			pct = out[k - 1];
		out[k] = pct < 0 ? NAN : fmin(pct, 100);
		if (t1 > t0) {
			t0 = t1;
			v0 = v1;
		}
	}
}

/* What a gauge says at the end of each period, which is when JUmPER asks. */
static void at_ends(const struct tg_points *p, const struct tg_span *cell, double period_s,
	size_t n, double *out)
{
	int64_t at;

	for (size_t k = 0; k < n; k++)
		out[k] = value_at(p, period_end(cell, period_s, k), &at);
}

/* The CPUs that the job was allowed when the cell began, as "0-3,8"; "" when unknown. */
static void allowed_cpus(
	const struct tg_recording *r, const struct tg_span *cell, struct tg_buf *cpus)
{
	for (size_t i = 0; i < r->n_moments; i++) {
		const struct tg_moment *m = &r->moment[i];
		struct tg_json *event;

		/* what a recorder says first is also of what was before it */
		if (m->session != cell->session || strcmp(m->what, "limit") != 0 ||
			(cpus->len && m->t_ns > cell->begin_ns))
			continue;
		event = tg_json_parse(m->json, strlen(m->json), NULL);
		if (!strcmp(tg_json_str(tg_json_get(event, "what"), ""), "cores")) {
			tg_buf_clear(cpus);
			tg_buf_adds(cpus, tg_json_str(tg_json_get(event, "cpus"), ""));
		}
		tg_json_free(event);
	}
}

/* "cpu3": whether it is in the list. Unknown lists hold all. */
static bool is_allowed(const struct tg_buf *cpus, const char *name)
{
	return !cpus->len || strncmp(name, "cpu", 3) != 0 ||
	       tg_cpulist_has(cpus->data, cpus->len, strtol(name + 3, NULL, 10));
}

static void over_devices(struct group *g, size_t n)
{
	g->mean = tg_xcalloc(n, sizeof(double));
	g->max = tg_xcalloc(n, sizeof(double));
	g->min = tg_xcalloc(n, sizeof(double));
	for (size_t k = 0; k < n; k++) {
		double sum = 0, min = NAN, max = NAN;
		size_t known = 0;

		for (size_t i = 0; i < g->n_devices; i++) {
			double v = g->value[i * n + k];

			if (isnan(v))
				continue;
			sum += v;
			known++;
			min = fmin(min, v); /* fmin and fmax prefer numbers to NaN */
			max = fmax(max, v);
		}
		g->mean[k] = known ? sum / (double)known : NAN;
		g->min[k] = min;
		g->max[k] = max;
	}
}

/* All devices that the recording knows by that metric, but for CPUs that the job may not use. */
static int load_group(const struct tg_recording *r, const struct tg_span *cell, double period_s,
	const char *metric, bool counter, size_t n, struct group *g)
{
	struct tg_buf cpus = TG_BUF_INIT;
	char **name;
	size_t n_names = tg_series_instances(r, metric, &name);
	size_t n_devices = TG_MIN(n_names, (size_t)DEVICES_MAX);
	int rc = 0;

	allowed_cpus(r, cell, &cpus);
	g->value = tg_xcalloc(n_devices * n + 1, sizeof(double));
	for (size_t i = 0; i < n_devices && rc >= 0; i++) {
		struct tg_points p = { 0 };

		if (!is_allowed(&cpus, name[i]))
			continue;
		rc = tg_series_load(
			r, metric, name[i], cell->begin_utc_ns, cell->end_utc_ns, 0, &p);
		if (rc == 0 && p.n)
			(counter ? busy : at_ends)(
				&p, cell, period_s, n, &g->value[g->n_devices++ * n]);
		tg_points_release(&p);
	}
	for (size_t i = 0; i < n_names; i++)
		free(name[i]);
	free(name);
	tg_buf_release(&cpus);
	over_devices(g, n);
	return rc == -ENOENT ? 0 : rc;
}

static int load_lists(
	const struct tg_recording *r, const struct tg_span *cell, double period_s, struct lists *l)
{
	static const struct {
		const char *metric;
		double factor;
	} of[LISTS] = {
		[MEM] = { "node.mem_used_bytes", 1 / GIB },
		[OPS_R] = { "root.read_ops", 1 },
		[OPS_W] = { "root.write_ops", 1 },
		[MB_R] = { "root.read_bytes", 1 / MIB },
		[MB_W] = { "root.write_bytes", 1 / MIB },
	};
	static const char *const device[GROUPS] = {
		[CORES] = "core.busy_ns",
		[GPU_UTIL] = "gpu.util_pct",
		[GPU_MEM] = "gpu.memory_busy_pct",
	};
	double periods = (double)(cell->end_utc_ns - cell->begin_utc_ns) / 1e9 / period_s;
	int rc = 0;

	*l = (struct lists){ 0 };
	/* the last period is as long as what is left, if it is more than a rounding error */
	l->n = periods < 1 ? 1 : (size_t)ceil(fmin(periods, TG_JUMPER_VALUES_MAX) - 1e-3);
	for (int i = 0; i < GROUPS && rc >= 0; i++)
		rc = load_group(r, cell, period_s, device[i], i == CORES, l->n, &l->group[i]);
	for (int i = 0; i < LISTS && rc >= 0; i++) {
		struct tg_points p = { 0 };

		l->list[i] = tg_xcalloc(l->n, sizeof(double));
		rc = tg_series_load(
			r, of[i].metric, NULL, cell->begin_utc_ns, cell->end_utc_ns, 0, &p);
		rc = rc == -ENOENT ? 0 : rc;
		for (size_t k = 0; k < l->n; k++) {
			int64_t at;

			l->list[i][k] =
				value_at(&p, period_end(cell, period_s, k), &at) * of[i].factor;
		}
		tg_points_release(&p);
	}
	return TG_MIN(rc, 0);
}

static void write_list(struct tg_jw *w, const double *v, size_t n)
{
	tg_jw_begin_array(w);
	for (size_t k = 0; k < n; k++)
		tg_jw_fixed(w, v[k], 6);
	tg_jw_end_array(w);
}

/* Calls are whole numbers also where they fell between two samples. */
static void write_io(struct tg_jw *w, const struct lists *l, int i)
{
	tg_jw_begin_array(w);
	for (size_t k = 0; k < l->n; k++)
		tg_jw_fixed(w, l->list[i][k], i == OPS_R || i == OPS_W ? 0 : 6);
	tg_jw_end_array(w);
}

/* Without devices the lists over them are empty. */
static void write_group(struct tg_jw *w, const struct group *g, size_t n)
{
	n = g->n_devices ? n : 0;
	tg_jw_begin_array(w);
	for (size_t i = 0; i < g->n_devices; i++)
		write_list(w, &g->value[i * n], n);
	write_list(w, g->mean, n);
	write_list(w, g->max, n);
	write_list(w, g->min, n);
	tg_jw_end_array(w);
}

static void write_means(struct tg_jw *w, const struct group *g, size_t n)
{
	write_list(w, g->mean, g->n_devices ? n : 0);
}

int tg_jumper_cell(
	struct tg_recording *r, const struct tg_span *cell, double period_s, struct tg_jw *w)
{
	struct lists l;
	int rc = load_lists(r, cell, period_s, &l);

	if (rc == 0) {
		tg_jw_begin_array(w);
		tg_jw_begin_array(w); /* the node */
		write_group(w, &l.group[CORES], l.n);
		for (int i = 0; i < LISTS; i++)
			write_io(w, &l, i);
		write_group(w, &l.group[GPU_UTIL], l.n);
		write_group(w, &l.group[GPU_MEM], l.n);
		tg_jw_end_array(w);
		write_means(w, &l.group[CORES], l.n); /* means over nodes: there is one */
		for (int i = 0; i < LISTS; i++)
			write_io(w, &l, i);
		write_means(w, &l.group[GPU_UTIL], l.n);
		write_means(w, &l.group[GPU_MEM], l.n);
		tg_jw_end_array(w);
	}
	lists_release(&l);
	return rc;
}

static void summary(const struct group *g, size_t n, double *m, double *lo, double *hi)
{
	double sum = 0;
	size_t known = 0;

	*lo = *hi = NAN;
	for (size_t k = 0; k < n; k++) {
		if (isnan(g->mean[k]))
			continue;
		sum += g->mean[k];
		known++;
		*lo = fmin(*lo, g->min[k]);
		*hi = fmax(*hi, g->max[k]);
	}
	*m = known ? sum / (double)known : NAN;
}

int tg_jumper_report(struct tg_recording *r, const struct tg_span *cell, double period_s,
	double reports_min, struct tg_buf *out)
{
	double wall_s = (double)(cell->end_ns - cell->begin_ns) / 1e9, mean, min, max;
	struct group memory = { 0 };
	struct lists l;
	int rc;

	if (!(wall_s / period_s > reports_min))
		return 0;
	rc = load_lists(r, cell, period_s, &l);
	if (rc == 0) {
		tg_buf_addf(out, "\n----Performance Data----\nDuration: %.2f\n", wall_s);
		summary(&l.group[CORES], l.n, &mean, &min, &max);
		if (!isnan(mean))
			tg_buf_addf(out,
				"\nCPU Util (Across CPUs)       \tAVG: %.2f\t MIN: %.2f\t MAX: "
				"%.2f\n",
				mean, min, max);
		memory.mean = memory.min = memory.max = l.list[MEM];
		summary(&memory, l.n, &mean, &min, &max);
		if (!isnan(mean))
			tg_buf_addf(out,
				"Mem Util in GB (Across nodes)\tAVG: %.2f\t MIN: %.2f\t MAX: "
				"%.2f\n",
				mean, min, max);
		if (!isnan(l.list[OPS_R][l.n - 1]))
			tg_buf_addf(out, "IO Ops (excl.) Read          \tTotal: %.0f\n",
				l.list[OPS_R][l.n - 1]);
		if (!isnan(l.list[OPS_W][l.n - 1]))
			tg_buf_addf(out, "               Write         \tTotal: %.0f\n",
				l.list[OPS_W][l.n - 1]);
		if (!isnan(l.list[MB_R][l.n - 1]))
			tg_buf_addf(out, "IO Bytes (excl.) Read        \tTotal: %.2f\n",
				l.list[MB_R][l.n - 1]);
		if (!isnan(l.list[MB_W][l.n - 1]))
			tg_buf_addf(out, "                 Write       \tTotal: %.2f\n",
				l.list[MB_W][l.n - 1]);
		summary(&l.group[GPU_UTIL], l.n, &mean, &min, &max);
		if (!isnan(mean))
			tg_buf_addf(out,
				"--GPU Util and Mem per GPU--\nGPU Util \tAVG: %.2f\t MIN: "
				"%.2f\t MAX: %.2f\n",
				mean, min, max);
		summary(&l.group[GPU_MEM], l.n, &mean, &min, &max);
		if (!isnan(mean))
			tg_buf_addf(out, "\t    \tMem AVG: %.2f\t MIN: %.2f\t MAX: %.2f\n", mean,
				min, max);
	}
	lists_release(&l);
	return rc;
}
