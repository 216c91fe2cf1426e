/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/panel_lines.h"

#include <errno.h>
#include <math.h>

#include "analyze/disks.h"
#include "analyze/series.h"
#include "analyze/shares.h"
#include "analyze/smooth.h"
#include "analyze/window.h"
#include "report/format.h"

#include "base/mem.h"

#define CORES_MAX    64 /* lines in one panel */
#define AVERAGES_MAX 4 /* lines beside which there is room for their averages */

/* Of lines that are many of a kind, in turn: no two of them are near each other. */
static const enum tg_hue hues[] = { TG_HUE_CPU, TG_HUE_GPU, TG_HUE_MEMORY, TG_HUE_RECEIVE,
	TG_HUE_WRITE, TG_HUE_SEND };

/* How many bins a series of so many points deserves. */
static size_t bins_for(const struct tg_panels *w, const struct tg_points *p)
{
	return TG_MIN(w->buckets, TG_MAX(p->n * 3, (size_t)10));
}

static struct tg_bin *bins_of(const struct tg_panels *w, const struct tg_points *p, size_t n)
{
	struct tg_bin *bin = tg_xcalloc(n, sizeof(*bin));

	tg_bins_from(p, w->from_ns, w->to_ns, bin, n);
	return bin;
}

/* Of each bin, what it is for each one of `line->per`; nothing is known where there was none. */
static int divide(const struct tg_panels *w, const struct tg_panel_line *line, const char *instance,
	struct tg_bin *bin, size_t n)
{
	struct tg_points p = { 0 };
	struct tg_bin *per;
	int rc = tg_series_load(
		w->recording, line->per, instance, w->from_ns, w->to_ns, w->buckets, &p);

	per = bins_of(w, &p, n); /* of no points: nothing is known */
	for (size_t j = 0; j < n; j++) {
		bin[j].mean = per[j].mean > 0 ? bin[j].mean / per[j].mean : NAN;
		bin[j].min = bin[j].max = bin[j].mean;
	}
	free(per);
	tg_points_release(&p);
	return rc == -ENOENT ? 0 : rc;
}

double tg_series_max(const struct tg_series *s)
{
	double max = NAN;

	for (size_t j = 0; j < s->n_buckets; j++)
		max = fmax(max, s->bucket[j].max);
	return max;
}

/* The last series, which `line` has become, is taken back when it would say nothing. */
static int drop_idle(struct tg_panel *panel, const struct tg_panel_line *line)
{
	struct tg_series *last = &panel->series[panel->n_series - 1];

	if (line->when != TG_LINE_SOME || tg_series_max(last) > 0)
		return 1;
	free(last->name);
	free(last->bucket);
	panel->n_series--;
	return 0;
}

/*
 * Points of `line`, and of RSS where it must not be above that. Returns 1, 0 when there is nothing
 * to draw, or -errno.
 */
static int load_points(const struct tg_panels *w, const struct tg_panel_line *line,
	const char *instance, struct tg_points *p, struct tg_points *rss)
{
	int rc = tg_series_load(
		w->recording, line->metric, instance, w->from_ns, w->to_ns, w->buckets, p);

	if (rc == 0 && line->when == TG_LINE_SHARED) {
		rc = tg_series_load(w->recording, "tree.rss_bytes", instance, w->from_ns, w->to_ns,
			w->buckets, rss);
		if (rc == 0 && !tg_shares_cut(p, rss))
			rc = -ENOENT;
	}
	if (rc == -ENOENT || (rc == 0 && (!p->n || w->to_ns <= w->from_ns)))
		return 0;
	return rc < 0 ? rc : 1;
}

/* What is drawn between readings must not be above what bounds it either. */
static void bound(
	const struct tg_panels *w, struct tg_bin *bin, size_t n, const struct tg_points *bounds)
{
	struct tg_bin *most = bins_of(w, bounds, n);

	for (size_t j = 0; j < n; j++) {
		if (isnan(bin[j].mean))
			continue;
		bin[j].min = fmin(bin[j].min, most[j].min);
		bin[j].max = fmin(bin[j].max, most[j].max);
		bin[j].mean = fmin(bin[j].mean, most[j].mean);
	}
	free(most);
}

/* A series of the panel with those bins, which are in the unit of the metric. */
static struct tg_series *put_series(const struct tg_panels *w, struct tg_panel *panel,
	const struct tg_panel_line *line, const char *name, const struct tg_bin *bin, size_t n)
{
	struct tg_series *s = tg_panel_series(panel, name, line->hue, line->style);
	double f = line->factor > 0 ? line->factor : 1;

	s->bucket = tg_xcalloc(n, sizeof(*s->bucket));
	s->n_buckets = n;
	for (size_t j = 0; j < n; j++)
		s->bucket[j] = (struct tg_bucket){
			.t0 = (double)(bin[j].t0_ns - w->from_ns) / 1e9,
			.t1 = (double)(bin[j].t1_ns - w->from_ns) / 1e9,
			.min = bin[j].min * f,
			.max = bin[j].max * f,
			.mean = bin[j].mean * f,
		};
	return s;
}

static void add_stat(const struct tg_panels *w, const struct tg_panel_line *line, const char *name,
	const struct tg_points *p)
{
	struct tg_panel_stat *stat;

	if (!w->stats || line->per)
		return;
	TG_GROW(w->stats->stat, w->stats->n + 1, w->stats->cap);
	stat = &w->stats->stat[w->stats->n++];
	stat->series = tg_xstrdup(name);
	tg_describe_points(p, w->from_ns, w->to_ns, &stat->d);
	tg_description_scale(&stat->d, line->factor > 0 ? line->factor : 1);
}

static double window_of(const struct tg_panels *w, const struct tg_panel_line *line)
{
	if (w->smooth_s >= 0)
		return w->smooth_s;
	return !strncmp(line->metric, "gpu.", 4) ? 10 : 60;
}

/*
 * The moving average of the series that was added last, which it steps in front of and leaves
 * fainter. Where bins are as long as the window they are the average already.
 */
static void add_average(const struct tg_panels *w, struct tg_panel *panel,
	const struct tg_panel_line *line, const struct tg_points *p, struct tg_bin *bin, size_t n)
{
	double window_s = window_of(w, line);
	struct tg_series *raw = &panel->series[panel->n_series - 1], *s, swap;
	struct tg_buf name = TG_BUF_INIT;

	if (window_s <= 0 || line->per || (double)(w->to_ns - w->from_ns) / 1e9 < window_s ||
		(double)(bin[0].t1_ns - bin[0].t0_ns) / 1e9 >= window_s)
		return;
	tg_buf_addf(&name, "%s, mean of ", raw->name);
	tg_fmt_seconds(&name, window_s);
	tg_smooth(p, (int64_t)(window_s * 1e9), bin, n);
	s = put_series(w, panel, line, name.data, bin, n);
	tg_buf_release(&name);
	raw = s - 1;
	raw->style = (raw->style & ~(unsigned)(TG_STYLE_AREA | TG_STYLE_BAND | TG_STYLE_DASHED)) |
		     TG_STYLE_RAW;
	swap = *raw;
	*raw = *s;
	*s = swap;
}

/* Returns 1 when a series with something in it was added, 0 when not, -errno. */
static int add_series(const struct tg_panels *w, struct tg_panel *panel,
	const struct tg_panel_line *line, const char *name, const char *instance, bool average)
{
	struct tg_points p = { 0 }, rss = { 0 };
	struct tg_bin *bin;
	bool single;
	size_t n;
	int rc = load_points(w, line, instance, &p, &rss);

	if (rc <= 0) {
		tg_points_release(&p);
		tg_points_release(&rss);
		return rc;
	}
	single = tg_points_window(&p, w->from_ns, w->to_ns);
	/* context has slower samples than what is of interest, or as many */
	if (!(line->style & TG_STYLE_FAINT))
		panel->mean_only = panel->mean_only && single;
	n = bins_for(w, rss.n ? &rss : &p);
	bin = bins_of(w, &p, n);
	if (rss.n)
		bound(w, bin, n, &rss);
	tg_points_release(&rss);
	if (line->per)
		rc = divide(w, line, instance, bin, n);
	if (rc < 0) {
		free(bin);
		tg_points_release(&p);
		return rc;
	}
	put_series(w, panel, line, name, bin, n);
	rc = drop_idle(panel, line);
	if (rc && !panel->heat)
		add_stat(w, line, name, &p);
	if (rc && average)
		add_average(w, panel, line, &p, bin, n);
	free(bin);
	tg_points_release(&p);
	return rc;
}

/* Whether it is a GPU that was never the job's in that time, and is known not to be. */
static bool others(const struct tg_panels *w, const char *metric, const char *instance)
{
	struct tg_points p = { 0 };
	bool never;

	if (w->node || strncmp(metric, "gpu.", 4) != 0)
		return false;
	tg_series_load(w->recording, "gpu.in_job", instance, w->from_ns, w->to_ns, w->buckets, &p);
	never = p.n > 0;
	for (size_t i = 0; i < p.n; i++)
		never &= p.point[i].value == 0;
	tg_points_release(&p);
	return never;
}

static int add_instances(const struct tg_panels *w, struct tg_panel *panel,
	const struct tg_panel_plan *plan, const struct tg_panel_line *line)
{
	char **name;
	size_t n = tg_series_instances(w->recording, line->metric, &name);
	bool average = !plan->raw && w->smooth_s != 0 && n <= AVERAGES_MAX;
	int rc = 0, some = 0;

	for (size_t i = 0; i < n; i++) {
		if (rc >= 0 && i < CORES_MAX && !others(w, line->metric, name[i]) &&
			(!w->instance || !strcmp(name[i], w->instance))) {
			struct tg_buf shown = TG_BUF_INIT;
			struct tg_panel_line one = *line;

			if (!panel->heat && !w->instance) {
				one.hue = hues[i % TG_ARRAY_SIZE(hues)];
				one.style |= i / TG_ARRAY_SIZE(hues) & 1 ? TG_STYLE_DASHED : 0;
			}
			tg_instance_title(w->recording, line->metric, name[i], &shown);
			if (line->name && w->instance)
				tg_buf_clear(&shown);
			if (line->name)
				tg_buf_addf(&shown, "%s%s", shown.len ? " " : "", line->name);
			rc = add_series(w, panel, &one, shown.data, name[i], average);
			some |= rc > 0;
			tg_buf_release(&shown);
		}
		free(name[i]);
	}
	free(name);
	return rc < 0 ? rc : some;
}

int tg_panel_line_add(const struct tg_panels *w, struct tg_panel *panel,
	const struct tg_panel_plan *plan, const struct tg_panel_line *line)
{
	if (plan->each)
		return add_instances(w, panel, plan, line);
	return add_series(w, panel, line, line->name, NULL,
		!plan->raw && w->smooth_s != 0 && !(line->style & TG_STYLE_FAINT));
}
