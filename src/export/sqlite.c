/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An SQLite database, in one transaction and without a journal: a file that is not complete is
 * never put in place. Samples are numbers of a metric at a time, as narrow as they can be; views
 * put names and times to them. Its table `about` says what each table holds.
 */
#include <errno.h>
#include <math.h>

#include "export/export.h"

#ifdef TG_HAVE_SQLITE
#include <sqlite3.h>

#include "base/mem.h"

struct db {
	const struct tg_export *e;
	sqlite3 *db;
	sqlite3_stmt *insert;
	enum tg_export_what what;
	uint32_t session;
};

#define CELL_FIELDS                                                                                \
	"CASE field WHEN 0 THEN 'cpu_ns' WHEN 1 THEN 'rss_bytes' WHEN 2 THEN 'vms_bytes' "         \
	"WHEN 3 THEN 'hwm_bytes' WHEN 4 THEN 'read_bytes' WHEN 5 THEN 'write_bytes' "              \
	"WHEN 6 THEN 'read_ops' WHEN 7 THEN 'write_ops' WHEN 8 THEN 'threads' ELSE field END"

static const char *const schema =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
	"CREATE TABLE about (what TEXT, text TEXT);"
	"INSERT INTO about VALUES"
	"('tachograph', '" TG_VERSION "'),"
	"('times', 'seconds since 1970 UTC, or ns where the name says so'),"
	"('unknown', 'NULL, never 0'),"
	"('spans', 'cells, stages, runs with what they cost; units are in the names'),"
	"('processes', 'of the measured tree; counters since they began'),"
	"('events', 'marks, limits, notes and what else happened; event is JSON'),"
	"('metrics', 'what was sampled: value * 10^scale is in unit; a counter only grows'),"
	"('points', 'samples as they are stored; metric is metrics.id'),"
	"('samples', 'a view of them: time, metric, instance, value in unit; cell is "
	"spans.\"index\"'),"
	"('process_points', 'the same of processes; process is processes.id'),"
	"('process_samples', 'a view of them');"
	"CREATE TABLE points (time_ns INTEGER, metric INTEGER, cell INTEGER, value INTEGER);"
	"CREATE TABLE process_points (time_ns INTEGER, process INTEGER, field INTEGER, "
	"value INTEGER);";

static const char *const views =
	"CREATE VIEW samples AS SELECT time_ns / 1e9 AS time, m.metric AS metric, instance, "
	"CASE scale WHEN 0 THEN value WHEN -1 THEN value / 1e1 WHEN -2 THEN value / 1e2 "
	"WHEN -3 THEN value / 1e3 WHEN -6 THEN value / 1e6 WHEN -9 THEN value / 1e9 "
	"ELSE value * CAST('1e' || scale AS REAL) END AS value, unit, cell "
	"FROM points p JOIN metrics m ON m.id = p.metric;"
	"CREATE VIEW process_samples AS SELECT time_ns / 1e9 AS time, pid, comm, " CELL_FIELDS
	" AS field, value FROM process_points p JOIN processes q ON q.id = p.process;"
	"COMMIT;";

static int result(int rc)
{
	return rc == SQLITE_OK || rc == SQLITE_DONE ? 0
	       : rc == SQLITE_FULL                  ? -ENOSPC
	       : rc == SQLITE_NOMEM                 ? -ENOMEM
	       : rc == SQLITE_CANTOPEN              ? -EACCES
						    : -EIO;
}

static int insert(struct db *d)
{
	int rc = sqlite3_step(d->insert);

	sqlite3_reset(d->insert);
	return result(rc);
}

static int prepare(struct db *d, const char *sql)
{
	sqlite3_finalize(d->insert);
	d->insert = NULL;
	return result(sqlite3_prepare_v2(d->db, sql, -1, &d->insert, NULL));
}

/* The table that objects like this one go into, with a number of each. */
static int create(struct db *d, const struct tg_json *object)
{
	struct tg_buf sql = TG_BUF_INIT, values = TG_BUF_INIT;
	const char *key = NULL;
	int rc;

	tg_buf_addf(&sql, "CREATE TABLE %s (id INTEGER PRIMARY KEY", tg_export_name(d->what));
	tg_buf_addf(&values, "INSERT INTO %s VALUES (?", tg_export_name(d->what));
	while ((key = tg_json_next_key(object, key))) {
		tg_buf_addf(&sql, ", \"%s\"", key);
		tg_buf_adds(&values, ", ?");
	}
	tg_buf_addc(&sql, ')');
	tg_buf_addc(&values, ')');
	rc = result(sqlite3_exec(d->db, sql.data, NULL, NULL, NULL));
	if (rc == 0)
		rc = prepare(d, values.data);
	tg_buf_release(&sql);
	tg_buf_release(&values);
	return rc;
}

static void bind(sqlite3_stmt *s, int at, const struct tg_json *v)
{
	int64_t i = tg_json_int(v, INT64_MIN);
	double d = tg_json_num(v, NAN);
	struct tg_buf text = TG_BUF_INIT;

	if (i != INT64_MIN) {
		sqlite3_bind_int64(s, at, i);
	} else if (!isnan(d)) {
		sqlite3_bind_double(s, at, d);
	} else if (!v || tg_json_is_null(v)) {
		sqlite3_bind_null(s, at);
	} else if (tg_json_bool(v, false) || !tg_json_bool(v, true)) {
		sqlite3_bind_int(s, at, tg_json_bool(v, false));
	} else {
		tg_export_cell(v, &text);
		sqlite3_bind_text(s, at, text.data, (int)text.len, SQLITE_TRANSIENT);
	}
	tg_buf_release(&text);
}

static int each_object(void *ctx, size_t i, const struct tg_buf *json, const struct tg_json *object)
{
	struct db *d = ctx;
	const char *key = NULL;
	int at = 1, rc = i ? 0 : create(d, object);

	(void)json;
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(d->insert, at++, (int64_t)i + 1);
	while ((key = tg_json_next_key(object, key)))
		bind(d->insert, at++, tg_json_get(object, key));
	return insert(d);
}

/* Tables that queries name are there also when there is nothing to put into them. */
static int create_empty(struct db *d)
{
	static const char *const empty[] = {
		[TG_EXPORT_SPANS] = "{\"index\":0,\"kind\":0,\"name\":0}",
		[TG_EXPORT_PROCESSES] = "{\"pid\":0,\"comm\":0}",
		[TG_EXPORT_EVENTS] = "{\"time\":0,\"what\":0,\"event\":0}",
		[TG_EXPORT_METRICS] = "{\"metric\":0,\"instance\":0,\"unit\":0,\"scale\":0}",
	};
	struct tg_json *object = tg_json_parse(empty[d->what], strlen(empty[d->what]), NULL);
	int rc = create(d, object);

	tg_json_free(object);
	return rc;
}

static int put_objects(struct db *d)
{
	int rc = 0;

	for (int what = 0; what < TG_EXPORT_WHATS && rc == 0; what++) {
		d->what = (enum tg_export_what)what;
		sqlite3_finalize(d->insert);
		d->insert = NULL;
		rc = tg_export_objects(d->e, d->what, each_object, d);
		if (rc == 0 && !d->insert)
			rc = create_empty(d);
	}
	return rc;
}

struct rows {
	struct db *d;
	size_t n;
};

static int each_row(void *ctx, const struct tg_export_row *row)
{
	struct rows *rows = ctx;
	sqlite3_stmt *s = rows->d->insert;
	int rc = 0;

	sqlite3_bind_int64(s, 1, row->utc_ns);
	if (row->cell && row->cell->index >= 0)
		sqlite3_bind_int64(s, 3, row->cell->index);
	else
		sqlite3_bind_null(s, 3);
	for (size_t i = 0; i < rows->n && rc == 0; i++) {
		if (row->value[i] == TG_MISSING)
			continue;
		sqlite3_bind_int64(s, 2, (int64_t)i + 1);
		sqlite3_bind_int64(s, 4, row->value[i]);
		rc = insert(rows->d);
	}
	return rc;
}

static int put_samples(struct db *d, const struct tg_export_columns *columns)
{
	struct rows rows = { d, columns->n };
	int rc = prepare(d, "INSERT INTO points VALUES (?, ?, ?, ?)");

	return rc == 0 && columns->n ? tg_export_rows(d->e, columns, each_row, &rows) : rc;
}

static int each_cell(void *ctx, const struct tg_process_cell *cell)
{
	struct db *d = ctx;
	const struct tg_recording *r = d->e->recording;
	const struct tg_life *life = tg_recording_life(r, d->session, cell->entity);
	const struct tg_span_session *s = tg_recording_session(r, d->session);

	if (!life || cell->value == TG_MISSING)
		return 0;
	sqlite3_bind_int64(d->insert, 1, tg_session_utc(s, cell->t_ns));
	sqlite3_bind_int64(d->insert, 2, life - r->life + 1);
	sqlite3_bind_int64(d->insert, 3, cell->field);
	sqlite3_bind_int64(d->insert, 4, cell->value);
	return insert(d);
}

/* All of them, or those from the begin of the first chosen span to the end of the last. */
static int put_process_samples(struct db *d)
{
	const struct tg_export *e = d->e;
	int rc = prepare(d, "INSERT INTO process_points VALUES (?, ?, ?, ?)");

	for (size_t i = 0; i < e->recording->n_sessions && rc >= 0; i++) {
		int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

		d->session = e->recording->session[i].number;
		for (size_t k = 0; k < e->n_spans; k++) {
			if (e->span[k]->session != d->session)
				continue;
			from_ns = TG_MIN(from_ns, e->span[k]->begin_ns);
			to_ns = TG_MAX(to_ns, e->span[k]->end_ns);
		}
		if (e->whole || from_ns <= to_ns)
			rc = tg_reader_processes(e->recording->reader, d->session,
				e->whole ? INT64_MIN : from_ns, e->whole ? INT64_MAX : to_ns,
				each_cell, d);
	}
	return TG_MIN(rc, 0);
}

int tg_export_sqlite(const struct tg_export *e, const char *path, struct tg_err *err)
{
	struct db d = { .e = e };
	struct tg_export_columns columns;
	int rc;

	if (tg_export_chosen(e, &columns, err) < 0)
		return -ENOENT;
	rc = result(sqlite3_open(path, &d.db));
	if (rc == 0)
		rc = result(sqlite3_exec(d.db, schema, NULL, NULL, NULL));
	if (rc == 0)
		rc = put_objects(&d);
	if (rc == 0)
		rc = put_samples(&d, &columns);
	if (rc == 0 && !(e->metrics && !strcmp(e->metrics, "none")))
		rc = put_process_samples(&d);
	if (rc == 0)
		rc = result(sqlite3_exec(d.db, views, NULL, NULL, NULL));
	sqlite3_finalize(d.insert);
	if (sqlite3_close(d.db) != SQLITE_OK && rc == 0)
		rc = -EIO;
	free(columns.column);
	return tg_export_failed(e, rc, err);
}

#else

int tg_export_sqlite(const struct tg_export *e, const char *path, struct tg_err *err)
{
	(void)e;
	(void)path;
	return tg_err_set(err, -ENOTSUP,
		"This tachograph was built without SQLite: install libsqlite3-dev and build it "
		"anew");
}

#endif
