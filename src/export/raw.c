/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording as machine numbers: a line of JSON, then blocks. A block is its number of rows
 * (int64, 0: the end) and, for each column, so many int64 and a bit for each that is missing,
 * lowest bit first. Bytes are little-endian, as everywhere that tachograph runs. Rows without any
 * value are left out.
 */
#include <errno.h>

#include "export/export.h"

#include "base/mem.h"

#define FIXED        3 /* time_ns, session, cell */
#define BLOCK_VALUES (1u << 20)
#define BLOCK_ROWS   8192

struct raw {
	const struct tg_export *e;
	struct tg_export_columns columns;
	size_t n_columns, n_rows, cap;
	int64_t *value; /* [column * cap + row] */
	struct tg_buf out;
};

static int flush_block(struct raw *raw)
{
	int64_t n = (int64_t)raw->n_rows;

	tg_buf_add(&raw->out, &n, sizeof(n));
	for (size_t c = 0; c < raw->n_columns; c++) {
		int64_t *value = &raw->value[c * raw->cap];
		uint8_t bits[(BLOCK_ROWS + 7) / 8] = { 0 };

		for (size_t i = 0; i < raw->n_rows; i++) {
			if (value[i] != TG_MISSING)
				continue;
			bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
			value[i] = 0;
		}
		tg_buf_add(&raw->out, value, raw->n_rows * sizeof(*value));
		tg_buf_add(&raw->out, bits, (raw->n_rows + 7) / 8);
	}
	raw->n_rows = 0;
	return tg_export_flush(raw->e, &raw->out);
}

static int each_row(void *ctx, const struct tg_export_row *row)
{
	struct raw *raw = ctx;
	int64_t *at = &raw->value[raw->n_rows];
	bool some = false;

	for (size_t i = 0; i < raw->columns.n; i++) {
		at[(FIXED + i) * raw->cap] = row->value[i];
		some |= row->value[i] != TG_MISSING;
	}
	if (!some)
		return 0;
	at[0] = row->utc_ns;
	at[raw->cap] = row->session;
	at[2 * raw->cap] = row->cell && row->cell->index >= 0 ? row->cell->index : TG_MISSING;
	return ++raw->n_rows == raw->cap ? flush_block(raw) : 0;
}

static void fixed_column(struct tg_jw *w, const char *name, const char *unit)
{
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "metric", name);
	tg_jw_kstr(w, "instance", "");
	tg_jw_kstr(w, "unit", unit);
	tg_jw_kint(w, "scale", 0);
	tg_jw_end_object(w);
}

static int add_object(void *ctx, size_t i, const struct tg_buf *json, const struct tg_json *object)
{
	struct tg_jw *w = ctx;

	(void)i;
	(void)object;
	tg_jw_raw(w, json->data, json->len);
	return 0;
}

static int objects(const struct tg_export *e, enum tg_export_what what, struct tg_jw *w)
{
	int rc;

	tg_jw_key(w, tg_export_name(what));
	tg_jw_begin_array(w);
	rc = tg_export_objects(e, what, add_object, w);
	tg_jw_end_array(w);
	return rc;
}

static int header(struct raw *raw)
{
	struct tg_export all = *raw->e;
	struct tg_jw w;
	int rc = 0;

	all.metrics = NULL; /* what there is, beside what was chosen */
	tg_jw_init(&w, &raw->out);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "raw", 1);
	tg_export_about(raw->e, &w);
	for (int what = 0; what < TG_EXPORT_WHATS && rc == 0; what++)
		if (!raw->e->tables ||
			tg_export_listed(raw->e->tables, tg_export_name((enum tg_export_what)what)))
			rc = objects(&all, (enum tg_export_what)what, &w);
	if (rc < 0)
		return rc;
	tg_jw_key(&w, "columns");
	tg_jw_begin_array(&w);
	fixed_column(&w, "time_ns", "ns");
	fixed_column(&w, "session", "count");
	fixed_column(&w, "cell", "count");
	rc = tg_export_objects(raw->e, TG_EXPORT_METRICS, add_object, &w);
	tg_jw_end_array(&w);
	tg_jw_end_object(&w);
	tg_buf_addc(&raw->out, '\n');
	return rc < 0 ? rc : tg_export_flush(raw->e, &raw->out);
}

int tg_export_raw(const struct tg_export *e, struct tg_err *err)
{
	struct raw raw = { .e = e, .out = TG_BUF_INIT };
	int rc;

	if (tg_export_chosen(e, &raw.columns, err) < 0)
		return -ENOENT;
	raw.n_columns = FIXED + raw.columns.n;
	raw.cap = TG_MIN((size_t)BLOCK_ROWS, TG_MAX(BLOCK_VALUES / raw.n_columns, (size_t)1));
	raw.value = tg_xcalloc(raw.cap * raw.n_columns, sizeof(*raw.value));
	rc = header(&raw);
	if (rc == 0 && raw.columns.n)
		rc = tg_export_rows(e, &raw.columns, each_row, &raw);
	if (rc == 0 && raw.n_rows)
		rc = flush_block(&raw);
	if (rc == 0)
		rc = flush_block(&raw); /* no rows: the end */
	tg_buf_release(&raw.out);
	free(raw.value);
	free(raw.columns.column);
	return tg_export_failed(e, rc, err);
}
