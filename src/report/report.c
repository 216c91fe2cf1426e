/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report is made of, and in which order. */
#include "report/report.h"

#include <errno.h>

#include "report/format.h"

#include "base/mem.h"

/* Decoded tables in memory: every plot reads whole columns. */
#define HELD_BYTES  (UINT64_C(512) << 20)
#define TOLD_MAX    12 /* recordings of which all is told; of the others what they have in common */
#define NAMES_MAX   8
#define TABLE_FIRST 40 /* stages: of more the box plots come before their table */

struct tg_report_part *tg_report_add(
	struct tg_report *report, int level, const char *id, const char *title, const char *text)
{
	bool below = report->n_files > 1 && report->of;
	struct tg_buf name = TG_BUF_INIT;
	struct tg_report_part *p;

	if (below)
		tg_buf_addf(&name, "r%zu-", report->of);
	tg_buf_adds(&name, id);
	TG_GROW(report->part, report->n_parts + 1, report->cap_parts);
	p = &report->part[report->n_parts++];
	*p = (struct tg_report_part){ .id = tg_buf_detach(&name),
		.title = tg_xstrdup(title),
		.level = level + below,
		.text = text ? tg_xstrdup(text) : NULL,
		.of = report->of };
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
static void put_name(const struct tg_told *t, struct tg_buf *out)
{
	const struct tg_span *first = t->run[0];

	if (first->name)
		tg_plain(out, first->name, 80);
	else
		tg_plain(out, first->kind, 20);
}

/* "align.sh ×12, sort.sh": those of a name that follow each other are told once. */
static void put_names(const struct tg_told *t, size_t n, struct tg_buf *out)
{
	struct tg_buf name = TG_BUF_INIT, next = TG_BUF_INIT;
	size_t told = 0;

	for (size_t i = 0, same; i < n && told < NAMES_MAX; i += same, told++) {
		tg_buf_clear(&name);
		put_name(&t[i], &name);
		for (same = 1; i + same < n; same++) {
			tg_buf_clear(&next);
			put_name(&t[i + same], &next);
			if (strcmp(name.data, next.data) != 0)
				break;
		}
		tg_buf_addf(out, "%s%s", told ? ", " : "", name.data);
		if (same > 1)
			tg_buf_addf(out, " ×%zu", same);
	}
	tg_buf_release(&name);
	tg_buf_release(&next);
}

static void name_it(struct tg_told *t, size_t n)
{
	struct tg_buf text = TG_BUF_INIT;

	if (n > 1)
		tg_buf_addf(&text, "%zu recordings", n);
	else
		put_name(t, &text);
	t->report->title = tg_buf_detach(&text);
	if (n == 1)
		tg_fmt_headline(&text, &t->sums.totals);
	for (size_t i = 0; n == 1 && i < t->sums.totals.n_verdicts; i++)
		tg_buf_addf(&text, " · %s", t->sums.totals.verdict[i]);
	if (n > 1)
		put_names(t, n, &text);
	t->report->headline = tg_buf_detach(&text);
}

static int load(struct tg_told *t, struct tg_err *err)
{
	int rc;

	if (choose_spans(t) < 0)
		return tg_err_set(err, -ENOENT, "Nothing was recorded in %s", t->r->path);
	tg_requested_of(t->run[0], &t->asked);
	tg_reader_hold(t->r->reader, HELD_BYTES);
	rc = add_up(t);
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", t->r->path, strerror(-rc));
	return 0;
}

/* The part below which the others of this recording stand. */
static void add_heading(struct tg_told *t)
{
	const char *base = strrchr(t->r->path, '/');
	struct tg_buf name = TG_BUF_INIT;
	struct tg_report_part *p;

	tg_plain(&name, base ? base + 1 : t->r->path, 80);
	p = tg_report_add(t->report, 1, "all", name.data, NULL);
	tg_buf_release(&name);
	p->level = 2;
}

static int tell(struct tg_told *t, struct tg_err *err)
{
	bool alone = t->report->n_files == 1;
	int rc;

	if (!alone)
		add_heading(t);
	tg_report_machine(t);
	tg_report_efficiency(t);
	if (alone && t->n_stages > TABLE_FIRST)
		tg_report_repeats(t, 1);
	rc = tg_report_stages(t);
	if (alone && t->n_stages <= TABLE_FIRST)
		tg_report_repeats(t, 1);
	if (rc >= 0)
		rc = tg_report_plots(t, err);
	if (rc >= 0)
		rc = tg_report_processes(t);
	if (rc >= 0)
		rc = tg_report_series(t);
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", t->r->path, strerror(-rc));
	tg_report_notes(t);
	return 0;
}

static void told_release(struct tg_told *t)
{
	free(t->run);
	free(t->stage);
	free(t->stage_totals);
	tg_buf_release(&t->empty);
}

int tg_report_build(struct tg_report *out, struct tg_recording *const *r, size_t n,
	const struct tg_report_options *o, struct tg_err *err)
{
	struct tg_told *t = tg_xcalloc(n, sizeof(*t));
	int rc = 0;

	*out = (struct tg_report){ .file = tg_xcalloc(n, sizeof(*out->file)) };
	for (size_t i = 0; i < n; i++) {
		t[i] = (struct tg_told){ .report = out, .o = o, .r = r[i], .empty = TG_BUF_INIT };
		out->file[out->n_files++] = tg_xstrdup(r[i]->path);
		if (rc == 0)
			rc = load(&t[i], err);
	}
	if (rc == 0)
		name_it(t, n);
	if (rc == 0 && n > 1) {
		tg_report_overview(t, n);
		tg_report_repeats(t, n);
	}
	for (size_t i = 0; i < n && i < TOLD_MAX && rc == 0; i++) {
		out->of = i + 1;
		rc = tell(&t[i], err);
		tg_reader_hold(r[i]->reader, 0);
	}
	for (size_t i = 0; i < n; i++)
		told_release(&t[i]);
	free(t);
	return rc;
}
