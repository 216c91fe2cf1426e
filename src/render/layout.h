/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where everything of a chart goes: computed once, for SVG, PNG and (widths, domains and ticks)
 * Vega-Lite, so that the three agree. Borrows the chart; holds no drawing.
 */
#ifndef TG_RENDER_LAYOUT_H
#define TG_RENDER_LAYOUT_H

#include "render/axis.h"
#include "render/chart.h"
#include "render/font.h"

#define TG_WIDTH_DEFAULT  960
#define TG_WIDTH_MIN      240
#define TG_WIDTH_MAX      4000
#define TG_HEADLINE_LINES 3
#define TG_LANES          4 /* rows of overlapping bands; more share the last one */

/* font sizes in pixels */
#define TG_SIZE_HEADLINE 17.0
#define TG_SIZE_TITLE    13.0
#define TG_SIZE_TEXT     12.0
#define TG_SIZE_SMALL    11.0

#define TG_STRIP_HEIGHT 22
#define TG_PLOT_HEIGHT  84 /* where the chart says nothing else */
#define TG_ROW_HEIGHT   22

struct tg_panel_box {
	double title_y; /* baseline */
	double top, bottom; /* of the plot */
	double y_max; /* value at the top; the bottom is 0 */
	struct tg_ticks ticks;
};

#define TG_FLAG_HEIGHT 18 /* of the row with the names, where there are flags */
#define TG_FLAG_TICK   4 /* how far a line without a name reaches into it: no name is crossed */
#define TG_FLAG_GAP    4 /* from a line to its name */

/* A flag that is drawn: it is finite and within the chart's time. */
struct tg_flag_box {
	size_t of; /* index of the chart's flag */
	double x; /* of the line */
	double top; /* of the line, below that of the row */
	char *name; /* as it fits; NULL: left out, it would stand on another */
	double name_x; /* where the name begins, or ends when it is left of the line */
	bool left;
};

#define TG_CELLS_SHOWN 40
#define TG_CELL_HEIGHT 22
#define TG_CELL_BAR    14 /* height of what is drawn in a line */

/*
 * The cells that are listed, as ascending indices into the chart's: the longest, and those that
 * failed before all others. Returns how many; *more is "and 12 shorter ones, …" for the rest, to be
 * freed, or NULL.
 */
size_t tg_cells_choose(const struct tg_chart *c, size_t shown[TG_CELLS_SHOWN], char **more);

/* The list of cells: label, time line, and two bars (mean CPU, peak memory) with their numbers. */
struct tg_cells_box {
	size_t shown[TG_CELLS_SHOWN]; /* indices into the chart's cells, ascending */
	size_t n_shown;
	double title_y; /* baseline */
	double top; /* of the first line */
	double axis_y; /* baseline of the time labels */
	double left; /* of the labels */
	double time0, time1; /* pixels of 0 and of the end */
	double bar0[2], bar1[2]; /* pixels of the bars; equal where all is too narrow for them */
	double full[2]; /* value of a whole bar, > 0 */
	char *title[2];
	char *more; /* "and 12 shorter ones", or NULL */
	struct tg_ticks ticks;
};

#define TG_SPREAD_HEIGHT 22 /* of a line */

/* Box plots: names on the left, then columns with a scale each below them. */
struct tg_spread_box {
	size_t n_columns; /* that are drawn */
	double left, label_room;
	double title_y; /* baseline */
	double top; /* of the first line */
	double bottom; /* of the last one */
	double axis_y; /* baseline of the labels */
	double x0[TG_SPREAD_COLUMNS], x1[TG_SPREAD_COLUMNS]; /* pixels of 0 and of `full` */
	double full[TG_SPREAD_COLUMNS]; /* > 0 */
	struct tg_ticks ticks[TG_SPREAD_COLUMNS];
};

/*
 * A band as it is drawn. Neighbours too short to be seen one by one share a box, failed ones a box
 * of their own; one beside a box that would not change it is counted there.
 */
struct tg_band_box {
	double t0, t1;
	char *label; /* the band's, or "45 short ones" */
	size_t n; /* bands that it stands for */
	unsigned char lane;
	bool failed;
	bool narrow; /* of short ones */
	bool odd; /* every second one of its lane */
};

struct tg_layout {
	const struct tg_chart *chart;
	struct tg_font *font;
	double width, height;
	double left, right; /* of the plots */
	char *headline[TG_HEADLINE_LINES]; /* clean; n_headline of them */
	size_t n_headline;
	char *note; /* the chart's, and how many of its bands cannot be told apart; NULL: none */
	double headline_y, note_y; /* baselines */
	double strip_y; /* top of the first lane */
	size_t n_lanes;
	struct tg_band_box *band; /* in the chart's order; n_bands of them */
	size_t n_bands;
	size_t n_merged; /* of the chart's, that have no box of their own */
	struct tg_flag_box *flag; /* n_flags of them, in the chart's order */
	size_t n_flags;
	double flag_y; /* top of the row of their names */
	struct tg_panel_box *panel;
	double axis_y; /* baseline of the time labels */
	struct tg_cells_box cells;
	struct tg_spread_box spread;
	double table_y; /* baseline of the table's head */
	double t_end; /* > 0 even when the chart's is not */
	struct tg_ticks time;
};

void tg_layout_init(struct tg_layout *l, const struct tg_chart *c);
void tg_layout_release(struct tg_layout *l);

/* Pixels of a time, and of a value in a panel; both stay within the plot. */
double tg_layout_x(const struct tg_layout *l, double t);
double tg_layout_y(const struct tg_panel_box *box, double value);

/* Choose what the strip shows, once the plots have their width. Part of tg_layout_init(). */
void tg_layout_bands(struct tg_layout *l);
void tg_layout_bands_release(struct tg_layout *l);

/* Place the flags in a row below `y`; returns where it ends. Part of tg_layout_init(). */
double tg_layout_flags(struct tg_layout *l, double y);
void tg_layout_flags_release(struct tg_layout *l);
bool tg_flag_is_drawn(const struct tg_flag *f, double t_end);

/* Place the list of cells below `y`; returns where it ends. Part of tg_layout_init(). */
double tg_layout_cells(struct tg_layout *l, double y);
void tg_layout_cells_release(struct tg_cells_box *b);

/* Place the box plots below `y`; returns where they end. Part of tg_layout_init(). */
double tg_layout_spread(struct tg_layout *l, double y);

/* The value of a bar: 0 is mean cores, 1 is peak memory. */
double tg_cell_value(const struct tg_cell *cell, int bar);

/*
 * The table's columns in `width` pixels: where each text begins (the first and the last) or ends
 * (the three numbers between), and its room. The last has none where it is empty or all is narrow.
 */
#define TG_COLUMNS 5
void tg_layout_columns(
	const struct tg_chart *c, double width, double place[TG_COLUMNS], double room[TG_COLUMNS]);

/* Pixels of a row of a heat map, one above the other without anything between. */
double tg_heat_row_height(const struct tg_panel *p);

/* Largest finite value of a panel's series, 0 when there is none. */
double tg_panel_max(const struct tg_panel *p);

#endif
