/* SPDX-License-Identifier: BSD-3-Clause */
/* Which panels there are: what each is called, and the lines that it has. */
#ifndef TG_REPORT_PANEL_PLANS_H
#define TG_REPORT_PANEL_PLANS_H

#include <stdbool.h>
#include <stddef.h>

#include "render/chart.h"

/* With what there is to see a line is drawn: in most recordings these would say nothing. */
enum tg_line_when {
	TG_LINE_ALWAYS,
	TG_LINE_SHARED, /* PSS: it is lower than RSS somewhere */
	TG_LINE_SOME, /* it is not 0 all the time */
};

/* One line of a panel. `node` ones are drawn on demand, beside the job's. */
struct tg_panel_line {
	const char *metric;
	const char
		*name; /* in the legend; of instances behind theirs, and NULL where that says it */
	enum tg_hue hue;
	unsigned style;
	bool node;
	double factor; /* into the unit of the panel; 0: it is in that */
	enum tg_line_when when;
	const char *per; /* divided by the rate of this metric, for each of which it is a mean */
};

enum tg_panel_scaling { TG_AS_CORES, TG_AS_BYTES, TG_AS_BYTES_PER_S, TG_AS_IS };

struct tg_panel_plan {
	const char *name; /* as --panel has it */
	const char *title; /* its unit comes behind it */
	enum tg_panel_scaling scaling;
	bool each; /* a line for each instance of each metric */
	bool usual; /* drawn when no list is given and there is something to see */
	struct tg_panel_line line[5];
	const char *unit; /* of values that are shown as they are */
	double full; /* all of it, in the panel's unit: rows are shaded by it, the axis goes to it
		      */
	bool raw; /* nothing is averaged */
};

/* The table, in the order in which panels are drawn. */
const struct tg_panel_plan *tg_panel_plans(size_t *n);

/* The one whose name is these bytes, or NULL. */
const struct tg_panel_plan *tg_panel_plan_find(const char *name, size_t len);

#endif
