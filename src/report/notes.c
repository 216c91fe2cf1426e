/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader should know besides: what was lost, what is uncertain, what was named. */
#include "analyze/moments.h"
#include "base/json.h"
#include "report/format.h"
#include "report/report.h"

#include "base/mem.h"

#define NOTES_MAX  200
#define TEXT_CHARS 600

static void when(const struct tg_told *t, const struct tg_moment *m, struct tg_buf *b)
{
	double s = (double)(m->utc_ns - t->sums.from_ns) / 1e9;

	tg_fmt_seconds(b, s > 0 ? s : 0);
}

/* "gap: the file could not take more"; nothing for moments that tell no reader anything. */
static void what(const struct tg_moment *m, struct tg_buf *b)
{
	struct tg_json *e = tg_json_parse(m->json, strlen(m->json), NULL);

	if (!strcmp(m->what, "mark")) {
		tg_buf_adds(b, "mark: ");
		tg_moment_label(m, b);
	} else if (!strcmp(m->what, "note")) {
		tg_plain(b, tg_json_str(tg_json_get(e, "text"), ""), TEXT_CHARS);
	} else if (!strcmp(m->what, "gap")) {
		tg_buf_adds(b, "no samples for ");
		tg_fmt_seconds(b, (double)(tg_json_int(tg_json_get(e, "to"), 0) -
					   tg_json_int(tg_json_get(e, "from"), 0)) /
					  1e9);
		tg_buf_adds(b, ": ");
		tg_plain(b, tg_json_str(tg_json_get(e, "why"), "unknown"), TEXT_CHARS);
	} else if (!strcmp(m->what, "means") && tg_json_str(tg_json_get(e, "why"), NULL)) {
		tg_buf_adds(b, "CPU time is told by ");
		tg_plain(b, tg_json_str(tg_json_get(e, "by"), "?"), 40);
		tg_buf_adds(b, ": ");
		tg_plain(b, tg_json_str(tg_json_get(e, "why"), ""), TEXT_CHARS);
	}
	tg_json_free(e);
}

static void put_damage(struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	struct tg_damage d;

	if (!tg_recording_damage(t->r, &d))
		return;
	tg_sheet_text(sheet, "");
	tg_buf_addf(b, "the file is damaged: %llu bytes are skipped, %llu pieces are lost",
		(unsigned long long)d.bytes_skipped, (unsigned long long)d.lost_chunks);
	tg_sheet_text(sheet, b->data);
	tg_buf_clear(b);
}

void tg_report_notes(struct tg_told *t)
{
	struct tg_buf b = TG_BUF_INIT;
	struct tg_sheet sheet = { .keys = true };
	size_t more = 0;

	tg_sheet_column(&sheet, "after", false, NULL);
	tg_sheet_column(&sheet, "what", false, NULL);
	put_damage(t, &sheet, &b);
	for (size_t i = 0; i < t->r->n_moments; i++) {
		struct tg_buf text = TG_BUF_INIT;

		what(&t->r->moment[i], &text);
		if (text.len && tg_sheet_rows(&sheet) < NOTES_MAX) {
			when(t, &t->r->moment[i], &b);
			tg_sheet_text(&sheet, b.data);
			tg_sheet_text(&sheet, text.data);
			tg_buf_clear(&b);
		} else if (text.len) {
			more++;
		}
		tg_buf_release(&text);
	}
	if (more) {
		tg_sheet_text(&sheet, "");
		tg_fmt_count(&b, more, "more note");
		tg_sheet_text(&sheet, b.data);
		tg_buf_clear(&b);
	}
	if (t->empty.len) {
		tg_sheet_text(&sheet, "");
		tg_buf_addf(&b, "nothing happened to be drawn of %s", t->empty.data);
		tg_sheet_text(&sheet, b.data);
	}
	if (tg_sheet_rows(&sheet)) {
		struct tg_report_part *p = tg_report_add(t->report, 2, "notes", "Notes", NULL);

		p->sheet = sheet;
		p->code = tg_xstrdup("run.events");
	} else {
		tg_sheet_release(&sheet);
	}
	tg_buf_release(&b);
}
