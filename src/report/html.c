/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as one page: nothing is fetched from anywhere, everything can be read without scripts.
 * Whatever comes from outside is escaped here, whoever made the report.
 */
#include <math.h>

#include "base/xml.h"
#include "report/report.h"

#include "base/mem.h"

#define TEXT_MAX  8192 /* characters of a cell */
#define WIDE_FROM 60 /* longer cells are wrapped */

extern const char tg_page_css[], tg_page_css_end[], tg_page_js[], tg_page_js_end[];

static void put_text(struct tg_buf *out, const char *s)
{
	struct tg_buf plain = TG_BUF_INIT;

	tg_plain(&plain, s ? s : "", TEXT_MAX);
	tg_xml_text(out, plain.data);
	tg_buf_release(&plain);
}

/* JSON within <script>: a "<" in a name must not end it. */
static void put_json(struct tg_buf *out, const struct tg_buf *json)
{
	for (size_t i = 0; i < json->len; i++)
		if (json->data[i] == '<')
			tg_buf_adds(out, "\\u003c");
		else
			tg_buf_addc(out, json->data[i]);
}

static void put_head_cell(struct tg_buf *out, const struct tg_sheet_column *c)
{
	tg_buf_adds(out, c->number ? "<th class=\"n\" scope=\"col\"" : "<th scope=\"col\"");
	if (c->help) {
		tg_buf_adds(out, " title=\"");
		put_text(out, c->help);
		tg_buf_addc(out, '"');
	}
	tg_buf_addc(out, '>');
	put_text(out, c->title);
	tg_buf_adds(out, "</th>");
}

static void put_cell(struct tg_buf *out, const struct tg_sheet_column *c,
	const struct tg_sheet_cell *cell, bool names)
{
	tg_buf_adds(out, names ? "<th scope=\"row\"" : "<td");
	if (c->number) {
		tg_buf_adds(out, " class=\"n\"");
		if (!isnan(cell->value))
			tg_buf_addf(out, " data-v=\"%.12g\"", cell->value);
	} else if (strlen(cell->text) > WIDE_FROM) {
		tg_buf_adds(out, " class=\"w\"");
	}
	tg_buf_addc(out, '>');
	put_text(out, cell->text);
	tg_buf_adds(out, names ? "</th>" : "</td>");
}

static void put_sheet(struct tg_buf *out, const struct tg_sheet *s)
{
	bool titles = false;

	for (size_t k = 0; k < s->n_columns; k++)
		titles |= s->column[k].title[0] != '\0';
	tg_buf_addf(out, "<div class=\"wide\"><table class=\"%s\">\n", s->keys ? "keys" : "sort");
	if (titles) {
		tg_buf_adds(out, "<thead><tr>");
		for (size_t k = 0; k < s->n_columns; k++)
			put_head_cell(out, &s->column[k]);
		tg_buf_adds(out, "</tr></thead>\n");
	}
	tg_buf_adds(out, "<tbody>\n");
	for (size_t i = 0; i < tg_sheet_rows(s); i++) {
		tg_buf_adds(out, "<tr>");
		for (size_t k = 0; k < s->n_columns; k++)
			put_cell(out, &s->column[k], &s->cell[i * s->n_columns + k],
				s->keys && k == 0);
		tg_buf_adds(out, "</tr>\n");
	}
	tg_buf_adds(out, "</tbody></table></div>\n");
}

static void put_chart(
	struct tg_buf *out, const struct tg_chart *c, const char *id, const char *name)
{
	struct tg_buf data = TG_BUF_INIT;

	tg_buf_adds(out, "<figure aria-label=\"");
	put_text(out, name);
	tg_buf_adds(out, "\">\n");
	tg_chart_svg(c, id, out);
	tg_chart_data(c, &data);
	tg_buf_adds(out, "<script type=\"application/json\">");
	put_json(out, &data);
	tg_buf_adds(out, "</script>\n</figure>\n");
	tg_buf_release(&data);
}

static void put_part(struct tg_buf *out, const struct tg_report_part *p)
{
	tg_buf_addf(out, "<h%d id=\"%s\">", p->level, p->id);
	put_text(out, p->title);
	tg_buf_addf(out, "</h%d>\n", p->level);
	if (p->text) {
		tg_buf_adds(out, "<p>");
		put_text(out, p->text);
		tg_buf_adds(out, "</p>\n");
	}
	if (p->folded)
		tg_buf_addf(
			out, "<details><summary>%zu rows</summary>\n", tg_sheet_rows(&p->sheet));
	if (p->has_chart) {
		struct tg_buf id = TG_BUF_INIT;

		tg_buf_addf(&id, "c-%s", p->id);
		put_chart(out, &p->chart, id.data, p->title);
		tg_buf_release(&id);
	}
	if (p->sheet.n_columns)
		put_sheet(out, &p->sheet);
	if (p->folded)
		tg_buf_adds(out, "</details>\n");
}

static void put_nav(struct tg_buf *out, const struct tg_report *report)
{
	tg_buf_adds(out, "<nav><ul>\n");
	for (size_t i = 0; i < report->n_parts; i++) {
		const struct tg_report_part *p = &report->part[i];

		if (p->level != 2)
			continue;
		tg_buf_addf(out, "<li><a href=\"#%s\">", p->id);
		put_text(out, p->title);
		tg_buf_adds(out, "</a></li>\n");
	}
	tg_buf_adds(out, "</ul></nav>\n");
}

void tg_report_html(const struct tg_report *report, struct tg_buf *out)
{
	tg_buf_adds(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
		"<meta name=\"generator\" content=\"tachograph " TG_VERSION "\">\n<title>");
	put_text(out, report->title);
	tg_buf_adds(out, "</title>\n<style>\n");
	tg_buf_add(out, tg_page_css, (size_t)(tg_page_css_end - tg_page_css));
	tg_buf_adds(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
	put_text(out, report->title);
	tg_buf_adds(out, "</h1>\n<p>");
	put_text(out, report->headline);
	tg_buf_adds(out, "</p>\n</header>\n");
	put_nav(out, report);
	tg_buf_adds(out, "<main>\n");
	for (size_t i = 0; i < report->n_parts; i++)
		put_part(out, &report->part[i]);
	tg_buf_adds(out,
		"</main>\n<footer>“~” is before figures that were interpolated, “–” stands for "
		"what is not known. Bytes are powers of 1000; means are weighted by time; figures "
		"below a plot are plain statistics over samples. Drag over a plot to look closer, "
		"double-click to see all.<br>tachograph " TG_VERSION "</footer>\n<script>\n");
	tg_buf_add(out, tg_page_js, (size_t)(tg_page_js_end - tg_page_js));
	tg_buf_adds(out, "</script>\n</body>\n</html>\n");
}
