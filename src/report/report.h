/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report: what recordings tell, as parts in the order in which they are read. It is built once;
 * html.c and notebook.c write it, and know nothing of recordings.
 */
#ifndef TG_REPORT_REPORT_H
#define TG_REPORT_REPORT_H

#include "analyze/recording.h"
#include "analyze/requested.h"
#include "analyze/together.h"
#include "base/err.h"
#include "render/chart.h"
#include "report/sheet.h"

struct tg_report_part {
	char *id; /* letters, digits and dashes, unique in the report */
	char *title; /* of a section, or of what stands below one */
	int level; /* 2: a section; 3: below the one before */
	bool folded; /* long, and seldom of interest: shown when asked for */
	char *text; /* one paragraph before the rest, or NULL */
	bool has_chart;
	struct tg_chart chart;
	struct tg_sheet sheet; /* without columns: none */
	size_t of; /* number of the recording that it is of, from 1; 0: of all */
	char *code; /* Python that shows the same from the variable `run`, or NULL */
};

struct tg_report {
	char *title; /* what ran */
	char *headline; /* what happened, in one line */
	char **file; /* paths of the recordings */
	size_t n_files;
	struct tg_report_part *part;
	size_t n_parts, cap_parts;
	size_t of; /* the recording that is told now; where there are several, below a part of its
		      own */
};

struct tg_report_options {
	double smooth_s; /* window of moving averages; 0: none; TG_SMOOTH_USUAL */
	bool no_code; /* no source of cells, nor names that may be its first line */
	bool no_args; /* no command lines */
};

/* Fill *out, which the caller releases in any case. `n` is at least 1. 0 or -errno, with a
 * sentence. */
int tg_report_build(struct tg_report *out, struct tg_recording *const *r, size_t n,
	const struct tg_report_options *o, struct tg_err *err);
void tg_report_release(struct tg_report *report);

/* Append one self-contained page. */
void tg_report_html(const struct tg_report *report, struct tg_buf *out);

/*
 * Append a notebook that is filled in and can be run again: then it reads `file`, which names each
 * recording as seen from the notebook's folder.
 */
void tg_report_notebook(
	const struct tg_report *report, const char *const *file, struct tg_buf *out);

/* ---- for the parts of this folder ---- */

/* What of one recording is told: all that ran in it. */
struct tg_told {
	struct tg_report *report;
	const struct tg_report_options *o;
	struct tg_recording *r;
	const struct tg_span **run; /* at least one */
	size_t n_runs;
	const struct tg_span **stage; /* cells, stages, tasks: what is below; in file order */
	size_t n_stages;
	struct tg_totals *stage_totals;
	struct tg_together sums; /* of the runs */
	struct tg_requested asked; /* of the first run */
	struct tg_buf empty; /* panels in which nothing happened: "net, nfs" */
};

/* A new part at the end; borrowed until the next one. */
struct tg_report_part *tg_report_add(
	struct tg_report *report, int level, const char *id, const char *title, const char *text);

/* Each adds its parts, or nothing when there is nothing to tell. 0 or -errno of reading. */
void tg_report_overview(struct tg_told *t, size_t n);
void tg_report_machine(struct tg_told *t);
void tg_report_efficiency(struct tg_told *t);
int tg_report_stages(struct tg_told *t);
void tg_report_repeats(struct tg_told *t, size_t n); /* of one recording, or over all */
int tg_report_plots(struct tg_told *t, struct tg_err *err);
int tg_report_processes(struct tg_told *t);
int tg_report_series(struct tg_told *t);
void tg_report_notes(struct tg_told *t);

#endif
