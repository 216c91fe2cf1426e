/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/panels.h"

#include <errno.h>
#include <math.h>

#include "analyze/disks.h"
#include "analyze/series.h"
#include "analyze/shares.h"
#include "analyze/smooth.h"
#include "analyze/window.h"
#include "base/nearest.h"
#include "report/format.h"

#include "base/mem.h"

#define CORES_MAX    64 /* lines in one panel */
#define AVERAGES_MAX 4 /* lines beside which there is room for their averages */

/* With what there is to see a line is drawn: in most recordings these would say nothing. */
enum when {
	ALWAYS,
	WHEN_SHARED, /* PSS: it is lower than RSS somewhere */
	WHEN_SOME, /* it is not 0 all the time */
};

/* One line of a panel. `node` ones are drawn on demand, beside the job's. */
struct line {
	const char *metric;
	const char *name;
	enum tg_hue hue;
	unsigned style;
	bool node;
	double factor; /* into the unit of the panel; 0: it is in that */
	enum when when;
	const char *per; /* divided by the rate of this metric, for each of which it is a mean */
};

enum scaling { AS_CORES, AS_BYTES, AS_BYTES_PER_S, AS_IS };

struct plan {
	const char *name;
	const char *title;
	enum scaling scaling;
	bool each; /* a line for each instance of each metric */
	bool usual; /* drawn when no list is given and there is something to see */
	struct line line[5];
	const char *unit; /* of values that are shown as they are */
	double full; /* all of it, in the panel's unit: rows are shaded by it, the axis goes to it
		      */
	bool raw; /* nothing is averaged */
};

#define BAND TG_STYLE_BAND
#define AREA TG_STYLE_AREA
#define DASH TG_STYLE_DASHED
#define PALE TG_STYLE_FAINT

static const struct plan plans[] = {
	{ "cpu", "CPU · cores busy", AS_CORES, false, true,
		{ { "tree.cpu_ns", "job", TG_HUE_CPU, BAND, false },
			{ "tree.cpu_unattributed_ns", "unattributed", TG_HUE_WRITE, DASH,
				.when = WHEN_SOME },
			{ "node.cpu_busy_ns", "machine", TG_HUE_OTHER, PALE, true } } },
	{ "cpu-roles", "CPU by role · cores", AS_CORES, true, false,
		{ { "role.cpu_ns", NULL, TG_HUE_CPU, 0, .when = WHEN_SOME } } },
	{ "cpu-kinds", "CPU of the machine, by kind · cores", AS_CORES, false, false,
		{ { "node.cpu_user_ns", "programs", TG_HUE_CPU, 0, false },
			{ "node.cpu_system_ns", "kernel", TG_HUE_GPU, 0, false },
			{ "node.cpu_iowait_ns", "waiting for I/O", TG_HUE_READ, DASH, false },
			{ "node.cpu_steal_ns", "stolen by the hypervisor", TG_HUE_WRITE, DASH,
				.when = WHEN_SOME } } },
	{ "core-map", "Each core of the machine, busy", AS_IS, true, false,
		{ { "core.busy_ns", NULL, TG_HUE_CPU, 0, false, 1e-7 } }, "%", .full = 100,
		.raw = true },
	{ "cpu-raw", "CPU · each core of the machine", AS_CORES, true, false,
		{ { "core.busy_ns", NULL, TG_HUE_CPU, 0, false } } },
	{ "run-queue", "Main thread waits for a core", AS_IS, false, false,
		{ { "root.runqueue_ns", "waiting", TG_HUE_CPU, AREA, false, 1e-7 } }, "%" },
	{ "faults", "Page faults", AS_IS, false, false,
		{ { "tree.minor_faults", "minor", TG_HUE_MEMORY, 0, false },
			{ "tree.major_faults", "major", TG_HUE_WRITE, DASH, false } },
		"faults/s" },
	{ "memory", "Memory", AS_BYTES, false, true,
		{ { "tree.rss_bytes", "RSS", TG_HUE_MEMORY, AREA, false },
			{ "tree.pss_bytes", "PSS", TG_HUE_MEMORY, DASH, false, 0, WHEN_SHARED },
			{ "node.mem_used_bytes", "machine", TG_HUE_OTHER, PALE, true } } },
	{ "memory-roles", "Memory by role", AS_BYTES, true, false,
		{ { "role.rss_bytes", NULL, TG_HUE_MEMORY, 0, false, 0, WHEN_SOME } } },
	{ "address-space", "Address space, which is no memory", AS_BYTES, false, false,
		{ { "tree.vms_bytes", "virtual", TG_HUE_WRITE, 0, false } } },
	{ "memory-kinds", "Memory by kind", AS_BYTES, false, false,
		{ { "tree.anon_bytes", "anonymous", TG_HUE_MEMORY, AREA, false },
			{ "tree.file_bytes", "files", TG_HUE_READ, 0, false },
			{ "tree.shmem_bytes", "shared", TG_HUE_SEND, 0, false, 0, WHEN_SOME },
			{ "tree.swap_bytes", "swap", TG_HUE_WRITE, DASH, false, 0, WHEN_SOME },
			{ "tree.hugetlb_bytes", "huge pages", TG_HUE_GPU, 0, false, 0,
				WHEN_SOME } } },
	{ "io-bytes", "Disk", AS_BYTES_PER_S, false, true,
		{ { "tree.read_bytes", "read", TG_HUE_READ, AREA, false },
			{ "tree.write_bytes", "write", TG_HUE_WRITE, AREA, false },
			{ "disk.read_bytes", "machine read", TG_HUE_READ, PALE, true },
			{ "disk.write_bytes", "machine write", TG_HUE_WRITE, PALE | DASH,
				true } } },
	{ "io-ops", "Read and write calls", AS_IS, false, true,
		{ { "tree.read_ops", "read", TG_HUE_READ, 0, false },
			{ "tree.write_ops", "write", TG_HUE_WRITE, DASH, false } },
		"calls/s" },
	{ "blocks", "Blocks of the machine", AS_BYTES_PER_S, false, false,
		{ { "vmstat.block_in_bytes", "in", TG_HUE_READ, 0, false },
			{ "vmstat.block_out_bytes", "out", TG_HUE_WRITE, 0, false } } },
	{ "disk-busy", "Disks of the machine have something to do", AS_IS, true, false,
		{ { "disk.busy_ns", NULL, TG_HUE_READ, 0, false, 1e-7, WHEN_SOME } }, "%" },
	{ "disk-ops", "Disks of the machine, operations", AS_IS, true, false,
		{ { "disk.read_ops", "read", TG_HUE_READ, 0, .when = WHEN_SOME },
			{ "disk.write_ops", "write", TG_HUE_WRITE, DASH, .when = WHEN_SOME } },
		"operations/s" },
	{ "disks", "Disks of the machine", AS_BYTES_PER_S, true, false,
		{ { "disk.read_bytes", "read", TG_HUE_READ, 0, .when = WHEN_SOME },
			{ "disk.write_bytes", "write", TG_HUE_WRITE, DASH, .when = WHEN_SOME } } },
	{ "nfs", "NFS of the machine, over the wire", AS_BYTES_PER_S, true, true,
		{ { "nfs.wire_read_bytes", "read", TG_HUE_READ, 0, .when = WHEN_SOME },
			{ "nfs.wire_write_bytes", "write", TG_HUE_WRITE, DASH,
				.when = WHEN_SOME } } },
	{ "nfs-ops", "NFS of the machine, requests to servers", AS_IS, true, false,
		{ { "nfs.ops", NULL, TG_HUE_READ, 0, .when = WHEN_SOME } }, "requests/s" },
	{ "nfs-pages", "NFS of the machine, pages", AS_IS, true, false,
		{ { "nfs.pages_read", "read", TG_HUE_READ, 0, .when = WHEN_SOME },
			{ "nfs.pages_written", "written", TG_HUE_WRITE, DASH, .when = WHEN_SOME } },
		"pages/s" },
	{ "nfs-rtt", "NFS of the machine, a reply takes", AS_IS, true, true,
		{ { "nfs.rtt_ns", NULL, TG_HUE_READ, 0, false, 1e-6, WHEN_SOME, "nfs.ops" } },
		"ms" },
	{ "lustre", "Lustre of the machine", AS_BYTES_PER_S, true, true,
		{ { "lustre.read_bytes", "read", TG_HUE_READ, 0, .when = WHEN_SOME },
			{ "lustre.write_bytes", "write", TG_HUE_WRITE, DASH,
				.when = WHEN_SOME } } },
	{ "net", "Network of the machine", AS_BYTES_PER_S, false, true,
		{ { "net.rx_bytes", "receive", TG_HUE_RECEIVE, 0, false },
			{ "net.tx_bytes", "send", TG_HUE_SEND, DASH, false } } },
	{ "infiniband", "InfiniBand of the machine", AS_BYTES_PER_S, false, true,
		{ { "infiniband.rx_bytes", "receive", TG_HUE_RECEIVE, 0, false },
			{ "infiniband.tx_bytes", "send", TG_HUE_SEND, DASH, false } } },
	{ "gpu", "GPU busy", AS_IS, true, true,
		{ { "gpu.util_pct", NULL, TG_HUE_GPU, 0, false },
			{ "gpu.memory_busy_pct", "memory", TG_HUE_GPU, PALE, false },
			{ "amdgpu.util_pct", NULL, TG_HUE_GPU, 0, false },
			{ "drm.engine_ns", "job", TG_HUE_GPU, 0, false, 1e-7 } },
		"%" },
	{ "gpu-total", "All GPUs busy, added up", AS_IS, false, false,
		{ { "gpu.util_pct", "busy", TG_HUE_GPU, 0, false },
			{ "gpu.memory_busy_pct", "memory is read or written", TG_HUE_SEND, 0,
				false } },
		"%" },
	{ "gpu-memory-total", "Memory of all GPUs", AS_BYTES, false, false,
		{ { "gpu.memory_used_bytes", "in use", TG_HUE_GPU, AREA, false } } },
	{ "gpu-memory", "GPU memory", AS_BYTES, true, true,
		{ { "gpu.job_memory_bytes", "job", TG_HUE_GPU, 0, false },
			{ "gpu.memory_used_bytes", "all", TG_HUE_GPU, PALE, false },
			{ "drm.memory_bytes", "job", TG_HUE_GPU, 0, false },
			{ "amdgpu.memory_used_bytes", "all", TG_HUE_GPU, PALE, false } } },
	{ "gpu-memory-busy", "GPU memory is read or written", AS_IS, true, false,
		{ { "gpu.memory_busy_pct", NULL, TG_HUE_GPU, 0, false } }, "%" },
	{ "gpu-temperature", "GPU temperature", AS_IS, true, false,
		{ { "gpu.temperature_c", NULL, TG_HUE_GPU, 0, false } }, "°C", .raw = true },
	{ "pressure", "Threads of the machine wait", AS_IS, false, false,
		{ { "psi.cpu_some_ns", "some for a core", TG_HUE_CPU, 0, false, 1e-7, WHEN_SOME },
			{ "psi.io_some_ns", "some for storage", TG_HUE_READ, 0, false, 1e-7,
				WHEN_SOME },
			{ "psi.io_full_ns", "all for storage", TG_HUE_READ, DASH, false, 1e-7,
				WHEN_SOME },
			{ "psi.memory_some_ns", "some for memory", TG_HUE_MEMORY, 0, false, 1e-7,
				WHEN_SOME },
			{ "psi.memory_full_ns", "all for memory", TG_HUE_MEMORY, DASH, false, 1e-7,
				WHEN_SOME } },
		"%" },
	{ "processes", "Processes and threads", AS_IS, false, false,
		{ { "tree.processes", "processes", TG_HUE_CPU, 0, false },
			{ "tree.threads", "threads", TG_HUE_OTHER, DASH, false } },
		"", .raw = true },
	{ "power", "Power of the machine", AS_IS, false, true,
		{ { "energy.cpu_j", "processors", TG_HUE_CPU, 0, false },
			{ "gpu.power_w", "GPUs", TG_HUE_GPU, 0, false },
			{ "amdgpu.power_w", "AMD GPUs", TG_HUE_GPU, DASH, false } },
		"W" },
	{ "node-cpu", "CPU of the machine · cores busy", AS_CORES, false, false,
		{ { "node.cpu_busy_ns", "machine", TG_HUE_CPU, BAND, false } } },
	{ "node-memory", "Memory of the machine", AS_BYTES, false, false,
		{ { "node.mem_used_bytes", "in use", TG_HUE_MEMORY, AREA, false },
			{ "node.mem_cache_bytes", "file cache", TG_HUE_READ, 0, false },
			{ "top.mem_cache_bytes", "buffers and cache", TG_HUE_READ, 0, false },
			{ "node.swap_used_bytes", "swap", TG_HUE_WRITE, DASH, false, 0,
				WHEN_SOME } } },
};

/* Of lines that are many of a kind, in turn: no two of them are near each other. */
static const enum tg_hue hues[] = { TG_HUE_CPU, TG_HUE_GPU, TG_HUE_MEMORY, TG_HUE_RECEIVE,
	TG_HUE_WRITE, TG_HUE_SEND };

static const char *const byte_units[] = { "B", "kB", "MB", "GB", "TB" };

bool tg_panels_ask_for(const char *list, const char *name)
{
	const char *const asked[] = { name, "all" };

	for (size_t i = 0; list && i < TG_ARRAY_SIZE(asked); i++) {
		size_t len = strlen(asked[i]);

		for (const char *p = list; p; p = strchr(p, ',')) {
			p += *p == ',';
			if (!strncmp(p, asked[i], len) && (p[len] == ',' || !p[len]))
				return true;
		}
	}
	return !list;
}

/* How many bins a series of so many points deserves. */
static size_t bins_for(const struct tg_panels *w, const struct tg_points *p)
{
	return TG_MIN(w->buckets, TG_MAX(p->n * 3, (size_t)10));
}

static double *bucket_field(struct tg_bucket *b, int k)
{
	return k == 0 ? &b->min : k == 1 ? &b->max : &b->mean;
}

static struct tg_bin *bins_of(const struct tg_panels *w, const struct tg_points *p, size_t n)
{
	struct tg_bin *bin = tg_xcalloc(n, sizeof(*bin));

	tg_bins_from(p, w->from_ns, w->to_ns, bin, n);
	return bin;
}

/* Of each bin, what it is for each one of `line->per`; nothing is known where there was none. */
static int divide(const struct tg_panels *w, const struct line *line, const char *instance,
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

static double series_max(const struct tg_series *s)
{
	double max = NAN;

	for (size_t j = 0; j < s->n_buckets; j++)
		max = fmax(max, s->bucket[j].max);
	return max;
}

/* The last series, which `line` has become, is taken back when it would say nothing. */
static int drop_idle(struct tg_panel *panel, const struct line *line)
{
	struct tg_series *last = &panel->series[panel->n_series - 1];

	if (line->when != WHEN_SOME || series_max(last) > 0)
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
static int load_points(const struct tg_panels *w, const struct line *line, const char *instance,
	struct tg_points *p, struct tg_points *rss)
{
	int rc = tg_series_load(
		w->recording, line->metric, instance, w->from_ns, w->to_ns, w->buckets, p);

	if (rc == 0 && line->when == WHEN_SHARED) {
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
	const struct line *line, const char *name, const struct tg_bin *bin, size_t n)
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

void tg_panel_stats_release(struct tg_panel_stats *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->stat[i].series);
	free(s->stat);
	*s = (struct tg_panel_stats){ 0 };
}

static void scale_description(struct tg_description *d, double factor)
{
	double *const value[] = { &d->mean, &d->std, &d->min, &d->q25, &d->q50, &d->q75, &d->max };

	for (size_t i = 0; i < TG_ARRAY_SIZE(value); i++)
		*value[i] *= factor;
}

static void add_stat(const struct tg_panels *w, const struct line *line, const char *name,
	const struct tg_points *p)
{
	struct tg_panel_stat *stat;

	if (!w->stats || line->per)
		return;
	TG_GROW(w->stats->stat, w->stats->n + 1, w->stats->cap);
	stat = &w->stats->stat[w->stats->n++];
	stat->series = tg_xstrdup(name);
	tg_describe_points(p, w->from_ns, w->to_ns, &stat->d);
	scale_description(&stat->d, line->factor > 0 ? line->factor : 1);
}

static double window_of(const struct tg_panels *w, const struct line *line)
{
	if (w->smooth_s >= 0)
		return w->smooth_s;
	return !strncmp(line->metric, "gpu.", 4) ? 10 : 60;
}

/*
 * The moving average of the series that was added last, which it steps in front of and leaves
 * fainter. Where bins are as long as the window they are the average already.
 */
static void add_average(const struct tg_panels *w, struct tg_panel *panel, const struct line *line,
	const struct tg_points *p, struct tg_bin *bin, size_t n)
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
	raw->style = (raw->style & ~(unsigned)(AREA | BAND | DASH)) | TG_STYLE_RAW;
	swap = *raw;
	*raw = *s;
	*s = swap;
}

/* Returns 1 when a series with something in it was added, 0 when not, -errno. */
static int add_series(const struct tg_panels *w, struct tg_panel *panel, const struct line *line,
	const char *name, const char *instance, bool average)
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
	if (!(line->style & PALE))
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

static int add_instances(const struct tg_panels *w, struct tg_panel *panel, const struct plan *plan,
	const struct line *line)
{
	char **name;
	size_t n = tg_series_instances(w->recording, line->metric, &name);
	bool average = !plan->raw && w->smooth_s != 0 && n <= AVERAGES_MAX;
	int rc = 0, some = 0;

	for (size_t i = 0; i < n; i++) {
		if (rc >= 0 && i < CORES_MAX && !others(w, line->metric, name[i]) &&
			(!w->instance || !strcmp(name[i], w->instance))) {
			struct tg_buf shown = TG_BUF_INIT;
			struct line one = *line;

			if (!panel->heat && !w->instance) {
				one.hue = hues[i % TG_ARRAY_SIZE(hues)];
				one.style |= i / TG_ARRAY_SIZE(hues) & 1 ? DASH : 0;
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

static double panel_max(const struct tg_panel *panel)
{
	double max = NAN;

	for (size_t i = 0; i < panel->n_series; i++)
		max = fmax(max, series_max(&panel->series[i]));
	return max;
}

bool tg_panel_is_idle(const struct tg_panel *panel)
{
	return !(panel_max(panel) > 0);
}

static void scale_panel(struct tg_panel *panel, double factor)
{
	for (size_t i = 0; i < panel->n_series; i++)
		for (size_t j = 0; j < panel->series[i].n_buckets; j++)
			for (int k = 0; k < 3; k++)
				*bucket_field(&panel->series[i].bucket[j], k) *= factor;
}

const char *tg_panels_byte_unit(double max, double *factor)
{
	size_t k = 0;

	for (*factor = 1; max * *factor >= 1000 && k + 1 < TG_ARRAY_SIZE(byte_units); k++)
		*factor /= 1000;
	return byte_units[k];
}

/* Bring the values into a unit in which the largest has one to three digits; name the unit. */
static void set_unit(
	const struct tg_panels *w, const struct plan *plan, struct tg_panel *panel, double max)
{
	struct tg_buf text = TG_BUF_INIT;
	double factor = 1e-9;

	if (plan->scaling == AS_IS) {
		tg_buf_adds(&text, plan->unit);
		factor = 1;
	} else if (plan->scaling == AS_CORES) {
		tg_buf_adds(&text, "cores");
	} else {
		tg_buf_adds(&text, tg_panels_byte_unit(max, &factor));
		tg_buf_adds(&text, plan->scaling == AS_BYTES_PER_S ? "/s" : "");
	}
	scale_panel(panel, factor);
	for (size_t i = 0; w->stats && i < w->stats->n; i++)
		scale_description(&w->stats->stat[i].d, factor);
	free(panel->unit);
	panel->unit = tg_buf_detach(&text);
	if (plan->scaling != AS_CORES) {
		if (w->instance) {
			tg_instance_title(w->recording, plan->line[0].metric, w->instance, &text);
			tg_buf_adds(&text, " · ");
		}
		tg_buf_addf(&text, "%s%s%s", plan->title, panel->unit[0] ? " · " : "", panel->unit);
		free(panel->title);
		panel->title = tg_buf_detach(&text);
	}
	if (!strcmp(plan->name, "cpu") && !isnan(w->cores_allowed)) {
		tg_fmt_number(&text, w->cores_allowed);
		tg_buf_adds(&text, " allowed");
		tg_panel_limit(panel, text.data, w->cores_allowed);
	}
	if (!strcmp(plan->name, "cpu") && w->cores_machine > w->cores_allowed) {
		tg_buf_clear(&text);
		tg_fmt_number(&text, w->cores_machine);
		tg_buf_adds(&text, " in the machine");
		tg_panel_limit(panel, text.data, w->cores_machine);
	}
	if (plan->scaling == AS_CORES && w->percent) {
		panel->second_factor = 100;
		panel->second_unit = tg_xstrdup("%");
	}
	if (!strcmp(plan->name, "memory") && !isnan(w->memory_limit_bytes)) {
		tg_buf_adds(&text, "limit ");
		tg_fmt_bytes(&text, w->memory_limit_bytes);
		tg_panel_limit(panel, text.data, w->memory_limit_bytes * factor);
	}
	tg_buf_release(&text);
}

static void panel_release(struct tg_panel *panel)
{
	for (size_t i = 0; i < panel->n_series; i++) {
		free(panel->series[i].name);
		free(panel->series[i].bucket);
	}
	free(panel->series);
	free(panel->title);
	free(panel->unit);
	free(panel->second_unit);
}

/* Add one panel; one that was not asked for only when it shows something. */
static int add_panel(const struct tg_panels *w, const struct plan *plan, bool asked)
{
	struct tg_panel *panel = tg_chart_panel(w->chart, plan->title, "");
	int rc = 0, some = 0;
	double max;

	panel->mean_only = true;
	panel->heat = plan->full > 0;
	panel->y_max = plan->full;
	for (size_t i = 0; i < TG_ARRAY_SIZE(plan->line) && plan->line[i].metric; i++) {
		const struct line *line = &plan->line[i];

		if (line->node && !w->node)
			continue;
		rc = plan->each ? add_instances(w, panel, plan, line)
				: add_series(w, panel, line, line->name, NULL,
					  !plan->raw && w->smooth_s != 0 && !(line->style & PALE));
		if (rc < 0)
			break;
		some |= rc;
	}
	max = panel_max(panel);
	if (rc >= 0 && some && !isnan(max) && (asked || max > 0)) {
		set_unit(w, plan, panel, max);
		return 0;
	}
	panel_release(panel);
	w->chart->n_panels--;
	return TG_MIN(rc, 0);
}

static const struct plan *find_plan(const char *name, size_t len)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(plans); i++)
		if (strlen(plans[i].name) == len && !strncmp(plans[i].name, name, len))
			return &plans[i];
	return NULL;
}

const char *tg_panels_metric_of_each(const char *name)
{
	const struct plan *plan = find_plan(name, strlen(name));

	return plan && plan->each && !(plan->full > 0) ? plan->line[0].metric : NULL;
}

static int unknown_panel(const char *name, size_t len, struct tg_err *err)
{
	const char *names[TG_ARRAY_SIZE(plans)];
	struct tg_buf shown = TG_BUF_INIT;
	char *given = tg_xmemdup0(name, len);
	const char *near;

	for (size_t i = 0; i < TG_ARRAY_SIZE(plans); i++)
		names[i] = plans[i].name;
	near = tg_nearest(given, names, TG_ARRAY_SIZE(names));
	tg_plain(&shown, given, 40);
	if (near)
		tg_err_set(err, -EINVAL, "There is no panel \"%s\"; did you mean \"%s\"?",
			shown.data, near);
	else
		tg_err_set(err, -EINVAL, "There is no panel \"%s\"; \"help chart\" lists them",
			shown.len ? shown.data : "");
	tg_buf_release(&shown);
	free(given);
	return -EINVAL;
}

static int add_listed(const struct tg_panels *w, struct tg_err *err)
{
	const char *list = w->list;
	int rc = 0;

	while (rc == 0) {
		size_t len = strcspn(list, ",");
		const struct plan *plan = find_plan(list, len);

		if (len == 3 && !strncmp(list, "all", 3)) {
			for (size_t i = 0; i < TG_ARRAY_SIZE(plans) && rc == 0; i++)
				rc = add_panel(w, &plans[i], true);
		} else if (plan) {
			size_t before = w->chart->n_panels;

			rc = add_panel(w, plan, true);
			if (rc == 0 && w->chart->n_panels == before)
				tg_buf_addf(
					w->empty, "%s%s", w->empty->len ? ", " : "", plan->name);
		} else {
			rc = unknown_panel(list, len, err);
		}
		if (!list[len])
			break;
		list += len + 1;
	}
	return rc;
}

int tg_panels_add(const struct tg_panels *w, struct tg_err *err)
{
	int rc = 0;

	if (w->list)
		return add_listed(w, err);
	for (size_t i = 0; i < TG_ARRAY_SIZE(plans) && rc == 0; i++)
		if (plans[i].usual)
			rc = add_panel(w, &plans[i], false);
	return rc;
}
