/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as a notebook (nbformat 4.5): filled in, and each cell of code can be run again, where
 * it reads the recording anew. What has no such code is text.
 */
#include <math.h>

#include "base/base64.h"
#include "base/json.h"
#include "report/report.h"

#include "base/mem.h"

#define PNG_SCALE 1.5

struct notebook {
	struct tg_jw w;
	size_t n_cells;
	size_t count; /* of executions */
};

static void begin_cell(struct notebook *nb, const char *type)
{
	char id[32];

	tg_jw_begin_object(&nb->w);
	tg_jw_kstr(&nb->w, "cell_type", type);
	snprintf(id, sizeof(id), "cell-%zu", nb->n_cells++);
	tg_jw_kstr(&nb->w, "id", id);
}

static void empty_object(struct tg_jw *w, const char *key)
{
	tg_jw_key(w, key);
	tg_jw_begin_object(w);
	tg_jw_end_object(w);
}

/* Names of anybody in Markdown: neither tags nor links nor emphasis. */
static void put_escaped(struct tg_buf *out, const char *s)
{
	struct tg_buf plain = TG_BUF_INIT;

	tg_plain(&plain, s, 4096);
	for (const char *p = plain.data; *p; p++) {
		if (strchr("\\`*_{}[]<>()#|$!~&", *p))
			tg_buf_addc(out, '\\');
		tg_buf_addc(out, *p);
	}
	tg_buf_release(&plain);
}

static void put_markdown(struct notebook *nb, const struct tg_buf *text, const struct tg_buf *png)
{
	begin_cell(nb, "markdown");
	empty_object(&nb->w, "metadata");
	tg_jw_kstr(&nb->w, "source", text->data);
	if (png && png->len) {
		tg_jw_key(&nb->w, "attachments");
		tg_jw_begin_object(&nb->w);
		tg_jw_key(&nb->w, "plot.png");
		tg_jw_begin_object(&nb->w);
		tg_jw_kstr(&nb->w, "image/png", png->data);
		tg_jw_end_object(&nb->w);
		tg_jw_end_object(&nb->w);
	}
	tg_jw_end_object(&nb->w);
}

static void put_sheet(struct tg_buf *out, const struct tg_sheet *s)
{
	tg_buf_adds(out, "\n\n|");
	for (size_t k = 0; k < s->n_columns; k++) {
		tg_buf_addc(out, ' ');
		put_escaped(out, s->column[k].title);
		tg_buf_adds(out, " |");
	}
	tg_buf_adds(out, "\n|");
	for (size_t k = 0; k < s->n_columns; k++)
		tg_buf_adds(out, s->column[k].number ? " --: |" : " --- |");
	for (size_t i = 0; i < tg_sheet_rows(s); i++) {
		tg_buf_adds(out, "\n|");
		for (size_t k = 0; k < s->n_columns; k++) {
			tg_buf_addc(out, ' ');
			put_escaped(out, s->cell[i * s->n_columns + k].text);
			tg_buf_adds(out, " |");
		}
	}
}

static void draw(const struct tg_chart *c, struct tg_buf *base64)
{
	struct tg_buf png = TG_BUF_INIT;

	/* what is too large for a picture is left to who runs the cell */
	if (tg_chart_png(c, PNG_SCALE, &png, NULL) == 0)
		tg_base64(base64, png.data, png.len);
	tg_buf_release(&png);
}

/* What a part says without being run: of one without code all of it. */
static void put_words(struct notebook *nb, const struct tg_report_part *p)
{
	struct tg_buf text = TG_BUF_INIT, png = TG_BUF_INIT;

	for (int i = 0; i < p->level; i++)
		tg_buf_addc(&text, '#');
	tg_buf_addc(&text, ' ');
	put_escaped(&text, p->title);
	if (p->text) {
		tg_buf_adds(&text, "\n\n");
		put_escaped(&text, p->text);
	}
	if (p->has_chart && !p->code) {
		draw(&p->chart, &png);
		tg_buf_adds(&text, png.len ? "\n\n![](attachment:plot.png)" : "");
	}
	if (p->sheet.n_columns && (p->has_chart || !p->code))
		put_sheet(&text, &p->sheet);
	put_markdown(nb, &text, &png);
	tg_buf_release(&text);
	tg_buf_release(&png);
}

static void begin_output(struct notebook *nb)
{
	tg_jw_begin_object(&nb->w);
	tg_jw_kstr(&nb->w, "output_type", "execute_result");
	tg_jw_kint(&nb->w, "execution_count", (int64_t)nb->count);
	empty_object(&nb->w, "metadata");
	tg_jw_key(&nb->w, "data");
	tg_jw_begin_object(&nb->w);
}

static void put_result(struct notebook *nb, const struct tg_report_part *p)
{
	struct tg_buf text = TG_BUF_INIT, png = TG_BUF_INIT;

	begin_output(nb);
	if (p->has_chart) {
		draw(&p->chart, &png);
		tg_chart_text(&p->chart, &text);
		if (png.len)
			tg_jw_kstr(&nb->w, "image/png", png.data);
		tg_jw_kstr(&nb->w, "text/plain", text.data);
	} else {
		put_sheet(&text, &p->sheet);
		tg_jw_kstr(&nb->w, "text/markdown", text.data);
		tg_jw_kstr(&nb->w, "text/plain", p->title);
	}
	tg_jw_end_object(&nb->w);
	tg_jw_end_object(&nb->w);
	tg_buf_release(&text);
	tg_buf_release(&png);
}

static void put_code(struct notebook *nb, const char *source, const struct tg_report_part *p)
{
	begin_cell(nb, "code");
	tg_jw_kint(&nb->w, "execution_count", (int64_t)++nb->count);
	empty_object(&nb->w, "metadata");
	tg_jw_kstr(&nb->w, "source", source);
	tg_jw_key(&nb->w, "outputs");
	tg_jw_begin_array(&nb->w);
	if (p)
		put_result(nb, p);
	tg_jw_end_array(&nb->w);
	tg_jw_end_object(&nb->w);
}

/* The recording as Python's variable `run`. */
static void put_open(struct notebook *nb, const char *file)
{
	struct tg_buf source = TG_BUF_INIT;

	tg_buf_adds(&source, "import tachograph\n\nrun = tachograph.open(");
	tg_json_quote(&source, file, strlen(file));
	tg_buf_addc(&source, ')');
	put_code(nb, source.data, NULL);
	tg_buf_release(&source);
}

static void put_title(struct notebook *nb, const struct tg_report *report)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_adds(&text, "# ");
	put_escaped(&text, report->title);
	tg_buf_adds(&text, "\n\n");
	put_escaped(&text, report->headline);
	put_markdown(nb, &text, NULL);
	tg_buf_release(&text);
}

static void put_metadata(struct tg_jw *w)
{
	tg_jw_key(w, "metadata");
	tg_jw_begin_object(w);
	tg_jw_key(w, "kernelspec");
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "name", "python3");
	tg_jw_kstr(w, "display_name", "Python 3");
	tg_jw_kstr(w, "language", "python");
	tg_jw_end_object(w);
	tg_jw_key(w, "language_info");
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "name", "python");
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_jw_kint(w, "nbformat", 4);
	tg_jw_kint(w, "nbformat_minor", 5);
}

void tg_report_notebook(const struct tg_report *report, const char *const *file, struct tg_buf *out)
{
	struct notebook nb = { .n_cells = 0 };
	size_t told = 0;

	tg_jw_init(&nb.w, out);
	tg_jw_begin_object(&nb.w);
	tg_jw_key(&nb.w, "cells");
	tg_jw_begin_array(&nb.w);
	put_title(&nb, report);
	for (size_t i = 0; i < report->n_parts; i++) {
		const struct tg_report_part *p = &report->part[i];

		if (p->of && p->of != told) {
			told = p->of;
			put_open(&nb, file[told - 1]);
		}
		put_words(&nb, p);
		if (p->code)
			put_code(&nb, p->code, p);
	}
	tg_jw_end_array(&nb.w);
	put_metadata(&nb.w);
	tg_jw_end_object(&nb.w);
	tg_buf_addc(out, '\n');
}
