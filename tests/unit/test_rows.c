/* SPDX-License-Identifier: BSD-3-Clause */
/* Exported rows name the right one of many spans that overlap, and none is left out or too many. */
#include "run.h"

#include "base/clock.h"
#include "export/export.h"

#include "base/mem.h"

#define SPANS  10000
#define ROWS   20000
#define LAST   (ROWS * TG_NS_PER_MS)
#define EDGE   INT64_C(300000) /* a row that much behind an edge is the edge's */
#define CHOSEN 700 /* every so manieth, when not all are */

struct seen {
	const struct tg_export *e;
	size_t n, wrong;
	int64_t last_ns;
};

static void write_all(const char *path)
{
	static const char *const kind[] = { "cell", "task", "stage", "cell" };
	const struct tg_metric metric = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL };
	const struct tg_column column = { .metric = &metric };
	struct tg_block *b = tg_block_new(1, 1, 100);
	struct tg_buf lines = TG_BUF_INIT;
	struct tg_writer *w;
	uint64_t seed = 5;

	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", &column, 1), 0);
	for (int i = 1; i <= SPANS; i++) {
		int64_t begin = RUN_T0 + (int64_t)(t_random(&seed) % LAST);
		int64_t wall = (int64_t)(t_random(&seed) % (i % 50 ? 5000000 : 2000000000));

		tg_buf_addf(&lines,
			"{\"ev\":\"begin\",\"t\":%lld,\"span\":%d,\"kind\":\"%s\"}\n"
			"{\"ev\":\"end\",\"t\":%lld,\"span\":%d,\"status\":\"ok\"}\n",
			(long long)begin, i, kind[i % 4], (long long)(begin + wall), i);
	}
	T_EQ_I(tg_writer_events(w, lines.data, lines.len), 0);
	for (int64_t row = 0; row < ROWS; row++) {
		tg_block_add(b, RUN_T0 + row * TG_NS_PER_MS, &row);
		if (b->n_rows == 100) {
			T_EQ_I(tg_writer_block(w, b), 0);
			b->n_rows = 0;
		}
	}
	T_EQ_I(tg_writer_finish(w), 0);
	tg_block_free(b);
	tg_buf_release(&lines);
}

static bool holds(const struct tg_span *s, int64_t utc_ns)
{
	return s->begin_utc_ns <= utc_ns && s->end_utc_ns + EDGE >= utc_ns;
}

static int each_row(void *ctx, const struct tg_export_row *row)
{
	struct seen *seen = ctx;
	const struct tg_span *best = NULL;
	bool covered = seen->e->whole;

	for (size_t i = 0; i < seen->e->n_spans; i++) {
		const struct tg_span *s = seen->e->span[i];

		if (!holds(s, row->utc_ns))
			continue;
		covered = true;
		if (strcmp(s->kind, "task") != 0 &&
			(!best || s->begin_utc_ns >= best->begin_utc_ns))
			best = s;
	}
	seen->wrong += row->cell != best || !covered || row->utc_ns <= seen->last_ns ||
		       *row->value == TG_MISSING;
	seen->last_ns = row->utc_ns;
	seen->n++;
	return 0;
}

/* How many rows come. */
static size_t rows_of(struct tg_recording *r, size_t step, bool whole)
{
	const struct tg_span **span = tg_xcalloc(r->n_spans, sizeof(*span));
	struct tg_export e = { .recording = r, .span = span, .whole = whole };
	struct seen seen = { .e = &e };
	struct tg_export_columns columns;

	for (size_t i = 0; i < r->n_spans; i += step)
		span[e.n_spans++] = &r->span[i];
	tg_export_columns_of(r, &columns);
	T_EQ_I(tg_export_rows(&e, &columns, each_row, &seen), 0);
	T_EQ_I(seen.wrong, 0);
	free(columns.column);
	free(span);
	return seen.n;
}

int main(void)
{
	struct tg_recording *r;
	size_t covered = 0;

	write_all(run_path("many.tacho"));
	T_EQ_I(tg_recording_open(&r, run_path("many.tacho"), NULL), 0);
	T_EQ_I(r->n_spans, SPANS);
	T_EQ_I(rows_of(r, 1, true), ROWS);
	for (int64_t row = 0; row < ROWS; row++) {
		int64_t utc_ns = tg_session_utc(&r->session[0], RUN_T0 + row * TG_NS_PER_MS);
		bool yes = false;

		for (size_t i = 0; i < r->n_spans && !yes; i += CHOSEN)
			yes = holds(&r->span[i], utc_ns);
		covered += yes;
	}
	T_OK(covered > 0 && covered < ROWS);
	T_EQ_I(rows_of(r, CHOSEN, false), covered);
	tg_recording_close(r);
	unlink(run_path("many.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
