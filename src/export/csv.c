/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV as RFC 4180 has it, but with bare newlines: one header line, one line a row. */
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

/* Quoted when it has to be. Line breaks cannot be: names come from sysfs, where they are refused.
 */
static void field(struct tg_buf *out, const char *s)
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
		field(&csv->line, name.data);
	}
	tg_buf_addc(&csv->line, '\n');
	tg_buf_release(&name);
}

static int each_row(void *ctx, int64_t utc_ns, const struct tg_span *cell, const int64_t *value)
{
	struct csv *csv = ctx;

	if (csv->first_ns == TG_MISSING)
		csv->first_ns = utc_ns;
	tg_utc_text(&csv->line, utc_ns);
	tg_buf_addf(&csv->line, ",%.6f,", (double)(utc_ns - csv->first_ns) / 1e9);
	if (cell && cell->index >= 0)
		tg_buf_addf(&csv->line, "%lld", (long long)cell->index);
	for (size_t i = 0; i < csv->columns.n; i++) {
		tg_buf_addc(&csv->line, ',');
		if (value[i] != TG_MISSING)
			tg_export_value(
				&csv->line, value[i], csv->columns.column[i]->metric->scale);
	}
	tg_buf_addc(&csv->line, '\n');
	return csv->line.len >= FLUSH_BYTES ? tg_export_flush(csv->e, &csv->line) : 0;
}

int tg_export_csv(const struct tg_export *e, struct tg_err *err)
{
	struct csv csv = { .e = e, .line = TG_BUF_INIT, .first_ns = TG_MISSING };
	int rc;

	tg_export_columns_of(e->recording, &csv.columns);
	header(&csv);
	rc = tg_export_rows(e, &csv.columns, each_row, &csv);
	if (rc >= 0)
		rc = tg_export_flush(e, &csv.line);
	tg_buf_release(&csv.line);
	free(csv.columns.column);
	return rc < 0 ? tg_err_set(
				err, rc, "Cannot export %s: %s", e->recording->path, strerror(-rc))
		      : 0;
}
