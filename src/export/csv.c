/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV as RFC 4180 has it, but with bare newlines: one header line, one line a row. */
#include <errno.h>

#include "base/clock.h"
#include "export/export.h"

#include "base/mem.h"

#define FLUSH_BYTES 65536

struct csv {
	const struct tg_export *e;
	struct tg_export_columns columns;
	struct tg_buf line;
	int64_t first_ns;
};

/* Quoted when it has to be. */
void tg_export_csv_field(struct tg_buf *out, const char *s)
{
	bool quote = s[strcspn(s, ",\"\r\n")] != '\0';

	if (quote)
		tg_buf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			tg_buf_addc(out, '"');
		tg_buf_addc(out, *s);
	}
	if (quote)
		tg_buf_addc(out, '"');
}

static void header(struct csv *csv)
{
	struct tg_buf name = TG_BUF_INIT;

	tg_buf_adds(&csv->line, "time[UTC],t[s],cell");
	for (size_t i = 0; i < csv->columns.n; i++) {
		const struct tg_column *c = csv->columns.column[i];

		tg_buf_clear(&name);
		tg_plain(&name, c->metric->name, 200);
		if (c->instance[0]) {
			tg_buf_addc(&name, ':');
			tg_plain(&name, c->instance, 200);
		}
		tg_buf_addc(&name, '[');
		tg_plain(&name, c->metric->unit, 40);
		tg_buf_addc(&name, ']');
		tg_buf_addc(&csv->line, ',');
		tg_export_csv_field(&csv->line, name.data);
	}
	tg_buf_addc(&csv->line, '\n');
	tg_buf_release(&name);
}

static int each_row(void *ctx, const struct tg_export_row *row)
{
	struct csv *csv = ctx;

	if (csv->first_ns == TG_MISSING)
		csv->first_ns = row->utc_ns;
	tg_utc_text(&csv->line, row->utc_ns);
	tg_buf_addf(&csv->line, ",%.6f,", (double)(row->utc_ns - csv->first_ns) / 1e9);
	if (row->cell && row->cell->index >= 0)
		tg_buf_addf(&csv->line, "%lld", (long long)row->cell->index);
	for (size_t i = 0; i < csv->columns.n; i++) {
		tg_buf_addc(&csv->line, ',');
		if (row->value[i] != TG_MISSING)
			tg_export_value(
				&csv->line, row->value[i], csv->columns.column[i]->metric->scale);
	}
	tg_buf_addc(&csv->line, '\n');
	return csv->line.len >= FLUSH_BYTES ? tg_export_flush(csv->e, &csv->line) : 0;
}

int tg_export_csv(const struct tg_export *e, struct tg_err *err)
{
	struct csv csv = { .e = e, .line = TG_BUF_INIT, .first_ns = TG_MISSING };
	int rc;

	if (tg_export_chosen(e, &csv.columns, err) < 0)
		return -ENOENT;
	header(&csv);
	rc = tg_export_rows(e, &csv.columns, each_row, &csv);
	if (rc >= 0)
		rc = tg_export_flush(e, &csv.line);
	tg_buf_release(&csv.line);
	free(csv.columns.column);
	return tg_export_failed(e, rc, err);
}

/* ---- objects ---- */

static int each_object(void *ctx, size_t i, const struct tg_buf *json, const struct tg_json *object)
{
	struct csv *csv = ctx;
	struct tg_buf cell = TG_BUF_INIT;
	const char *key = NULL;

	(void)json;
	while (i == 0 && (key = tg_json_next_key(object, key))) {
		tg_buf_adds(&csv->line, key == tg_json_next_key(object, NULL) ? "" : ",");
		tg_export_csv_field(&csv->line, key);
	}
	if (i == 0)
		tg_buf_addc(&csv->line, '\n');
	while ((key = tg_json_next_key(object, key))) {
		tg_buf_clear(&cell);
		tg_export_cell(tg_json_get(object, key), &cell);
		tg_buf_adds(&csv->line, key == tg_json_next_key(object, NULL) ? "" : ",");
		tg_export_csv_field(&csv->line, cell.data);
	}
	tg_buf_addc(&csv->line, '\n');
	tg_buf_release(&cell);
	return csv->line.len >= FLUSH_BYTES ? tg_export_flush(csv->e, &csv->line) : 0;
}

int tg_export_csv_of(const struct tg_export *e, enum tg_export_what what, struct tg_err *err)
{
	struct csv csv = { .e = e, .line = TG_BUF_INIT };
	int rc = tg_export_objects(e, what, each_object, &csv);

	if (rc >= 0)
		rc = tg_export_flush(e, &csv.line);
	tg_buf_release(&csv.line);
	return tg_export_failed(e, rc, err);
}
