/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMetrics 1.0 text (github.com/prometheus/OpenMetrics). A family has all its points together,
 * one instance after the other, in order of time; rows come in order of time alone. So columns are
 * held until all rows were seen, as many at a time as fit into HELD_BYTES, and where a single one
 * does not fit it is written as it comes.
 */
#include <ctype.h>
#include <errno.h>

#include "base/clock.h"
#include "export/export.h"

#include "base/mem.h"

#define HELD_BYTES  (UINT64_C(64) << 20)
#define FLUSH_BYTES 65536

struct point {
	int64_t utc_ns, value;
};

struct points {
	struct point *point;
	size_t n, cap;
};

struct text {
	const struct tg_export *e;
	struct tg_export_columns some; /* of this pass */
	struct points *points; /* of each; NULL: write them at once */
	struct tg_buf out, labels, name;
	int64_t last_ns; /* of the one that is written */
	int scale; /* to the base unit */
	bool counter;
};

/* Units of recordings and the base units of OpenMetrics: value * 10^scale is in `base`. */
static const struct {
	const char *unit, *suffix, *base;
	int scale;
} units[] = {
	{ "ns", "_ns", "seconds", -9 },
	{ "bytes", "_bytes", "bytes", 0 },
	{ "bytes/s", "_bytes_per_s", "bytes_per_second", 0 },
	{ "pct", "_pct", "ratio", -2 },
	{ "J", "_j", "joules", 0 },
	{ "W", "_w", "watts", 0 },
	{ "C", "_c", "celsius", 0 },
	{ "MHz", "_mhz", "hertz", 6 },
};

static const char *unit_of(const struct tg_metric *m, const char **suffix, int *scale)
{
	*suffix = "";
	*scale = m->scale;
	for (size_t i = 0; i < TG_ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].unit, m->unit) != 0)
			continue;
		*suffix = units[i].suffix;
		*scale += units[i].scale;
		return units[i].base;
	}
	return "";
}

/* "tree.cpu_ns" is tachograph_tree_cpu_seconds. */
static void family_name(const struct tg_metric *m, struct tg_buf *out, const char **unit)
{
	const char *suffix;
	size_t len = strlen(m->name), cut;
	int scale;

	*unit = unit_of(m, &suffix, &scale);
	cut = strlen(suffix);
	if (cut && len > cut && !strcmp(m->name + len - cut, suffix))
		len -= cut;
	tg_buf_clear(out);
	tg_buf_adds(out, "tachograph_");
	for (size_t i = 0; i < len; i++)
		tg_buf_addc(out, isalnum((unsigned char)m->name[i]) && (m->name[i] & 0x80) == 0
					 ? m->name[i]
					 : '_');
	if (**unit)
		tg_buf_addf(out, "_%s", *unit);
	/* a family of another kind may not end as samples of counters do */
	len = out->len;
	if (m->kind != TG_COUNTER && len > 6 && !strcmp(out->data + len - 6, "_total"))
		tg_buf_adds(out, "_level");
}

/* `quotes` is for values of labels; in HELP they stay. */
static void escaped(struct tg_buf *out, const char *s, bool quotes)
{
	struct tg_buf plain = TG_BUF_INIT;

	tg_plain(&plain, s, strlen(s)); /* one line of UTF-8 */
	for (const char *c = plain.data; *c; c++) {
		if (*c == '\\' || (quotes && *c == '"'))
			tg_buf_addc(out, '\\');
		tg_buf_addc(out, *c);
	}
	tg_buf_release(&plain);
}

static void family(struct text *t, const struct tg_metric *m)
{
	const char *unit;

	family_name(m, &t->name, &unit);
	tg_buf_addf(&t->out, "# TYPE %s %s\n", t->name.data,
		m->kind == TG_COUNTER ? "counter" : "gauge");
	if (*unit)
		tg_buf_addf(&t->out, "# UNIT %s %s\n", t->name.data, unit);
	tg_buf_addf(&t->out, "# HELP %s ", t->name.data);
	escaped(&t->out, m->help ? m->help : m->name, false);
	tg_buf_addc(&t->out, '\n');
	if (m->kind == TG_COUNTER)
		tg_buf_adds(&t->name, "_total");
}

static void begin_column(struct text *t, const struct tg_column *c)
{
	const struct tg_recording *r = t->e->recording;
	const char *suffix;

	t->last_ns = INT64_MIN;
	t->counter = c->metric->kind == TG_COUNTER;
	unit_of(c->metric, &suffix, &t->scale);
	tg_buf_clear(&t->labels);
	tg_buf_adds(&t->labels, "{host=\"");
	escaped(&t->labels, r->n_sessions ? r->session[r->n_sessions - 1].host : "", true);
	if (c->instance[0]) {
		tg_buf_adds(&t->labels, "\",device=\"");
		escaped(&t->labels, c->instance, true);
	}
	tg_buf_adds(&t->labels, "\"}");
}

/* A clock that was set back between two runs of a recorder would go back here: not allowed. */
static int put(struct text *t, int64_t utc_ns, int64_t value)
{
	if (utc_ns <= t->last_ns || (t->counter && value < 0))
		return 0;
	t->last_ns = utc_ns;
	tg_buf_add(&t->out, t->name.data, t->name.len);
	tg_buf_add(&t->out, t->labels.data, t->labels.len);
	tg_buf_addc(&t->out, ' ');
	tg_export_value(&t->out, value, t->scale);
	tg_buf_addf(&t->out, " %lld.%09lld\n", (long long)(utc_ns / TG_NS_PER_S),
		(long long)(utc_ns % TG_NS_PER_S));
	return t->out.len >= FLUSH_BYTES ? tg_export_flush(t->e, &t->out) : 0;
}

static int each_row(void *ctx, const struct tg_export_row *row)
{
	struct text *t = ctx;

	for (size_t i = 0; i < t->some.n; i++) {
		struct points *p = t->points ? &t->points[i] : NULL;

		if (row->value[i] == TG_MISSING)
			continue;
		if (!p)
			return put(t, row->utc_ns, row->value[i]);
		TG_GROW(p->point, p->n + 1, p->cap);
		p->point[p->n++] = (struct point){ row->utc_ns, row->value[i] };
	}
	return 0;
}

/* Columns [from, from + n) of those in the order of families. */
static int pass(
	struct text *t, const struct tg_export_columns *all, size_t from, size_t n, bool held)
{
	int rc = 0;

	t->some = (struct tg_export_columns){ all->column + from, n, n };
	t->points = held ? tg_xcalloc(n, sizeof(*t->points)) : NULL;
	if (held)
		rc = tg_export_rows(t->e, &t->some, each_row, t);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct tg_column *c = t->some.column[i];

		if (from + i == 0 ||
			strcmp(all->column[from + i - 1]->metric->name, c->metric->name) != 0)
			family(t, c->metric);
		begin_column(t, c);
		for (size_t k = 0; held && k < t->points[i].n && rc == 0; k++)
			rc = put(t, t->points[i].point[k].utc_ns, t->points[i].point[k].value);
		if (!held)
			rc = tg_export_rows(t->e, &t->some, each_row, t);
	}
	for (size_t i = 0; held && i < n; i++)
		free(t->points[i].point);
	free(t->points);
	return rc;
}

/* Instances of a metric one after the other, else in their order. */
static void order_by_family(struct tg_export_columns *c)
{
	for (size_t i = 0; i + 1 < c->n; i++) {
		size_t at = i + 1;

		for (size_t k = i + 1; k < c->n; k++) {
			const struct tg_column *found = c->column[k];

			if (strcmp(found->metric->name, c->column[i]->metric->name) != 0)
				continue;
			memmove(&c->column[at + 1], &c->column[at],
				(k - at) * sizeof(c->column[0]));
			c->column[at++] = found;
		}
		i = at - 1;
	}
}

static uint64_t rows_of(const struct tg_recording *r)
{
	size_t n;
	const struct tg_table *table = tg_reader_tables(r->reader, &n);
	uint64_t rows = 1;

	for (size_t i = 0; i < n; i++)
		rows += table[i].n_rows;
	return rows;
}

int tg_export_openmetrics(const struct tg_export *e, struct tg_err *err)
{
	struct text t = { .e = e, .out = TG_BUF_INIT, .labels = TG_BUF_INIT, .name = TG_BUF_INIT };
	struct tg_export_columns all;
	/* a list that grows by half may take half as much again */
	uint64_t fit = HELD_BYTES / (rows_of(e->recording) * sizeof(struct point) * 3 / 2);
	size_t step = fit ? (size_t)TG_MIN(fit, (uint64_t)TG_EXPORT_COLUMNS_MAX) : 1;
	int rc = 0;

	if (tg_export_chosen(e, &all, err) < 0)
		return -ENOENT;
	order_by_family(&all);
	for (size_t at = 0; at < all.n && rc == 0; at += step)
		rc = pass(&t, &all, at, TG_MIN(step, all.n - at), fit > 0);
	if (rc == 0) {
		tg_buf_adds(&t.out, "# EOF\n");
		rc = tg_export_flush(e, &t.out);
	}
	tg_buf_release(&t.out);
	tg_buf_release(&t.labels);
	tg_buf_release(&t.name);
	free(all.column);
	return tg_export_failed(e, rc, err);
}
