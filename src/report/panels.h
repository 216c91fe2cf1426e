/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The panels that there are for a time of a recording: which series each has, in which unit, with
 * which limit.
 */
#ifndef TG_REPORT_PANELS_H
#define TG_REPORT_PANELS_H

#include "analyze/describe.h"
#include "analyze/recording.h"
#include "base/err.h"
#include "render/chart.h"

/* What a series of a panel is in figures, in the unit of the panel: over its samples, not bins. */
struct tg_panel_stat {
	char *series;
	struct tg_description d;
};

struct tg_panel_stats {
	struct tg_panel_stat *stat;
	size_t n, cap;
};

void tg_panel_stats_release(struct tg_panel_stats *s);

/* The metric that a panel with a line for each device goes by; NULL for others and unknown ones. */
const char *tg_panels_metric_of_each(const char *name);

/* 10 s for what GPUs' drivers say, 60 s for the rest. */
#define TG_SMOOTH_USUAL (-1.0)

/* What is drawn, and where to. All is borrowed. */
struct tg_panels {
	const struct tg_recording *recording;
	struct tg_chart *chart;
	const char *list; /* "cpu,memory"; NULL: those that have something to show */
	bool node; /* the whole machine beside the job */
	size_t buckets; /* of a series at most */
	int64_t from_ns, to_ns; /* UTC */
	double cores_allowed, memory_limit_bytes; /* lines across; NaN: none */
	double cores_machine; /* another one, where more than is allowed; NaN: none */
	double smooth_s; /* window of moving averages: 0: none, or TG_SMOOTH_USUAL */
	const char *instance; /* of panels with a line for each device: this one; NULL: all */
	struct tg_panel_stats *stats; /* gets the figures of the one panel that is added; or NULL */
	bool percent; /* a second scale beside cores: 100 % is one core */
	struct tg_buf *empty; /* gets the names in `list` that have nothing to show: "gpu, net" */
};

/* Add them to the chart. 0; -EINVAL with a sentence for one that does not exist; -errno of reading.
 */
int tg_panels_add(const struct tg_panels *w, struct tg_err *err);

/* Whether all that it shows is 0. */
bool tg_panel_is_idle(const struct tg_panel *panel);

/* Whether such a list asks for the panel of that name; no list (NULL) asks for every one. */
bool tg_panels_ask_for(const char *list, const char *name);

/* The unit in which `max` bytes have one to three digits; `factor` brings bytes into it. */
const char *tg_panels_byte_unit(double max, double *factor);

#endif
