/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One picture, described without saying how it is drawn. The three writers (svg.c, vega.c, png.c)
 * draw the same values from it; a test compares them. Numbers are in the axis' unit already
 * (cores, GB, MB/s), times in seconds from the chart's start.
 */
#ifndef TG_RENDER_CHART_H
#define TG_RENDER_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define TG_SPREAD_COLUMNS 4

/* What a series is: the colour follows from it, the same in each chart. */
enum tg_hue {
	TG_HUE_CPU,
	TG_HUE_MEMORY,
	TG_HUE_READ,
	TG_HUE_WRITE,
	TG_HUE_RECEIVE,
	TG_HUE_SEND,
	TG_HUE_GPU,
	TG_HUE_OTHER,
};

enum tg_series_style {
	/* Min to max as a band behind the mean line. Without it the band is fainter, never gone:
	 * a spike must not be lost. */
	TG_STYLE_BAND = 1 << 0,
	TG_STYLE_AREA = 1 << 1, /* filled to zero */
	TG_STYLE_DASHED = 1 << 2,
	TG_STYLE_FAINT = 1 << 3, /* context in thin grey, mean only: the node beside the job */
	TG_STYLE_RAW = 1 << 4, /* fainter, mean only: what another series is the average of */
};

/*
 * One pixel column's worth of samples. A bucket without samples is a gap: NaN in all three.
 * Buckets of a series are ascending in time and do not overlap; any number of them may be given,
 * the writers make fewer where pixels are fewer.
 */
struct tg_bucket {
	double t0, t1; /* the time that it stands for */
	double min, max, mean;
};

struct tg_series {
	char *name; /* "mean", "RSS", "read" */
	enum tg_hue hue;
	unsigned style; /* enum tg_series_style */
	struct tg_bucket *bucket;
	size_t n_buckets;
};

/* A horizontal line: "32 allowed", "limit 72 GB". */
struct tg_limit {
	char *label;
	double value;
};

struct tg_panel {
	char *title; /* "CPU · cores busy" */
	char *unit; /* "cores", "GB", "MB/s" */
	struct tg_series *series;
	size_t n_series;
	struct tg_limit *limit;
	size_t n_limits;
	double y_max; /* 0: from the data and the limits near it */
	bool heat; /* each series is a row, the fuller the nearer its mean is to y_max */
	double second_factor; /* a scale on the right: value * this in second_unit; 0: none */
	char *second_unit;
	bool mean_only; /* too few samples for a maximum: none is named */
};

/* An interval over all panels: a cell or a stage. */
struct tg_band {
	char *label; /* "#13 21.5 s" */
	double t0, t1;
	bool failed; /* ended by an error or a death */
};

/* A named moment: a line through all panels. */
struct tg_flag {
	char *name;
	double t;
};

/*
 * A line of the list of cells: where it was on the time line (coloured by CPU), and two bars. With
 * a list and no panels a chart is the overview of a notebook or a pipeline.
 */
struct tg_cell {
	char *label; /* "#5 features" */
	double t0, t1;
	double cores; /* mean; NaN: unknown */
	double memory; /* peak, in the list's unit; NaN: unknown */
	bool failed;
};

/* How the values of one name are spread: a box plot. */
struct tg_quartiles {
	size_t n; /* of values; 0: nothing is known, and nothing drawn */
	double min, q25, q50, q75, max;
};

/* A column of box plots above one scale from 0 on: one for each of the chart's names. */
struct tg_spread_column {
	char *title; /* "wall" */
	char *unit; /* "GB"; NULL: seconds, labelled as times are */
	enum tg_hue hue;
	double mark; /* a line across all: what was requested; 0: none */
	struct tg_quartiles *of; /* n_names of them */
};

struct tg_row {
	char *cell[5]; /* resource, mean, max, total, note; NULL: empty */
};

struct tg_chart {
	char *headline; /* what happened, in one line */
	char *note; /* a smaller second line, or NULL */
	double t_end; /* the x axis is [0, t_end] seconds */
	char *x_label; /* "since the first cell"; the ticks carry their unit */
	struct tg_panel *panel;
	size_t n_panels;
	struct tg_band *band;
	size_t n_bands;
	struct tg_flag *flag; /* in order of time */
	size_t n_flags;
	struct tg_cell *cell; /* the longest TG_CELLS_SHOWN are drawn, the rest is counted */
	size_t n_cells;
	double cores_full, memory_full; /* of a full bar, as its title says; 0: the largest */
	char *memory_unit; /* "GB" */
	/*
	 * Box plots, a line a name; all names come before the first column. SVG, PNG and text have
	 * them; no view that is made with Vega-Lite does.
	 */
	char **name;
	size_t n_names;
	struct tg_spread_column *column; /* TG_SPREAD_COLUMNS at most are drawn */
	size_t n_columns;
	struct tg_row *row; /* the table below; none in a notebook's live view */
	size_t n_rows;
	int width; /* pixels; 0: 960 */
	int plot_height; /* of each panel, pixels; 0: 84 */
	int gutter; /* least pixels left of the plots, so that charts stand in line */
	int margin; /* least pixels right of them */
};

/*
 * Everything in it was allocated with base/mem.h and is freed here; the struct itself, which is
 * the caller's, is left empty.
 */
void tg_chart_free(struct tg_chart *c);

/* Add an empty element and return it (valid until the next add to the same list). */
struct tg_panel *tg_chart_panel(struct tg_chart *c, const char *title, const char *unit);
struct tg_series *tg_panel_series(
	struct tg_panel *p, const char *name, enum tg_hue hue, unsigned style);
void tg_panel_limit(struct tg_panel *p, const char *label, double value);
void tg_chart_band(struct tg_chart *c, const char *label, double t0, double t1, bool failed);
void tg_chart_flag(struct tg_chart *c, const char *name, double t);
void tg_chart_cell(struct tg_chart *c, const char *label, double t0, double t1, double cores,
	double memory, bool failed);
void tg_chart_name(struct tg_chart *c, const char *name);
/* A unit of NULL is seconds. The column's boxes are empty; they are borrowed from the chart. */
struct tg_spread_column *tg_chart_spread(
	struct tg_chart *c, const char *title, const char *unit, enum tg_hue hue);
void tg_chart_row(struct tg_chart *c, const char *const cell[5]); /* copies; NULL: empty */

/*
 * The writers append to `out`. `prefix` makes the ids in a page unique ("tg1"); letters and digits.
 * PNG is a palette image of `scale` pixels a unit (1 or 2), by the font built into the executable.
 * Vega-Lite is version 5 with features of 5.6 only, transparent, explicit sort and domains.
 */
void tg_chart_svg(const struct tg_chart *c, const char *prefix, struct tg_buf *out);
void tg_chart_vega(const struct tg_chart *c, struct tg_buf *out);
int tg_chart_png(const struct tg_chart *c, double scale, struct tg_buf *out, struct tg_err *err);

/*
 * Append a JSON object for a script that reads values from the SVG: "end" (seconds), "left" and
 * "right" (pixels of 0 and of the end), "panels": "unit", "top", "bottom", "heat", "series":
 * "name", "hue", "t0", "t1" (seconds, evenly divided), "mean" and, where it is another, "max"; null
 * is unknown.
 */
void tg_chart_data(const struct tg_chart *c, struct tg_buf *out);

/* The table and headline as plain text, for terminals and text/plain. */
void tg_chart_text(const struct tg_chart *c, struct tg_buf *out);

#endif
