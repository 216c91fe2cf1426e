/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of all tables as one table: ten seconds at a time are read, sorted and handed over. */
#include <errno.h>

#include "base/clock.h"
#include "export/export.h"

#include "base/mem.h"

#define WINDOW_NS (10 * TG_NS_PER_S)
#define EDGE_NS   INT64_C(300000) /* an edge row is stamped a moment after the edge */

void tg_export_columns_of(const struct tg_recording *r, struct tg_export_columns *out)
{
	size_t n;
	const struct tg_table *table = tg_reader_tables(r->reader, &n);

	*out = (struct tg_export_columns){ 0 };
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < table[i].n_columns; k++) {
			const struct tg_column *c = &table[i].column[k];
			bool known = out->n >= TG_EXPORT_COLUMNS_MAX;

			for (size_t j = 0; j < out->n && !known; j++)
				known = !strcmp(out->column[j]->metric->name, c->metric->name) &&
					!strcmp(out->column[j]->instance, c->instance);
			if (known)
				continue;
			TG_GROW(out->column, out->n + 1, out->cap);
			out->column[out->n++] = c;
		}
	}
}

bool tg_export_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, name, len) && (list[len] == ',' || !list[len]))
			return true;
	}
	return false;
}

/* Each name of the list is of some column. */
static int check_listed(
	const struct tg_export *e, const struct tg_export_columns *c, struct tg_err *err)
{
	int rc = 0;

	for (const char *at = e->metrics; rc == 0 && *at;
		at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		char *name = tg_xmemdup0(at, strcspn(at, ","));
		bool known = false;

		for (size_t i = 0; i < c->n && !known; i++)
			known = !strcmp(c->column[i]->metric->name, name);
		if (!known)
			rc = tg_err_set(err, -ENOENT,
				"There is no metric \"%.60s\" in this recording", name);
		free(name);
	}
	return rc;
}

int tg_export_chosen(const struct tg_export *e, struct tg_export_columns *out, struct tg_err *err)
{
	size_t n = 0;

	tg_export_columns_of(e->recording, out);
	if (!e->metrics)
		return 0;
	if (strcmp(e->metrics, "none") != 0 && check_listed(e, out, err) < 0) {
		free(out->column);
		return -ENOENT;
	}
	for (size_t i = 0; i < out->n; i++)
		if (tg_export_listed(e->metrics, out->column[i]->metric->name))
			out->column[n++] = out->column[i];
	out->n = n;
	return 0;
}

int tg_export_failed(const struct tg_export *e, int rc, struct tg_err *err)
{
	return rc < 0 ? tg_err_set(
				err, rc, "Cannot export %s: %s", e->recording->path, strerror(-rc))
		      : 0;
}

int tg_export_flush(const struct tg_export *e, struct tg_buf *b)
{
	int r = b->len ? e->sink.write(e->sink.ctx, b->data, b->len) : 0;

	tg_buf_clear(b);
	return r;
}

void tg_export_value(struct tg_buf *out, int64_t value, int scale)
{
	uint64_t a = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;

	if (value < 0)
		tg_buf_addc(out, '-');
	if (scale >= 0 || scale < -18) {
		tg_buf_addf(out, "%llu", (unsigned long long)a);
		if (scale)
			tg_buf_addf(out, "e%d", scale);
		return;
	}
	for (int i = scale; i < 0; i++)
		unit *= 10;
	tg_buf_addf(out, "%llu.%0*llu", (unsigned long long)(a / unit), -scale,
		(unsigned long long)(a % unit));
}

/* ---- one window ---- */

struct row {
	int64_t t_ns;
	size_t order; /* rows of the same moment stay in the order of their tables */
	int64_t *value;
};

struct window {
	int64_t from_ns, to_ns; /* [from, to) */
	const size_t *map; /* column of the table being read -> column of the export */
	size_t n_columns, n_map;
	struct row *row;
	size_t n, cap;
};

static int take_block(void *ctx, const struct tg_block *block)
{
	struct window *w = ctx;

	for (uint32_t i = 0; i < block->n_rows; i++) {
		struct row *row;

		if (block->t_ns[i] < w->from_ns || block->t_ns[i] >= w->to_ns)
			continue;
		TG_GROW(w->row, w->n + 1, w->cap);
		row = &w->row[w->n];
		row->t_ns = block->t_ns[i];
		row->order = w->n++;
		row->value = tg_xmalloc(w->n_columns * sizeof(*row->value));
		for (size_t c = 0; c < w->n_columns; c++)
			row->value[c] = TG_MISSING;
		for (size_t c = 0; c < w->n_map; c++)
			row->value[w->map[c]] = block->values[c * block->cap + i];
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static size_t column_index(const struct tg_export_columns *columns, const struct tg_column *c)
{
	for (size_t i = 0; i < columns->n; i++)
		if (!strcmp(columns->column[i]->metric->name, c->metric->name) &&
			!strcmp(columns->column[i]->instance, c->instance))
			return i;
	return columns->n;
}

/* ---- all of it ---- */

struct source {
	const struct tg_table *table;
	uint32_t *column;
	size_t *map;
	size_t n;
};

static struct source *sources_of(const struct tg_export *e, const struct tg_export_columns *columns,
	uint32_t session, size_t *n_sources)
{
	size_t n_tables;
	const struct tg_table *table = tg_reader_tables(e->recording->reader, &n_tables);
	struct source *source = tg_xcalloc(n_tables + 1, sizeof(*source));

	*n_sources = 0;
	for (size_t i = 0; i < n_tables; i++) {
		struct source *s = &source[*n_sources];

		if (table[i].session != session || !table[i].n_rows)
			continue;
		s->table = &table[i];
		s->column = tg_xcalloc(table[i].n_columns + 1, sizeof(*s->column));
		s->map = tg_xcalloc(table[i].n_columns + 1, sizeof(*s->map));
		for (size_t k = 0; k < table[i].n_columns; k++) {
			size_t at = column_index(columns, &table[i].column[k]);

			if (at == columns->n)
				continue;
			s->column[s->n] = (uint32_t)k;
			s->map[s->n++] = at;
		}
		(*n_sources)++;
	}
	return source;
}

/*
 * The chosen spans of a session in order of their beginning, passed once, as rows come in order of
 * time. Of those that have begun by `t_ns`: the cells and stages that may last still, and the end
 * that is last of all.
 */
struct sweep {
	const struct tg_span **span, **cell;
	size_t n, next, n_cells;
	int64_t end_ns;
};

static int earlier_first(const void *a, const void *b)
{
	const struct tg_span *x = *(const struct tg_span *const *)a;
	const struct tg_span *y = *(const struct tg_span *const *)b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x > y) - (x < y); /* as in the file */
}

static void sweep_init(struct sweep *s, const struct tg_export *e, uint32_t session)
{
	*s = (struct sweep){ .end_ns = INT64_MIN };
	s->span = tg_xcalloc(e->n_spans + 1, sizeof(*s->span));
	s->cell = tg_xcalloc(e->n_spans + 1, sizeof(*s->cell));
	for (size_t i = 0; i < e->n_spans; i++)
		if (e->span[i]->session == session)
			s->span[s->n++] = e->span[i];
	qsort(s->span, s->n, sizeof(*s->span), earlier_first);
}

static void sweep_release(struct sweep *s)
{
	free(s->span);
	free(s->cell);
}

/* `t_ns` never falls from call to call. */
static void sweep_to(struct sweep *s, int64_t t_ns)
{
	for (; s->next < s->n && s->span[s->next]->begin_ns <= t_ns; s->next++) {
		const struct tg_span *span = s->span[s->next];

		s->end_ns = TG_MAX(s->end_ns, span->end_ns + EDGE_NS);
		if (!strcmp(span->kind, "cell") || !strcmp(span->kind, "stage"))
			s->cell[s->n_cells++] = span;
	}
	while (s->n_cells && s->cell[s->n_cells - 1]->end_ns + EDGE_NS < t_ns)
		s->n_cells--;
}

/* After sweep_to: the chosen cell or stage that began last among those that hold the moment. */
static const struct tg_span *cell_now(const struct sweep *s)
{
	return s->n_cells ? s->cell[s->n_cells - 1] : NULL;
}

/* The next moment, from `t_ns` on, that a chosen span covers. */
static int64_t next_covered(struct sweep *s, int64_t t_ns)
{
	sweep_to(s, t_ns);
	if (s->end_ns >= t_ns)
		return t_ns;
	return s->next < s->n ? s->span[s->next]->begin_ns : INT64_MAX;
}

struct visit {
	const struct tg_export *e;
	const struct tg_span_session *session;
	int (*each)(void *ctx, const struct tg_export_row *row);
	void *ctx;
	struct sweep sweep;
};

static int hand_over(struct visit *v, struct window *w)
{
	int rc = 0;

	if (w->n)
		qsort(w->row, w->n, sizeof(*w->row), compare_rows);
	for (size_t i = 0; i < w->n && rc == 0;) {
		struct row *row = &w->row[i++];

		while (i < w->n && w->row[i].t_ns == row->t_ns) {
			for (size_t c = 0; c < w->n_columns; c++)
				if (w->row[i].value[c] != TG_MISSING)
					row->value[c] = w->row[i].value[c];
			i++;
		}
		sweep_to(&v->sweep, row->t_ns);
		if (v->e->whole || v->sweep.end_ns >= row->t_ns)
			rc = v->each(v->ctx,
				&(struct tg_export_row){ tg_session_utc(v->session, row->t_ns),
					v->session->number, cell_now(&v->sweep), row->value });
	}
	for (size_t i = 0; i < w->n; i++)
		free(w->row[i].value);
	w->n = 0;
	return rc;
}

/* Where rows are, so that an empty hour costs nothing: the earliest table row at or after `t`. */
static int64_t next_row(const struct source *source, size_t n, int64_t t)
{
	int64_t best = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (source[i].table->last_ns >= t)
			best = TG_MIN(best, TG_MAX(source[i].table->first_ns, t));
	return best;
}

static int export_session(struct visit *v, const struct tg_export_columns *columns)
{
	struct window w = { .n_columns = columns->n };
	size_t n;
	struct source *source = sources_of(v->e, columns, v->session->number, &n);
	int64_t t = INT64_MIN;
	int rc = 0;

	for (;;) {
		/* both must agree on a moment; each step moves on to the later one */
		int64_t row = next_row(source, n, t);
		int64_t want = row == INT64_MAX || v->e->whole ? row : next_covered(&v->sweep, row);

		if (want == INT64_MAX)
			break;
		if (want > row) {
			t = want;
			if (next_row(source, n, t) == INT64_MAX)
				break;
		}
		w.from_ns = TG_MAX(row, want);
		w.to_ns = w.from_ns + WINDOW_NS;
		for (size_t i = 0; i < n && rc >= 0; i++) {
			w.map = source[i].map;
			w.n_map = source[i].n;
			if (source[i].n && source[i].table->last_ns >= w.from_ns &&
				source[i].table->first_ns < w.to_ns)
				rc = tg_reader_blocks(v->e->recording->reader, source[i].table,
					source[i].column, source[i].n, w.from_ns, w.to_ns - 1,
					take_block, &w);
		}
		if (rc >= 0)
			rc = hand_over(v, &w);
		if (rc)
			break;
		t = w.to_ns;
	}
	for (size_t i = 0; i < n; i++) {
		free(source[i].column);
		free(source[i].map);
	}
	for (size_t i = 0; i < w.n; i++)
		free(w.row[i].value);
	free(w.row);
	free(source);
	return rc;
}

int tg_export_rows(const struct tg_export *e, const struct tg_export_columns *columns,
	int (*each)(void *ctx, const struct tg_export_row *row), void *ctx)
{
	int rc = 0;

	for (size_t i = 0; i < e->recording->n_sessions && rc == 0; i++) {
		struct visit v = {
			.e = e, .session = &e->recording->session[i], .each = each, .ctx = ctx
		};

		sweep_init(&v.sweep, e, v.session->number);
		rc = export_session(&v, columns);
		sweep_release(&v.sweep);
	}
	return rc;
}
