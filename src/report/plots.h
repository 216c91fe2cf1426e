/* SPDX-License-Identifier: BSD-3-Clause */
/* What all plots of a report over time have in common, so that they stand in line. */
#ifndef TG_REPORT_PLOTS_H
#define TG_REPORT_PLOTS_H

#include "render/chart.h"
#include "report/report.h"

/* A chart of the whole time without panels: sizes, time axis, stages as bands, marks as flags. */
void tg_plot_frame(const struct tg_told *t, struct tg_chart *c);

#endif
