/* SPDX-License-Identifier: BSD-3-Clause */
/* The recording as one JSON object, for programs: everything that a person would ask for. */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "analyze/disks.h"
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

static void whole(struct tg_jw *w, const char *key, double v)
{
	tg_jw_key(w, key);
	tg_jw_fixed(w, v, 0); /* NaN becomes null */
}

static void fraction(struct tg_jw *w, const char *key, double v, int decimals)
{
	tg_jw_key(w, key);
	tg_jw_fixed(w, v, decimals);
}

static void span_totals(const struct tg_totals *t, struct tg_jw *w)
{
	fraction(w, "wall_s", t->wall_s, 6);
	fraction(w, "cpu_s", t->cpu_s, 6);
	fraction(w, "cores_mean", t->cores_mean, 4);
	fraction(w, "cores_max", t->cores_max, 4);
	fraction(w, "cores_allowed", t->cores_allowed, 3);
	fraction(w, "cpu_pct_of_allowed", 100 * t->cores_mean / t->cores_allowed, 2);
	fraction(w, "cpu_pct_of_node", 100 * t->cores_mean / t->node_cores, 2);
	whole(w, "memory_limit_bytes", t->memory_limit_bytes);
	whole(w, "mem_peak_bytes", t->mem_peak_bytes);
	tg_jw_kstr(w, "mem_peak_is", t->mem_peak_is);
	whole(w, "rss_peak_bytes", t->rss_peak_bytes);
	whole(w, "pss_peak_bytes", t->pss_peak_bytes);
	fraction(w, "pss_age_s", t->pss_age_s, 3);
	whole(w, "vms_peak_bytes", t->vms_peak_bytes);
	whole(w, "mem_retained_bytes", t->mem_retained_bytes);
	whole(w, "file_retained_bytes", t->file_retained_bytes);
	whole(w, "read_bytes", t->read_bytes);
	whole(w, "write_bytes", t->write_bytes);
	whole(w, "read_ops", t->read_ops);
	whole(w, "write_ops", t->write_ops);
	whole(w, "net_rx_bytes", t->net_rx_bytes);
	whole(w, "net_tx_bytes", t->net_tx_bytes);
	whole(w, "nfs_read_bytes", t->nfs_read_bytes);
	whole(w, "nfs_write_bytes", t->nfs_write_bytes);
	fraction(w, "gpu_util_mean_pct", t->gpu_util_mean_pct, 2);
	whole(w, "gpu_mem_peak_bytes", t->gpu_mem_peak_bytes);
	fraction(w, "energy_j", t->energy_j, 3);
	fraction(w, "throttled_s", t->throttled_s, 6);
	whole(w, "oom_kills", t->oom_kills);
	fraction(w, "unattributed_cpu_s", t->unattributed_cpu_s, 6);
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
	/* that of a recorded command has its command line */
	if (span->attrs && !(e->no_args && strstr(span->attrs, "\"command\":")))
		tg_jw_raw(w, span->attrs, strlen(span->attrs));
	else
		tg_jw_null(w);
	tg_jw_key(w, "start");
	seconds(w, span->begin_utc_ns);
	span_totals(&totals, w);
	if (code && !e->no_code && span->code)
		tg_jw_kstr(w, "code", span->code);
	tg_jw_end_object(w);
	return 0;
}

void tg_export_events(const struct tg_recording *r, struct tg_jw *w)
{
	tg_jw_begin_array(w);
	for (size_t i = 0; i < r->n_moments; i++) {
		const struct tg_moment *m = &r->moment[i];

		tg_jw_begin_object(w);
		tg_jw_key(w, "time");
		seconds(w, m->utc_ns);
		tg_jw_kstr(w, "what", m->what);
		tg_jw_key(w, "event");
		tg_jw_raw(w, m->json, strlen(m->json));
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
}

/* "file", "machine" and "spans", which both objects begin with. */
static int head(const struct tg_export *e, bool code, struct tg_jw *w)
{
	tg_jw_kstr(w, "file", e->recording->path);
	tg_jw_key(w, "machine");
	if (e->recording->machine)
		tg_jw_raw(w, e->recording->machine, strlen(e->recording->machine));
	else
		tg_jw_null(w);
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

static void processes(const struct tg_export *e, struct tg_jw *w)
{
	const struct tg_recording *r = e->recording;

	tg_jw_begin_array(w);
	for (size_t i = 0; i < r->n_lives; i++) {
		const struct tg_life *life = &r->life[i];
		const struct tg_span_session *s = tg_recording_session(r, life->session);

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
		tg_jw_fixed(w, life->cpu_ns == TG_MISSING ? NAN : (double)life->cpu_ns / 1e9, 6);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
}

static void columns_out(
	const struct tg_recording *r, const struct tg_export_columns *columns, struct tg_jw *w)
{
	static const char *const scope[] = { "job", "node", "self" };

	tg_jw_begin_array(w);
	for (size_t i = 0; i < columns->n; i++) {
		const struct tg_metric *m = columns->column[i]->metric;

		tg_jw_begin_object(w);
		tg_jw_kstr(w, "name", m->name);
		tg_jw_kstr(w, "instance", columns->column[i]->instance);
		if (!strncmp(m->name, "disk.", 5))
			tg_disk_put_mounts(r, columns->column[i]->instance, w);
		tg_jw_kstr(w, "unit", m->unit);
		tg_jw_kstr(w, "kind", m->kind == TG_COUNTER ? "counter" : "gauge");
		tg_jw_kstr(w, "of", (size_t)m->scope < 3 ? scope[m->scope] : NULL);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
}

struct rows {
	const struct tg_export *e;
	const struct tg_export_columns *columns;
	struct tg_buf *out;
	bool some;
};

static int each_row(void *ctx, int64_t utc_ns, const struct tg_span *cell, const int64_t *value)
{
	struct rows *rows = ctx;
	struct tg_buf *out = rows->out;

	tg_buf_adds(out, rows->some ? ",\n[\"" : "\n[\"");
	rows->some = true;
	tg_utc_text(out, utc_ns);
	tg_buf_adds(out, "\",");
	if (cell && cell->index >= 0)
		tg_buf_addf(out, "%lld", (long long)cell->index);
	else
		tg_buf_adds(out, "null");
	for (size_t i = 0; i < rows->columns->n; i++) {
		tg_buf_addc(out, ',');
		if (value[i] == TG_MISSING)
			tg_buf_adds(out, "null");
		else
			tg_export_value(out, value[i], rows->columns->column[i]->metric->scale);
	}
	tg_buf_addc(out, ']');
	return out->len >= FLUSH_BYTES ? tg_export_flush(rows->e, out) : 0;
}

int tg_export_json(const struct tg_export *e, struct tg_err *err)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_export_columns columns;
	struct rows rows = { e, &columns, &out, false };
	struct tg_jw w;
	int rc;

	tg_export_columns_of(e->recording, &columns);
	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	rc = head(e, true, &w);
	if (rc == 0) {
		tg_jw_key(&w, "events");
		tg_export_events(e->recording, &w);
		tg_jw_key(&w, "processes");
		processes(e, &w);
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
	return rc < 0 ? tg_err_set(
				err, rc, "Cannot export %s: %s", e->recording->path, strerror(-rc))
		      : 0;
}
