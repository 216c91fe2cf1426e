/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/panels.h"

#include <errno.h>
#include <math.h>

#include "analyze/disks.h"
#include "base/nearest.h"
#include "report/format.h"
#include "report/panel_lines.h"
#include "report/panel_plans.h"

#include "base/mem.h"

static const char *const byte_units[] = { "B", "kB", "MB", "GB", "TB" };

void tg_panel_stats_release(struct tg_panel_stats *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->stat[i].series);
	free(s->stat);
	*s = (struct tg_panel_stats){ 0 };
}

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

static double *bucket_field(struct tg_bucket *b, int k)
{
	return k == 0 ? &b->min : k == 1 ? &b->max : &b->mean;
}

static double panel_max(const struct tg_panel *panel)
{
	double max = NAN;

	for (size_t i = 0; i < panel->n_series; i++)
		max = fmax(max, tg_series_max(&panel->series[i]));
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
static void set_unit(const struct tg_panels *w, const struct tg_panel_plan *plan,
	struct tg_panel *panel, double max)
{
	struct tg_buf text = TG_BUF_INIT;
	double factor = 1e-9;

	if (plan->scaling == TG_AS_IS) {
		tg_buf_adds(&text, plan->unit);
		factor = 1;
	} else if (plan->scaling == TG_AS_CORES) {
		tg_buf_adds(&text, "cores");
	} else {
		tg_buf_adds(&text, tg_panels_byte_unit(max, &factor));
		tg_buf_adds(&text, plan->scaling == TG_AS_BYTES_PER_S ? "/s" : "");
	}
	scale_panel(panel, factor);
	for (size_t i = 0; w->stats && i < w->stats->n; i++)
		tg_description_scale(&w->stats->stat[i].d, factor);
	free(panel->unit);
	panel->unit = tg_buf_detach(&text);
	if (plan->scaling != TG_AS_CORES) {
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
	if (!strcmp(plan->name, "cpu") && !isnan(w->cores_machine) &&
		!(w->cores_machine <= w->cores_allowed)) {
		tg_buf_clear(&text);
		tg_fmt_number(&text, w->cores_machine);
		tg_buf_adds(&text, " in the machine");
		tg_panel_limit(panel, text.data, w->cores_machine);
	}
	if (plan->scaling == TG_AS_CORES && w->percent) {
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
static int add_panel(const struct tg_panels *w, const struct tg_panel_plan *plan, bool asked)
{
	struct tg_panel *panel = tg_chart_panel(w->chart, plan->title, "");
	int rc = 0, some = 0;
	double max;

	panel->mean_only = true;
	panel->heat = plan->full > 0;
	panel->y_max = plan->full;
	for (size_t i = 0; i < TG_ARRAY_SIZE(plan->line) && plan->line[i].metric; i++) {
		const struct tg_panel_line *line = &plan->line[i];

		if (line->node && !w->node)
			continue;
		rc = tg_panel_line_add(w, panel, plan, line);
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

const char *tg_panels_metric_of_each(const char *name)
{
	const struct tg_panel_plan *plan = tg_panel_plan_find(name, strlen(name));

	return plan && plan->each && !(plan->full > 0) ? plan->line[0].metric : NULL;
}

static int unknown_panel(const char *name, size_t len, struct tg_err *err)
{
	size_t n;
	const struct tg_panel_plan *plans = tg_panel_plans(&n);
	const char **names = tg_xcalloc(n, sizeof(*names));
	struct tg_buf shown = TG_BUF_INIT;
	char *given = tg_xmemdup0(name, len);
	const char *near;

	for (size_t i = 0; i < n; i++)
		names[i] = plans[i].name;
	near = tg_nearest(given, names, n);
	free(names);
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

/* All that there are, or the usual ones as far as they show something. */
static int add_all(const struct tg_panels *w, bool asked)
{
	size_t n;
	const struct tg_panel_plan *plans = tg_panel_plans(&n);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		if (asked || plans[i].usual)
			rc = add_panel(w, &plans[i], asked);
	return rc;
}

static int add_listed(const struct tg_panels *w, struct tg_err *err)
{
	const char *list = w->list;
	int rc = 0;

	while (rc == 0) {
		size_t len = strcspn(list, ",");
		const struct tg_panel_plan *plan = tg_panel_plan_find(list, len);

		if (len == 3 && !strncmp(list, "all", 3)) {
			rc = add_all(w, true);
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
	return w->list ? add_listed(w, err) : add_all(w, false);
}
