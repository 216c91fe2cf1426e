/* SPDX-License-Identifier: BSD-3-Clause */
/* The plots over time: which there are, in which order, and their figures below them. */
#include <errno.h>
#include <math.h>

#include "analyze/disks.h"
#include "analyze/series.h"
#include "report/bands.h"
#include "report/format.h"
#include "report/panels.h"
#include "report/plots.h"
#include "report/report.h"

#include "base/mem.h"

#define BUCKETS       700
#define HEIGHT        150
#define GUTTER        62
#define MARGIN        62
#define INSTANCES_MAX 24 /* devices or mounts with a plot of their own */

struct plot {
	const char *panel; /* see panels.c */
	const char *text; /* what one should know of it, or NULL */
	bool always; /* also where it is 0 all the time */
	bool apart; /* a plot for each device or mount, titled by it */
	bool several; /* only where there are several instances of what it adds up */
};

struct section {
	const char *id, *title;
	struct plot plot[7];
};

static const struct section sections[] = {
	{ "cpu", "CPU",
		{ { "cpu", "100 % is one core.", .always = true },
			{ "cpu-roles",
				"Roles are what --role says, or what import knows of itself." },
			{ "core-map", NULL },
			{ "cpu-kinds", "Of the whole machine, whoever used it." },
			{ "run-queue", NULL } } },
	{ "memory", "Memory",
		{ { "memory",
			  "RSS counts pages that processes share once for each of them; PSS "
			  "divides them. Both are memory that is in use.",
			  .always = true },
			{ "address-space",
				"Virtual memory is the range of addresses that processes have "
				"reserved. It is no memory, and no measure of it: it includes "
				"files that are mapped and what was never touched." },
			{ "memory-roles", NULL }, { "memory-kinds", NULL },
			{ "node-memory", "Of the whole machine, whoever used it." },
			{ "faults", NULL } } },
	{ "disk", "Storage",
		{ { "io-bytes", "What the job's processes fetched from storage and sent to it." },
			{ "io-ops", NULL },
			{ "blocks", "What vmstat saw go in from storage and out to it." },
			{ "disks", "Whoever used it.", .apart = true },
			{ "disk-busy",
				"Time in which the device had something to do: a parallel one may "
				"still have been able to do more." },
			{ "disk-ops", NULL, .apart = true } } },
	{ "nfs", "Files over the network",
		{ { "nfs", "Of the whole machine, over the wire.", .apart = true },
			{ "nfs-pages", NULL, .apart = true }, { "nfs-ops", NULL },
			{ "nfs-rtt", NULL }, { "lustre", NULL } } },
	{ "network", "Network", { { "net", NULL }, { "infiniband", NULL } } },
	{ "gpu", "GPU",
		{ { "gpu", "Busy is the share of time in which something ran on it, however "
			   "little of it that used." },
			{ "gpu-total", "100 % is one GPU.", .several = true },
			{ "gpu-memory-busy",
				"The share of time in which the memory was read or written, which "
				"nvidia-smi calls utilization.memory: not how much is in use." },
			{ "gpu-memory", NULL }, { "gpu-memory-total", NULL, .several = true },
			{ "gpu-temperature", NULL } } },
	{ "waiting", "Waiting and the rest",
		{ { "pressure", "Time in which some threads, or all that could run, waited for "
				"want of something (pressure stall information)." },
			{ "processes", NULL }, { "power", NULL } } },
};

void tg_plot_frame(const struct tg_told *t, struct tg_chart *c)
{
	*c = (struct tg_chart){ .t_end = (double)(t->sums.to_ns - t->sums.from_ns) / 1e9,
		.x_label = tg_xstrdup("since it began"),
		.plot_height = HEIGHT,
		.gutter = GUTTER,
		.margin = MARGIN };
	tg_bands_add(c, t->stage, t->n_stages, t->sums.from_ns);
	/* those that are left out are among the notes */
	tg_flags_add(c, t->r, t->sums.from_ns, t->sums.to_ns);
}

static void put_stats(const struct tg_panel_stats *stats, const char *unit, struct tg_sheet *sheet)
{
	static const char *const head[] = { "count", "mean", "std", "min", "25 %", "50 %", "75 %",
		"max" };
	struct tg_buf b = TG_BUF_INIT;

	if (!stats->n)
		return;
	tg_buf_addf(&b, "%s", unit[0] ? unit : "series");
	tg_sheet_column(sheet, b.data, false, NULL);
	tg_buf_clear(&b);
	for (size_t k = 0; k < TG_ARRAY_SIZE(head); k++)
		tg_sheet_column(sheet, head[k], true, NULL);
	for (size_t i = 0; i < stats->n; i++) {
		const struct tg_description *d = &stats->stat[i].d;
		const double value[] = { d->mean, d->std, d->min, d->q25, d->q50, d->q75, d->max };

		tg_sheet_text(sheet, stats->stat[i].series);
		tg_buf_addf(&b, "%zu", d->count);
		tg_sheet_value(sheet, (double)d->count, &b);
		for (size_t k = 0; k < TG_ARRAY_SIZE(value); k++) {
			tg_fmt_number(&b, value[k]);
			tg_sheet_value(sheet, value[k], &b);
		}
	}
	tg_buf_release(&b);
}

/*
 * Add the part of one panel, or of it for the instance that is named, the n-th; nothing when it
 * would be empty. *sectioned: its section is there.
 */
static int add_plot(struct tg_told *t, const struct section *s, const struct plot *plot,
	const char *instance, size_t which, bool *sectioned, struct tg_err *err)
{
	struct tg_panel_stats stats = { 0 };
	struct tg_buf empty = TG_BUF_INIT, id = TG_BUF_INIT;
	struct tg_chart chart;
	struct tg_panel *panel;
	struct tg_report_part *p;
	int rc;

	tg_plot_frame(t, &chart);
	rc = tg_panels_add(
		&(struct tg_panels){
			.recording = t->r,
			.chart = &chart,
			.list = plot->panel,
			.instance = instance,
			.stats = &stats,
			.buckets = BUCKETS,
			.from_ns = t->sums.from_ns,
			.to_ns = t->sums.to_ns,
			.cores_allowed = t->sums.totals.cores_allowed,
			.cores_machine = t->sums.totals.node_cores,
			.memory_limit_bytes = t->sums.totals.memory_limit_bytes,
			.smooth_s = t->o->smooth_s,
			.percent = true,
			.empty = &empty,
		},
		err);
	if (rc == 0 && chart.n_panels && tg_panel_is_idle(&chart.panel[0]) && !plot->always) {
		tg_buf_addf(&t->empty, "%s%s", t->empty.len ? ", " : "", chart.panel[0].title);
		tg_chart_free(&chart);
	} else if (rc == 0 && chart.n_panels) {
		if (!*sectioned)
			tg_report_add(t->report, 2, s->id, s->title, NULL);
		*sectioned = true;
		panel = &chart.panel[0];
		tg_buf_addf(&id, "plot-%s", plot->panel);
		if (instance)
			tg_buf_addf(&id, "-%zu", which);
		p = tg_report_add(t->report, 3, id.data, panel->title, plot->text);
		/* the part has it, and a legend needs the room */
		free(panel->title);
		panel->title = NULL;
		put_stats(&stats, panel->unit, &p->sheet);
		p->has_chart = true;
		p->chart = chart;
		tg_buf_clear(&id);
		tg_buf_addf(&id, "run.chart(\"%s\", smooth=%g)", plot->panel,
			t->o->smooth_s >= 0               ? t->o->smooth_s
			: !strncmp(plot->panel, "gpu", 3) ? 10
							  : 60);
		p->code = tg_buf_detach(&id);
	} else {
		tg_chart_free(&chart);
	}
	tg_panel_stats_release(&stats);
	tg_buf_release(&empty);
	tg_buf_release(&id);
	return rc;
}

/* One plot for each device or mount, as far as there are some. */
static int add_apart(struct tg_told *t, const struct section *s, const struct plot *plot,
	bool *sectioned, struct tg_err *err)
{
	char **name;
	size_t n = tg_series_instances(t->r, tg_panels_metric_of_each(plot->panel), &name);
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (rc == 0 && i < INSTANCES_MAX)
			rc = add_plot(t, s, plot, name[i], i, sectioned, err);
		free(name[i]);
	}
	free(name);
	return rc;
}

/* How many GPUs there are: of one alone a total says nothing new. */
static bool are_several(const struct tg_told *t)
{
	char **name;
	size_t n = tg_series_instances(t->r, "gpu.util_pct", &name);

	for (size_t i = 0; i < n; i++)
		free(name[i]);
	free(name);
	return n > 1;
}

int tg_report_plots(struct tg_told *t, struct tg_err *err)
{
	bool several = are_several(t);
	int rc = 0;

	for (size_t i = 0; i < TG_ARRAY_SIZE(sections) && rc == 0; i++) {
		const struct section *s = &sections[i];
		bool sectioned = false;

		for (size_t k = 0; k < TG_ARRAY_SIZE(s->plot) && s->plot[k].panel && rc == 0; k++) {
			const struct plot *plot = &s->plot[k];

			if (plot->several && !several)
				continue;
			rc = plot->apart ? add_apart(t, s, plot, &sectioned, err)
					 : add_plot(t, s, plot, NULL, 0, &sectioned, err);
		}
	}
	return rc;
}
