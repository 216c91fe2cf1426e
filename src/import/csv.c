/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "import/civil.h"
#include "import/matched.h"

#include "base/mem.h"

#define PIECE 65536 /* bytes of a write */

int tg_csv_open(struct tg_csv *csv, const char *folder, const char *name, struct tg_err *err)
{
	struct tg_buf path = TG_BUF_INIT;
	int r;

	tg_buf_addf(&path, "%s/%s", folder, name);
	*csv = (struct tg_csv){ .text = TG_BUF_INIT };
	csv->path = tg_buf_detach(&path);
	csv->fd = open(csv->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (csv->fd >= 0)
		return 0;
	r = tg_err_set(err, -errno, "cannot write %.150s: %s", csv->path, strerror(errno));
	free(csv->path);
	return r;
}

static void flush(struct tg_csv *csv)
{
	if (!csv->error)
		csv->error = tg_file_write_all(csv->fd, csv->text.data, csv->text.len);
	tg_buf_clear(&csv->text);
}

int tg_csv_close(struct tg_csv *csv, struct tg_err *err)
{
	int r;

	flush(csv);
	if (close(csv->fd) < 0 && !csv->error)
		csv->error = -errno;
	r = csv->error < 0 ? tg_err_set(err, csv->error, "cannot write %.150s: %s", csv->path,
				     strerror(-csv->error))
			   : 0;
	tg_buf_release(&csv->text);
	free(csv->path);
	return r;
}

void tg_csv_value(struct tg_csv *csv, double v, int decimals)
{
	if (isnan(v))
		tg_buf_addc(&csv->text, ',');
	else
		tg_buf_addf(&csv->text, ",%.*f", decimals, v);
}

void tg_csv_time(struct tg_csv *csv, const struct tg_readings *g, const struct tg_log_tick *tick)
{
	if (g->times == TG_NUMBERED)
		tg_buf_addf(&csv->text, "%lld", (long long)(tick->civil_ns / TG_NS_PER_S));
	else
		tg_civil_text(&csv->text, tick->civil_ns, g->undated);
}

void tg_csv_text(struct tg_csv *csv, const char *text)
{
	tg_buf_addc(&csv->text, ',');
	if (!strpbrk(text, ",\"\r\n")) {
		tg_buf_adds(&csv->text, text);
		return;
	}
	tg_buf_addc(&csv->text, '"');
	for (; *text; text++) {
		if (*text == '"')
			tg_buf_addc(&csv->text, '"');
		tg_buf_addc(&csv->text, *text);
	}
	tg_buf_addc(&csv->text, '"');
}

void tg_csv_end_line(struct tg_csv *csv)
{
	tg_buf_addc(&csv->text, '\n');
	if (csv->text.len >= PIECE)
		flush(csv);
}

/* ---- grids ---- */

static void grid_head(
	struct tg_csv *csv, const struct tg_csv_kind *kind, const struct tg_log_layout *layout)
{
	tg_buf_adds(&csv->text, kind->head);
	for (size_t c = 0; c < layout->n_columns; c++)
		if (layout->column[c].label)
			tg_buf_addf(&csv->text, ",%s", layout->column[c].label);
	tg_csv_end_line(csv);
}

static void grid_rows(struct tg_csv *csv, const struct tg_csv_kind *kind,
	const struct tg_log_layout *layout, const struct tg_walk *w, int64_t begin_ns)
{
	const struct tg_log_tick *tick = &w->grid->tick[w->tick];

	for (size_t i = 0; i < w->n; i++) {
		tg_csv_time(csv, w->grid, tick);
		if (kind->elapsed) {
			tg_buf_addc(&csv->text, ',');
			if (w->grid->times != TG_NUMBERED)
				tg_elapsed_text(&csv->text, tick->utc_ns - begin_ns);
		}
		if (kind->item)
			tg_csv_text(csv, w->grid->item[w->row[i].item].name);
		for (size_t c = 0; c < layout->n_columns; c++)
			if (layout->column[c].label)
				tg_csv_value(csv, w->row[i].value[c], layout->column[c].decimals);
		tg_csv_end_line(csv);
	}
}

int tg_csv_grid(const struct tg_import *im, const struct tg_log_format *f, const char *folder,
	struct tg_err *err)
{
	const struct tg_csv_kind *kind = &f->csv_kind;
	size_t first, n = tg_import_of_tool(im, f->tool, &first);
	int64_t begin = TG_UNKNOWN;
	struct tg_csv csv;
	int r = tg_csv_open(&csv, folder, kind->name, err);

	if (r < 0)
		return r;
	for (size_t i = first; i < first + n; i++) {
		const struct tg_log_part *part = &im->log[i]->part[0];
		struct tg_walk w;

		if (i == first)
			grid_head(&csv, kind, part->layout);
		tg_walk_begin(&w, &part->grid);
		while (tg_walk_next(&w)) {
			if (begin == TG_UNKNOWN)
				begin = part->grid.tick[0].utc_ns;
			grid_rows(&csv, kind, part->layout, &w, begin);
		}
		tg_walk_end(&w);
	}
	return tg_csv_close(&csv, err);
}

/* ---- processes ---- */

struct top {
	const struct tg_import *im;
	struct tg_csv total, process;
};

static void add_time(struct tg_csv *csv, const struct tg_matched_tick *t)
{
	tg_csv_time(csv, &t->log->processes.grid, t->tick);
	tg_buf_addf(&csv->text, ",%.9g", (double)t->elapsed_ns / 1e9);
}

static void add_process(
	struct top *top, const struct tg_matched_tick *t, const struct tg_walk_row *row)
{
	struct tg_csv *csv = &top->process;
	const double *v = row->value;

	add_time(csv, t);
	tg_buf_addf(&csv->text, ",%s,%s", t->log->processes.grid.item[row->item].name,
		top->im->roles.role[(size_t)v[TG_P_ROLE]].name);
	tg_csv_value(csv, v[TG_P_VIRT] / 1024, 3);
	tg_csv_value(csv, v[TG_P_RES] / 1024, 3);
	tg_csv_value(csv, v[TG_P_SHR] / 1024, 3);
	tg_csv_value(csv, v[TG_P_CPU_PCT], 1);
	tg_csv_value(csv, v[TG_P_MEM_PCT], 1);
	tg_csv_end_line(csv);
}

static void add_top(void *ctx, const struct tg_matched_tick *t)
{
	struct top *top = ctx;

	add_time(&top->total, t);
	tg_buf_addf(&top->total.text, ",%u", t->sum.n);
	tg_csv_value(&top->total, t->sum.res_kib / 1024, 3);
	tg_csv_value(&top->total, t->sum.virt_kib / 1024, 3);
	tg_csv_value(&top->total, t->sum.cpu_pct, 1);
	tg_csv_value(&top->total, t->sum.mem_pct, 1);
	tg_csv_end_line(&top->total);
	for (size_t i = 0; i < t->walk->n; i++)
		if (tg_matched_counts(&t->walk->row[i]))
			add_process(top, t, &t->walk->row[i]);
}

int tg_csv_top(const struct tg_import *im, const struct tg_log_format *f, const char *folder,
	struct tg_err *err)
{
	struct top top = { .im = im };
	char name[64];
	int r, r2;

	snprintf(name, sizeof(name), "%s-total.csv", f->tool);
	r = tg_csv_open(&top.total, folder, name, err);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "%s-proc.csv", f->tool);
	r = tg_csv_open(&top.process, folder, name, err);
	if (r < 0) {
		tg_csv_close(&top.total, NULL);
		return r;
	}
	tg_buf_adds(&top.total.text, "time,elapsed_s,nproc,res_mib,virt_mib,cpu_pct,mem_pct");
	tg_csv_end_line(&top.total);
	tg_buf_adds(&top.process.text,
		"time,elapsed_s,pid,role,virt_mib,res_mib,shr_mib,cpu_pct,mem_pct");
	tg_csv_end_line(&top.process);
	tg_matched_each(im, f->tool, add_top, &top);
	r = tg_csv_close(&top.total, err);
	r2 = tg_csv_close(&top.process, r < 0 ? NULL : err);
	return r < 0 ? r : r2;
}
