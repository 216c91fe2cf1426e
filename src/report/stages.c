/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of stages and when they ran. */
#include <math.h>
#include <stddef.h>

#include "report/format.h"
#include "report/panels.h"
#include "report/report.h"

#include "base/mem.h"

#define LANES_MIN    2 /* fewer are no picture */
#define ROWS_MAX     1000
#define FOLD_FROM    100 /* rows */
#define HOURS_FROM_S 360 /* of CPU time in the longest; else it is told in seconds */

enum shown_as { AS_NUMBER, AS_SECONDS, AS_BYTES, AS_PER_CENT };

/* A column: a member of the totals, or something that is made of several. */
struct field {
	const char *title, *help;
	enum shown_as as;
	size_t offset;
	double (*of)(const struct tg_totals *t);
	bool estimated; /* of the totals that may be interpolated: told by "~" */
};

static double core_hours(const struct tg_totals *t)
{
	return t->cpu_s / 3600;
}

static double core_seconds(const struct tg_totals *t)
{
	return t->cpu_s;
}

static double cores_of_allowed(const struct tg_totals *t)
{
	return 100 * t->cores_mean / t->cores_allowed;
}

/* Where a mean is all that is known there is no column for it. */
static double cores_most(const struct tg_totals *t)
{
	return t->single ? NAN : t->cores_max;
}

static double gpu_hours(const struct tg_totals *t)
{
	return t->gpus * t->wall_s / 3600;
}

static double memory_of_limit(const struct tg_totals *t)
{
	return 100 * t->mem_peak_bytes / t->memory_limit_bytes;
}

#define AT(member) offsetof(struct tg_totals, member)

static const struct field field[] = {
	{ "wall", "time from begin to end", AS_SECONDS, AT(wall_s) },
	{ "core-hours", "CPU time of the job's processes", AS_NUMBER, 0, core_hours, true },
	{ "core-seconds", "CPU time of the job's processes", AS_NUMBER, 0, core_seconds, true },
	{ "cores", "used on average", AS_NUMBER, AT(cores_mean), NULL, true },
	{ "of allowed", "of the cores that it was allowed", AS_PER_CENT, 0, cores_of_allowed,
		true },
	{ "cores, most", "used at most, between two samples", AS_NUMBER, 0, cores_most },
	{ "peak memory", "most memory at one moment: PSS where it was known, else RSS", AS_BYTES,
		AT(mem_peak_bytes) },
	{ "of limit", "of the memory that it was allowed", AS_PER_CENT, 0, memory_of_limit },
	{ "read", "fetched from storage", AS_BYTES, AT(read_bytes), NULL, true },
	{ "written", "sent to storage", AS_BYTES, AT(write_bytes), NULL, true },
	{ "read calls", "by system calls", AS_NUMBER, AT(read_ops), NULL, true },
	{ "write calls", "by system calls", AS_NUMBER, AT(write_ops), NULL, true },
	{ "NFS read", "by the whole machine, over the wire", AS_BYTES, AT(nfs_read_bytes) },
	{ "NFS written", "by the whole machine, over the wire", AS_BYTES, AT(nfs_write_bytes) },
	{ "received", "by the whole machine's network", AS_BYTES, AT(net_rx_bytes) },
	{ "sent", "by the whole machine's network", AS_BYTES, AT(net_tx_bytes) },
	{ "GPU-hours", "time, of each of the job's GPUs, busy or not", AS_NUMBER, 0, gpu_hours },
	{ "GPU use", "of the job's GPUs, on average", AS_PER_CENT, AT(gpu_util_mean_pct) },
	{ "GPU memory", "most at one moment on the job's GPUs", AS_BYTES, AT(gpu_mem_peak_bytes) },
	{ "throttled", "held back by the CPU quota", AS_SECONDS, AT(throttled_s) },
};

static double value_of(const struct field *f, const struct tg_totals *t)
{
	return f->of ? f->of(t) : *(const double *)(const void *)((const char *)t + f->offset);
}

static void put_value(
	struct tg_sheet *sheet, const struct field *f, const struct tg_totals *t, struct tg_buf *b)
{
	double v = value_of(f, t);

	if (f->estimated)
		tg_fmt_about(b, t, v);
	switch (f->as) {
	case AS_SECONDS:
		tg_fmt_seconds(b, v);
		break;
	case AS_BYTES:
		tg_fmt_bytes(b, v);
		break;
	case AS_PER_CENT:
		tg_fmt_pct(b, v, 100);
		break;
	case AS_NUMBER:
		tg_fmt_number(b, v);
		break;
	}
	tg_sheet_value(sheet, v, b);
}

/* Add the columns that say anything of any of the spans; `known` gets which. */
static void put_columns(struct tg_sheet *sheet, const struct tg_totals *const *totals, size_t n,
	bool known[TG_ARRAY_SIZE(field)])
{
	bool hours = false;

	for (size_t i = 0; i < n; i++)
		hours |= totals[i]->cpu_s >= HOURS_FROM_S;
	for (size_t k = 0; k < TG_ARRAY_SIZE(field); k++) {
		known[k] = false;
		for (size_t i = 0; i < n && !known[k]; i++)
			known[k] = value_of(&field[k], totals[i]) > 0 &&
				   field[k].of != (hours ? core_seconds : core_hours);
		if (known[k])
			tg_sheet_column(sheet, field[k].title, true, field[k].help);
	}
}

static void put_label(const struct tg_told *t, const struct tg_span *s, struct tg_buf *b)
{
	if (s->index != TG_NO_NUMBER && !strcmp(s->kind, "cell")) {
		tg_buf_addf(b, "#%lld ", (long long)s->index);
		if (!t->o->no_code)
			tg_span_title(b, s, 60);
	} else {
		tg_span_label(s, b);
	}
}

static void put_verdict(const struct tg_span *s, const struct tg_totals *t, struct tg_buf *b)
{
	if (strcmp(s->status, "ok") != 0)
		tg_plain(b, s->status, 20);
	for (size_t i = 0; i < t->n_verdicts; i++)
		if (strcmp(t->verdict[i], s->status) != 0)
			tg_buf_addf(b, "%s%s", b->len ? " · " : "", t->verdict[i]);
}

static int by_length(const void *a, const void *b, void *ctx)
{
	const struct tg_totals *of = ctx;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	if (of[i].wall_s != of[k].wall_s)
		return of[i].wall_s < of[k].wall_s ? 1 : -1;
	return (i > k) - (i < k);
}

static int by_place(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return (i > k) - (i < k);
}

/* The places of the stages that have a row: the longest, in file order. Caller frees. */
static size_t *choose_rows(const struct tg_told *t, size_t *n)
{
	size_t *row = tg_xcalloc(t->n_stages, sizeof(*row));

	for (size_t i = 0; i < t->n_stages; i++)
		row[i] = i;
	*n = TG_MIN(t->n_stages, (size_t)ROWS_MAX);
	if (*n < t->n_stages) {
		qsort_r(row, t->n_stages, sizeof(*row), by_length, t->stage_totals);
		qsort(row, *n, sizeof(*row), by_place);
	}
	return row;
}

static void put_row(const struct tg_told *t, struct tg_sheet *sheet, size_t i,
	const bool known[TG_ARRAY_SIZE(field)])
{
	const struct tg_span *s = t->stage[i];
	double began = (double)(s->begin_utc_ns - t->sums.from_ns) / 1e9;
	struct tg_buf b = TG_BUF_INIT;

	put_label(t, s, &b);
	tg_sheet_text(sheet, b.data);
	tg_buf_clear(&b);
	tg_fmt_seconds(&b, fmax(began, 0));
	tg_sheet_value(sheet, began, &b);
	for (size_t k = 0; k < TG_ARRAY_SIZE(field); k++)
		if (known[k])
			put_value(sheet, &field[k], &t->stage_totals[i], &b);
	put_verdict(s, &t->stage_totals[i], &b);
	tg_sheet_text(sheet, b.data);
	tg_buf_release(&b);
}

static void put_rows(const struct tg_told *t, struct tg_sheet *sheet, const char *what)
{
	const struct tg_totals **totals;
	bool known[TG_ARRAY_SIZE(field)];
	size_t n, *row = choose_rows(t, &n);

	totals = tg_xcalloc(n, sizeof(*totals));
	for (size_t i = 0; i < n; i++)
		totals[i] = &t->stage_totals[row[i]];
	tg_sheet_column(sheet, what, false, NULL);
	tg_sheet_column(sheet, "began", true, "after the beginning of all");
	put_columns(sheet, totals, n, known);
	tg_sheet_column(sheet, "verdict", false, "how it ended, and how the time was spent");
	for (size_t i = 0; i < n; i++)
		put_row(t, sheet, row[i], known);
	free(totals);
	free(row);
}

static void draw_times(const struct tg_told *t, struct tg_chart *c)
{
	double bytes = 0, factor;
	struct tg_buf label = TG_BUF_INIT;

	*c = (struct tg_chart){ .t_end = (double)(t->sums.to_ns - t->sums.from_ns) / 1e9,
		.x_label = tg_xstrdup("since it began") };
	for (size_t i = 0; i < t->n_stages; i++)
		bytes = fmax(bytes, t->stage_totals[i].mem_peak_bytes);
	c->memory_unit = tg_xstrdup(tg_panels_byte_unit(bytes, &factor));
	if (!isnan(t->sums.totals.cores_allowed))
		c->cores_full = t->sums.totals.cores_allowed;
	for (size_t i = 0; i < t->n_stages; i++) {
		const struct tg_span *s = t->stage[i];

		tg_buf_clear(&label);
		tg_span_label(s, &label);
		tg_chart_cell(c, label.data, (double)(s->begin_utc_ns - t->sums.from_ns) / 1e9,
			(double)(s->end_utc_ns - t->sums.from_ns) / 1e9,
			t->stage_totals[i].cores_mean, t->stage_totals[i].mem_peak_bytes * factor,
			tg_span_failed(s));
	}
	tg_buf_release(&label);
}

int tg_report_stages(struct tg_told *t)
{
	static const struct {
		const char *kind, *what, *title, *times;
	} word[] = {
		{ "cell", "cell", "Cells", "When cells ran" },
		{ "task", "task", "Tasks", "When tasks ran" },
		{ "", "stage", "Stages", "When stages ran" },
	};
	struct tg_report_part *p;
	size_t k = 0;

	if (!t->n_stages)
		return 0;
	while (word[k].kind[0] && strcmp(t->stage[0]->kind, word[k].kind) != 0)
		k++;
	p = tg_report_add(t->report, 2, "stages", word[k].title, NULL);
	put_rows(t, &p->sheet, word[k].what);
	p->folded = t->n_stages > FOLD_FROM;
	if (t->n_stages > ROWS_MAX) {
		struct tg_buf text = TG_BUF_INIT;

		tg_buf_addf(&text, "The %d longest of %zu.", ROWS_MAX, t->n_stages);
		p->text = tg_buf_detach(&text);
	}
	p->code = tg_xstrdup("run.spans");
	if (t->n_stages < LANES_MIN)
		return 0;
	p = tg_report_add(t->report, 3, "stage-times", word[k].times, NULL);
	p->has_chart = true;
	draw_times(t, &p->chart);
	return 0;
}

void tg_report_overview(struct tg_told *t, size_t n)
{
	struct tg_report_part *p = tg_report_add(t->report, 2, "recordings", "Recordings", NULL);
	const struct tg_totals **totals = tg_xcalloc(n, sizeof(*totals));
	bool known[TG_ARRAY_SIZE(field)];
	struct tg_buf b = TG_BUF_INIT;

	for (size_t i = 0; i < n; i++)
		totals[i] = &t[i].sums.totals;
	tg_sheet_column(&p->sheet, "recording", false, NULL);
	put_columns(&p->sheet, totals, n, known);
	tg_sheet_column(&p->sheet, "verdict", false, NULL);
	for (size_t i = 0; i < n; i++) {
		const char *base = strrchr(t[i].r->path, '/');

		tg_sheet_text(&p->sheet, base ? base + 1 : t[i].r->path);
		for (size_t k = 0; k < TG_ARRAY_SIZE(field); k++)
			if (known[k])
				put_value(&p->sheet, &field[k], totals[i], &b);
		put_verdict(t[i].run[t[i].n_runs - 1], totals[i], &b);
		tg_sheet_text(&p->sheet, b.data);
		tg_buf_clear(&b);
	}
	tg_buf_release(&b);
	free(totals);
}
