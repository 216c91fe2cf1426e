/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/table.h"

#include "base/json.h"
#include "record/format.h"

#include "base/mem.h"

static const char *const kind_name[] = { [TG_GAUGE] = "gauge", [TG_COUNTER] = "counter" };
static const char *const scope_name[] = {
	[TG_SCOPE_JOB] = "job", [TG_SCOPE_NODE] = "node", [TG_SCOPE_SELF] = "self"
};

static void dump_metric(struct tg_jw *w, const struct tg_metric *m)
{
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "name", m->name);
	tg_jw_kstr(w, "unit", m->unit);
	tg_jw_kstr(w, "kind", kind_name[m->kind]);
	tg_jw_kstr(w, "scope", scope_name[m->scope]);
	tg_jw_kint(w, "scale", m->scale);
	tg_jw_kstr(w, "help", m->help ? m->help : "");
	tg_jw_end_object(w);
}

/*
 * Position among the distinct metrics; first[k] is the first column of the k-th. Columns of one
 * metric mostly follow each other, so look back.
 */
static size_t find_metric(
	const struct tg_column *column, const size_t *first, size_t n, const struct tg_metric *m)
{
	for (size_t k = n; k-- > 0;)
		if (column[first[k]].metric == m)
			return k;
	return n;
}

void tg_table_dump(struct tg_buf *out, uint32_t number, const char *name,
	const struct tg_column *column, size_t n)
{
	size_t *first = tg_xcalloc(n + 1, sizeof(*first));
	size_t n_metrics = 0;
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "table", number);
	tg_jw_kstr(&w, "name", name);
	tg_jw_key(&w, "metrics");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < n; i++) {
		if (find_metric(column, first, n_metrics, column[i].metric) < n_metrics)
			continue;
		first[n_metrics++] = i;
		dump_metric(&w, column[i].metric);
	}
	tg_jw_end_array(&w);
	tg_jw_key(&w, "columns");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < n; i++) {
		size_t k = find_metric(column, first, n_metrics, column[i].metric);

		tg_jw_begin_array(&w);
		tg_jw_int(&w, (int64_t)k);
		tg_jw_strn(&w, column[i].instance, strnlen(column[i].instance, TG_INSTANCE_MAX));
		if (column[i].period_ns > 0)
			tg_jw_int(&w, TG_MIN(column[i].period_ns, TG_PERIOD_MAX_NS));
		tg_jw_end_array(&w);
	}
	tg_jw_end_array(&w);
	tg_jw_end_object(&w);
	free(first);
}

static int find_name(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return (int)i;
	return -1;
}

static char *dup_str(struct tg_table_def *t, const struct tg_json *v)
{
	const char *s = tg_json_str(v, "");

	t->bytes += strlen(s) + 1;
	return tg_xstrdup(s);
}

static int parse_metric(struct tg_table_def *t, struct tg_metric *m, const struct tg_json *v)
{
	int64_t scale = tg_json_int(tg_json_get(v, "scale"), 0);
	int kind = find_name(
		kind_name, TG_ARRAY_SIZE(kind_name), tg_json_str(tg_json_get(v, "kind"), ""));
	int scope = find_name(
		scope_name, TG_ARRAY_SIZE(scope_name), tg_json_str(tg_json_get(v, "scope"), ""));

	m->name = dup_str(t, tg_json_get(v, "name"));
	m->unit = dup_str(t, tg_json_get(v, "unit"));
	m->help = dup_str(t, tg_json_get(v, "help"));
	if (kind < 0 || scope < 0 || scale < -18 || scale > 18 || !*m->name)
		return -1;
	m->kind = (enum tg_kind)kind;
	m->scope = (enum tg_scope)scope;
	m->scale = (int)scale;
	return 0;
}

static int parse_column(struct tg_table_def *t, struct tg_column *c, const struct tg_json *v)
{
	int64_t k = tg_json_int(tg_json_at(v, 0), -1);
	const char *instance = tg_json_str(tg_json_at(v, 1), NULL);
	int64_t period = tg_json_int(tg_json_at(v, 2), 0);

	if (period < 0 || period > TG_PERIOD_MAX_NS || k < 0 || (uint64_t)k >= t->n_metrics ||
		!instance || strlen(instance) >= TG_INSTANCE_MAX)
		return -1;
	c->metric = &t->metric[k];
	memcpy(c->instance, instance, strlen(instance) + 1);
	c->period_ns = period;
	return 0;
}

struct tg_table_def *tg_table_parse(const char *json, size_t len)
{
	struct tg_json *root = tg_json_parse(json, len, NULL);
	struct tg_table_def *t = tg_xcalloc(1, sizeof(*t));
	const struct tg_json *metrics = tg_json_get(root, "metrics");
	const struct tg_json *columns = tg_json_get(root, "columns");
	int64_t number = tg_json_int(tg_json_get(root, "table"), -1);
	int r = number < 0 || number > UINT32_MAX ? -1 : 0;

	t->name = dup_str(t, tg_json_get(root, "name"));
	t->number = (uint32_t)number;
	if (tg_json_len(metrics) > TG_COLUMNS_MAX || tg_json_len(columns) > TG_COLUMNS_MAX)
		r = -1;
	if (r == 0) {
		t->metric = tg_xcalloc(tg_json_len(metrics) + 1, sizeof(*t->metric));
		t->column = tg_xcalloc(tg_json_len(columns) + 1, sizeof(*t->column));
		t->bytes += tg_json_len(metrics) * sizeof(*t->metric) +
			    tg_json_len(columns) * sizeof(*t->column);
	}
	for (size_t i = 0; r == 0 && i < tg_json_len(metrics); i++, t->n_metrics++)
		r = parse_metric(t, &t->metric[i], tg_json_at(metrics, i));
	for (size_t i = 0; r == 0 && i < tg_json_len(columns); i++, t->n_columns++)
		r = parse_column(t, &t->column[i], tg_json_at(columns, i));
	tg_json_free(root);
	if (r < 0) {
		tg_table_free(t);
		return NULL;
	}
	return t;
}

void tg_table_free(struct tg_table_def *t)
{
	if (!t)
		return;
	/* one metric more than counted was begun when parsing stopped in it; the rest is NULL */
	for (size_t i = 0; t->metric && i <= t->n_metrics; i++) {
		free((char *)t->metric[i].name);
		free((char *)t->metric[i].unit);
		free((char *)t->metric[i].help);
	}
	free(t->metric);
	free(t->column);
	free(t->name);
	free(t);
}
