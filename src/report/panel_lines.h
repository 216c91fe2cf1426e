/* SPDX-License-Identifier: BSD-3-Clause */
/* From a line of a panel, as it is planned, to series of a chart with their values. */
#ifndef TG_REPORT_PANEL_LINES_H
#define TG_REPORT_PANEL_LINES_H

#include "report/panel_plans.h"
#include "report/panels.h"

/*
 * Add what `line` shows in that time: a series, or one for each instance of its metric where the
 * plan says so, each with its moving average where one is wanted. Values are in the unit of the
 * metric times the line's factor. Returns whether something was added, or -errno of reading.
 */
int tg_panel_line_add(const struct tg_panels *w, struct tg_panel *panel,
	const struct tg_panel_plan *plan, const struct tg_panel_line *line);

/* The largest value of a series; NaN: it has none. */
double tg_series_max(const struct tg_series *s);

#endif
