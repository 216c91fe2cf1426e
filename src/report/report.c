/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report is made of, and in which order. */
#include "report/report.h"

#include <errno.h>

#include "report/format.h"

#include "base/mem.h"

/* Decoded tables in memory: every plot reads whole columns. */
#define HELD_BYTES (UINT64_C(512) << 20)

struct tg_report_part *tg_report_add(
	struct tg_report *report, int level, const char *id, const char *title, const char *text)
{
	struct tg_report_part *p;

	TG_GROW(report->part, report->n_parts + 1, report->cap_parts);
	p = &report->part[report->n_parts++];
	*p = (struct tg_report_part){ .id = tg_xstrdup(id),
		.title = tg_xstrdup(title),
		.level = level,
		.text = text ? tg_xstrdup(text) : NULL };
	return p;
}

static void part_release(struct tg_report_part *p)
{
	free(p->id);
	free(p->title);
	free(p->text);
	free(p->code);
	if (p->has_chart)
		tg_chart_free(&p->chart);
	tg_sheet_release(&p->sheet);
}

void tg_report_release(struct tg_report *report)
{
	for (size_t i = 0; i < report->n_parts; i++)
		part_release(&report->part[i]);
	for (size_t i = 0; i < report->n_files; i++)
		free(report->file[i]);
	free(report->part);
	free(report->file);
	free(report->title);
	free(report->headline);
	*report = (struct tg_report){ 0 };
}

/* ---- one recording ---- */

static bool is_run(const struct tg_span *s)
{
	return !strcmp(s->kind, "run");
}

/* Runs, and what is below them; of a recording without runs all that is not below another one. */
static int choose_spans(struct tg_told *t)
{
	bool any_run = false;

	t->run = tg_xcalloc(t->r->n_spans + 1, sizeof(*t->run));
	t->stage = tg_xcalloc(t->r->n_spans + 1, sizeof(*t->stage));
	for (size_t i = 0; i < t->r->n_spans; i++)
		any_run |= is_run(&t->r->span[i]);
	for (size_t i = 0; i < t->r->n_spans; i++) {
		const struct tg_span *s = &t->r->span[i];

		if (any_run ? is_run(s) && !s->parent : !s->parent)
			t->run[t->n_runs++] = s;
		if (!is_run(s) || s->parent)
			t->stage[t->n_stages++] = s;
	}
	return t->n_runs ? 0 : -ENOENT;
}

static int add_up(struct tg_told *t)
{
	int rc = tg_together_of(t->r, t->run, t->n_runs, &t->sums);

	t->stage_totals = tg_xcalloc(t->n_stages + 1, sizeof(*t->stage_totals));
	for (size_t i = 0; i < t->n_stages && rc >= 0; i++)
		rc = tg_totals_of(t->r, t->stage[i], &t->stage_totals[i]);
	return rc;
}

/* "align.sh": what ran; of a notebook or an imported log what it is. */
static void name_it(struct tg_told *t)
{
	const struct tg_span *first = t->run[0];
	struct tg_buf text = TG_BUF_INIT;

	if (first->name)
		tg_plain(&text, first->name, 80);
	else
		tg_plain(&text, first->kind, 20);
	t->report->title = tg_buf_detach(&text);
	tg_fmt_headline(&text, &t->sums.totals);
	for (size_t i = 0; i < t->sums.totals.n_verdicts; i++)
		tg_buf_addf(&text, " · %s", t->sums.totals.verdict[i]);
	t->report->headline = tg_buf_detach(&text);
}

static int tell(struct tg_told *t, struct tg_err *err)
{
	int rc;

	tg_reader_hold(t->r->reader, HELD_BYTES);
	if (choose_spans(t) < 0)
		return tg_err_set(err, -ENOENT, "Nothing was recorded in %s", t->r->path);
	tg_requested_of(t->run[0], &t->asked);
	rc = add_up(t);
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", t->r->path, strerror(-rc));
	if (!t->report->title)
		name_it(t);
	tg_report_machine(t);
	tg_report_efficiency(t);
	rc = tg_report_stages(t);
	if (rc >= 0)
		rc = tg_report_plots(t, err);
	if (rc >= 0)
		rc = tg_report_processes(t);
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", t->r->path, strerror(-rc));
	tg_report_notes(t);
	return 0;
}

int tg_report_build(struct tg_report *out, struct tg_recording *const *r, size_t n,
	const struct tg_report_options *o, struct tg_err *err)
{
	int rc = 0;

	*out = (struct tg_report){ .file = tg_xcalloc(n, sizeof(*out->file)) };
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct tg_told t = { .report = out, .o = o, .r = r[i], .empty = TG_BUF_INIT };

		out->file[out->n_files++] = tg_xstrdup(r[i]->path);
		rc = tell(&t, err);
		free(t.run);
		free(t.stage);
		free(t.stage_totals);
		tg_buf_release(&t.empty);
	}
	return rc;
}
