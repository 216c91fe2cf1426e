/* SPDX-License-Identifier: BSD-3-Clause */
/* The recording as one JSON object, for programs: everything that a person would ask for. */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "analyze/disks.h"
#include "analyze/figures.h"
#include "analyze/lives.h"
#include "analyze/series.h"
#include "analyze/totals.h"
#include "base/clock.h"
#include "export/export.h"

#include "base/mem.h"

#define SUMMARY_BINS 150
#define FLUSH_BYTES  65536

static void seconds(struct tg_jw *w, int64_t utc_ns)
{
	tg_jw_fixed(w, (double)utc_ns / 1e9, 6);
}

static void fraction(struct tg_jw *w, const char *key, double v, int decimals)
{
	tg_jw_key(w, key);
	tg_jw_fixed(w, v, decimals); /* NaN becomes null */
}

static void span_totals(const struct tg_totals *t, struct tg_jw *w)
{
	size_t n;
	const struct tg_figure *figure = tg_figures(&n);

	for (size_t i = 0; i < n; i++)
		fraction(w, figure[i].name, tg_figure_of(&figure[i], t), figure[i].decimals);
	fraction(w, "cpu_pct_of_allowed", 100 * t->cores_mean / t->cores_allowed, 2);
	fraction(w, "cpu_pct_of_node", 100 * t->cores_mean / t->node_cores, 2);
	tg_jw_kstr(w, "mem_peak_is", t->mem_peak_is);
	tg_jw_kint(w, "samples", t->samples);
	tg_jw_kint(w, "missed", t->missed);
	tg_jw_kbool(w, "exact", t->exact);
	tg_jw_kbool(w, "peak_exact", t->peak_exact);
	tg_jw_key(w, "verdicts");
	tg_jw_begin_array(w);
	for (size_t i = 0; i < t->n_verdicts; i++)
		tg_jw_str(w, t->verdict[i]);
	tg_jw_end_array(w);
}

/* Of a recorded command they have its command line. */
static void span_attrs(const struct tg_export *e, const struct tg_span *span, struct tg_jw *w)
{
	struct tg_json *attrs;
	struct tg_buf value = TG_BUF_INIT;

	if (!span->attrs || !e->no_args) {
		if (span->attrs)
			tg_jw_raw(w, span->attrs, strlen(span->attrs));
		else
			tg_jw_null(w);
		return;
	}
	attrs = tg_json_parse(span->attrs, strlen(span->attrs), NULL);
	tg_jw_begin_object(w);
	for (const char *key = tg_json_next_key(attrs, NULL); key;
		key = tg_json_next_key(attrs, key)) {
		if (!strcmp(key, "command"))
			continue;
		tg_buf_clear(&value);
		tg_json_dump(tg_json_get(attrs, key), &value);
		tg_jw_key(w, key);
		tg_jw_raw(w, value.data, value.len);
	}
	tg_jw_end_object(w);
	tg_buf_release(&value);
	tg_json_free(attrs);
}

int tg_export_span(
	const struct tg_export *e, const struct tg_span *span, bool code, struct tg_jw *w)
{
	bool nameless = e->no_code && !strcmp(span->kind, "cell");
	struct tg_totals totals;
	int rc = tg_totals_of(e->recording, span, &totals);

	if (rc < 0)
		return rc;
	tg_jw_begin_object(w);
	tg_jw_key(w, "index");
	if (span->index == TG_NO_NUMBER)
		tg_jw_null(w);
	else
		tg_jw_int(w, span->index);
	tg_jw_kstr(w, "kind", span->kind);
	tg_jw_kstr(w, "name", nameless ? NULL : span->name);
	tg_jw_kstr(w, "lane", span->lane);
	tg_jw_kstr(w, "status", span->status);
	tg_jw_key(w, "attrs");
	span_attrs(e, span, w);
	tg_jw_key(w, "start");
	seconds(w, span->begin_utc_ns);
	span_totals(&totals, w);
	if (code && !e->no_code)
		tg_jw_kstr(w, "code", span->code); /* or null */
	tg_jw_end_object(w);
	return 0;
}

static void event(const struct tg_moment *m, struct tg_jw *w)
{
	tg_jw_begin_object(w);
	tg_jw_key(w, "time");
	seconds(w, m->utc_ns);
	tg_jw_kstr(w, "what", m->what);
	tg_jw_key(w, "event");
	tg_jw_raw(w, m->json, strlen(m->json));
	tg_jw_end_object(w);
}

void tg_export_events(const struct tg_recording *r, struct tg_jw *w)
{
	tg_jw_begin_array(w);
	for (size_t i = 0; i < r->n_moments; i++)
		event(&r->moment[i], w);
	tg_jw_end_array(w);
}

void tg_export_about(const struct tg_export *e, struct tg_jw *w)
{
	tg_jw_kstr(w, "file", e->recording->path);
	tg_jw_key(w, "machine");
	if (e->recording->machine)
		tg_jw_raw(w, e->recording->machine, strlen(e->recording->machine));
	else
		tg_jw_null(w);
}

/* That and "spans", which both objects begin with. */
static int head(const struct tg_export *e, bool code, struct tg_jw *w)
{
	tg_export_about(e, w);
	tg_jw_key(w, "spans");
	tg_jw_begin_array(w);
	for (size_t i = 0; i < e->n_spans; i++) {
		int rc = tg_export_span(e, e->span[i], code, w);

		if (rc < 0)
			return rc;
	}
	tg_jw_end_array(w);
	return 0;
}

/* ---- show --json ---- */

static void numbers(
	struct tg_jw *w, const char *key, const struct tg_bin *bin, size_t offset, double factor)
{
	tg_jw_key(w, key);
	tg_jw_begin_array(w);
	for (size_t j = 0; j < SUMMARY_BINS; j++)
		tg_jw_fixed(w, *(const double *)((const char *)&bin[j] + offset) * factor, 6);
	tg_jw_end_array(w);
}

/* Seconds of CPU per second are cores; other counters are so much of their unit per second. */
static int one_series(const struct tg_export *e, const struct tg_metric *m, int64_t from_ns,
	int64_t to_ns, struct tg_jw *w)
{
	struct tg_bin bin[SUMMARY_BINS];
	struct tg_points p = { 0 };
	bool ns = m->kind == TG_COUNTER && !strcmp(m->unit, "ns");
	int rc = tg_series_load(e->recording, m->name, NULL, from_ns, to_ns, SUMMARY_BINS, &p);

	if (rc == 0 && p.n) {
		tg_bins_from(&p, from_ns, to_ns, bin, SUMMARY_BINS);
		tg_jw_key(w, m->name);
		tg_jw_begin_object(w);
		tg_jw_key(w, "unit");
		if (ns)
			tg_jw_str(w, "s/s");
		else {
			struct tg_buf unit = TG_BUF_INIT;

			tg_buf_addf(&unit, "%s%s", m->unit, m->kind == TG_COUNTER ? "/s" : "");
			tg_jw_str(w, unit.data);
			tg_buf_release(&unit);
		}
		tg_jw_key(w, "from");
		seconds(w, from_ns);
		tg_jw_key(w, "to");
		seconds(w, to_ns);
		numbers(w, "min", bin, offsetof(struct tg_bin, min), ns ? 1e-9 : 1);
		numbers(w, "mean", bin, offsetof(struct tg_bin, mean), ns ? 1e-9 : 1);
		numbers(w, "max", bin, offsetof(struct tg_bin, max), ns ? 1e-9 : 1);
		tg_jw_end_object(w);
	}
	tg_points_release(&p);
	return rc == -ENOENT ? 0 : rc;
}

static int all_series(const struct tg_export *e, struct tg_jw *w)
{
	struct tg_export_columns columns;
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
	int rc = 0;

	for (size_t i = 0; i < e->n_spans; i++) {
		from_ns = TG_MIN(from_ns, e->span[i]->begin_utc_ns);
		to_ns = TG_MAX(to_ns, e->span[i]->end_utc_ns);
	}
	tg_export_columns_of(e->recording, &columns);
	for (size_t i = 0; i < columns.n && rc == 0 && from_ns < to_ns; i++) {
		const struct tg_metric *m = columns.column[i]->metric;
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = strcmp(columns.column[j]->metric->name, m->name) != 0;
		if (first) /* instances are added up */
			rc = one_series(e, m, from_ns, to_ns, w);
	}
	free(columns.column);
	return rc;
}

/* Series are of all disks together; these are those that there are. */
static void disks(const struct tg_recording *r, struct tg_jw *w)
{
	char **name;
	size_t n = tg_series_instances(r, "disk.read_bytes", &name);

	tg_jw_key(w, "disks");
	tg_jw_begin_array(w);
	for (size_t i = 0; i < n; i++) {
		tg_jw_begin_object(w);
		tg_jw_kstr(w, "name", name[i]);
		tg_disk_put_mounts(r, name[i], w);
		tg_jw_end_object(w);
		free(name[i]);
	}
	free(name);
	tg_jw_end_array(w);
}

/* After all that is read: what is lost of the recording, or null. */
static void damage(const struct tg_export *e, struct tg_jw *w)
{
	struct tg_damage d;

	tg_jw_key(w, "damage");
	if (!tg_recording_damage(e->recording, &d)) {
		tg_jw_null(w);
		return;
	}
	tg_jw_begin_object(w);
	tg_jw_kint(w, "holes", (int64_t)d.holes);
	tg_jw_kint(w, "bytes_skipped", (int64_t)d.bytes_skipped);
	tg_jw_kint(w, "lost_chunks", (int64_t)d.lost_chunks);
	tg_jw_end_object(w);
}

int tg_export_summary(const struct tg_export *e, struct tg_err *err)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;
	int rc;

	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	rc = head(e, false, &w);
	if (rc == 0) {
		tg_jw_key(&w, "series");
		tg_jw_begin_object(&w);
		rc = all_series(e, &w);
	}
	if (rc == 0) {
		tg_jw_end_object(&w);
		disks(e->recording, &w);
		tg_jw_key(&w, "tasks");
		tg_jw_null(&w);
		tg_jw_key(&w, "events");
		tg_export_events(e->recording, &w);
		damage(e, &w);
		tg_jw_end_object(&w);
		tg_buf_addc(&out, '\n');
		rc = tg_export_flush(e, &out);
	}
	tg_buf_release(&out);
	return rc < 0 ? tg_err_set(
				err, rc, "Cannot sum up %s: %s", e->recording->path, strerror(-rc))
		      : 0;
}

/* ---- export -o x.json ---- */

/* "key": value, or null. */
static void number(struct tg_jw *w, const char *key, int64_t v)
{
	tg_jw_key(w, key);
	if (v == TG_MISSING)
		tg_jw_null(w);
	else
		tg_jw_int(w, v);
}

static void process(
	const struct tg_export *e, size_t i, const struct tg_life_use *use, struct tg_jw *w)
{
	const struct tg_life *life = &e->recording->life[i];
	const struct tg_span_session *s = tg_recording_session(e->recording, life->session);

	tg_jw_begin_object(w);
	tg_jw_kint(w, "pid", life->pid);
	tg_jw_kstr(w, "comm", life->comm);
	if (!e->no_args)
		tg_jw_kstr(w, "args", life->args);
	tg_jw_key(w, "first_seen");
	seconds(w, tg_session_utc(s, life->birth_ns));
	tg_jw_key(w, "gone");
	if (life->death_ns == INT64_MAX)
		tg_jw_null(w);
	else
		seconds(w, tg_session_utc(s, life->death_ns));
	tg_jw_key(w, "cpu_s");
	tg_jw_fixed(w, use->cpu_ns == TG_MISSING ? NAN : (double)use->cpu_ns / 1e9, 6);
	number(w, "rss_peak_bytes", use->rss_peak_bytes);
	number(w, "vms_peak_bytes", use->vms_peak_bytes);
	number(w, "read_bytes", use->read_bytes);
	number(w, "write_bytes", use->write_bytes);
	number(w, "threads_max", use->threads_max);
	tg_jw_end_object(w);
}

static void processes(const struct tg_export *e, const struct tg_life_use *use, struct tg_jw *w)
{
	tg_jw_begin_array(w);
	for (size_t i = 0; i < e->recording->n_lives; i++)
		process(e, i, &use[i], w);
	tg_jw_end_array(w);
}

/* Its members without the object around them. */
static void column(const struct tg_column *c, struct tg_jw *w)
{
	static const char *const scope[] = { "job", "node", "self" };
	const struct tg_metric *m = c->metric;

	tg_jw_kstr(w, "unit", m->unit);
	tg_jw_kstr(w, "kind", m->kind == TG_COUNTER ? "counter" : "gauge");
	tg_jw_kstr(w, "of", (size_t)m->scope < 3 ? scope[m->scope] : NULL);
}

static void columns_out(
	const struct tg_recording *r, const struct tg_export_columns *columns, struct tg_jw *w)
{
	tg_jw_begin_array(w);
	for (size_t i = 0; i < columns->n; i++) {
		const struct tg_metric *m = columns->column[i]->metric;

		tg_jw_begin_object(w);
		tg_jw_kstr(w, "name", m->name);
		tg_jw_kstr(w, "instance", columns->column[i]->instance);
		if (!strncmp(m->name, "disk.", 5))
			tg_disk_put_mounts(r, columns->column[i]->instance, w);
		column(columns->column[i], w);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
}

static void metric(const struct tg_column *c, struct tg_jw *w)
{
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "metric", c->metric->name);
	tg_jw_kstr(w, "instance", c->instance);
	column(c, w);
	tg_jw_kint(w, "scale", c->metric->scale);
	tg_jw_kstr(w, "help", c->metric->help);
	tg_jw_end_object(w);
}

/* ---- one object after the other ---- */

const char *tg_export_name(enum tg_export_what what)
{
	static const char *const name[] = { "spans", "processes", "events", "metrics" };

	return name[what];
}

struct objects {
	const struct tg_export *e;
	struct tg_export_columns columns;
	struct tg_life_use *use;
	size_t n;
};

static int objects_open(struct objects *o, enum tg_export_what what)
{
	const struct tg_recording *r = o->e->recording;
	const size_t n[] = { o->e->n_spans, r->n_lives, r->n_moments };

	if (what == TG_EXPORT_METRICS) {
		int rc = tg_export_chosen(o->e, &o->columns, NULL);

		o->n = o->columns.n;
		return rc;
	}
	o->n = n[what];
	return what == TG_EXPORT_PROCESSES ? tg_lives_use(o->e->recording, &o->use) : 0;
}

static int put_object(const struct objects *o, enum tg_export_what what, size_t i, struct tg_jw *w)
{
	if (what == TG_EXPORT_SPANS)
		return tg_export_span(o->e, o->e->span[i], true, w);
	if (what == TG_EXPORT_PROCESSES)
		process(o->e, i, &o->use[i], w);
	else if (what == TG_EXPORT_EVENTS)
		event(&o->e->recording->moment[i], w);
	else
		metric(o->columns.column[i], w);
	return 0;
}

int tg_export_objects(const struct tg_export *e, enum tg_export_what what,
	int (*each)(void *ctx, size_t i, const struct tg_buf *json, const struct tg_json *object),
	void *ctx)
{
	struct objects o = { .e = e };
	struct tg_buf text = TG_BUF_INIT;
	int rc = objects_open(&o, what);

	for (size_t i = 0; i < o.n && rc == 0; i++) {
		struct tg_json *object;
		struct tg_jw w;

		tg_buf_clear(&text);
		tg_jw_init(&w, &text);
		rc = put_object(&o, what, i, &w);
		if (rc < 0)
			break;
		object = tg_json_parse(text.data, text.len, NULL);
		rc = object ? each(ctx, i, &text, object) : -EBADMSG;
		tg_json_free(object);
	}
	tg_buf_release(&text);
	free(o.columns.column);
	free(o.use);
	return rc;
}

void tg_export_cell(const struct tg_json *v, struct tg_buf *out)
{
	const char *s = tg_json_str(v, NULL);
	struct tg_jw w;

	if (s) {
		tg_buf_adds(out, s);
	} else if (tg_json_int(v, INT64_MIN) == INT64_MIN && !isnan(tg_json_num(v, NAN))) {
		tg_jw_init(&w, out);
		tg_jw_num(&w, tg_json_num(v, NAN)); /* the fewest digits that read back */
	} else if (v && !tg_json_is_null(v)) {
		tg_json_dump(v, out);
	}
}

/* ---- rows ---- */

struct rows {
	const struct tg_export *e;
	const struct tg_export_columns *columns;
	struct tg_buf *out;
	bool some;
};

static int each_row(void *ctx, const struct tg_export_row *row)
{
	struct rows *rows = ctx;
	struct tg_buf *out = rows->out;

	tg_buf_adds(out, rows->some ? ",\n[\"" : "\n[\"");
	rows->some = true;
	tg_utc_text(out, row->utc_ns);
	tg_buf_adds(out, "\",");
	if (row->cell && row->cell->index >= 0)
		tg_buf_addf(out, "%lld", (long long)row->cell->index);
	else
		tg_buf_adds(out, "null");
	for (size_t i = 0; i < rows->columns->n; i++) {
		tg_buf_addc(out, ',');
		if (row->value[i] == TG_MISSING)
			tg_buf_adds(out, "null");
		else
			tg_export_value(
				out, row->value[i], rows->columns->column[i]->metric->scale);
	}
	tg_buf_addc(out, ']');
	return out->len >= FLUSH_BYTES ? tg_export_flush(rows->e, out) : 0;
}

int tg_export_json(const struct tg_export *e, struct tg_err *err)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_export_columns columns;
	struct rows rows = { e, &columns, &out, false };
	struct tg_life_use *use = NULL;
	struct tg_jw w;
	int rc;

	if (tg_export_chosen(e, &columns, err) < 0)
		return -ENOENT;
	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	rc = head(e, true, &w);
	if (rc == 0)
		rc = tg_lives_use(e->recording, &use);
	if (rc == 0) {
		tg_jw_key(&w, "events");
		tg_export_events(e->recording, &w);
		tg_jw_key(&w, "processes");
		processes(e, use, &w);
		tg_jw_kstr(&w, "note",
			"rows: time (UTC), cell, then one value a column; counters only grow, a "
			"rate is their difference over the difference of times; null is unknown");
		tg_jw_key(&w, "columns");
		columns_out(e->recording, &columns, &w);
		/* the rows are written past the writer, in pieces */
		tg_buf_adds(&out, ",\"rows\":[");
		rc = tg_export_rows(e, &columns, each_row, &rows);
	}
	if (rc == 0) {
		tg_buf_adds(&out, "]}\n");
		rc = tg_export_flush(e, &out);
	}
	tg_buf_release(&out);
	free(columns.column);
	free(use);
	return tg_export_failed(e, rc, err);
}
