/* SPDX-License-Identifier: BSD-3-Clause */
/* `show`: a line a span; a line a file where there are several; or all of it as JSON. */
#include <errno.h>
#include <math.h>

#include "analyze/moments.h"
#include "analyze/series.h"
#include "analyze/window.h"
#include "base/end.h"
#include "base/json.h"
#include "command/grid.h"
#include "command/repeats.h"
#include "command/run.h"
#include "export/export.h"
#include "report/format.h"

#include "base/mem.h"

#define SPARK_BINS 8
#define NAME_CHARS 36
#define CELLS      9
#define END_CHARS  600 /* of the evidence for how a process ended */

static const char *const head[CELLS] = { "#", "cores over time", "wall", "cores", "of allowed",
	"peak", "read", "written", "" };

#define LEFT (1u << 1 | 1u << (CELLS - 1))

static void spark(struct tg_recording *r, const struct tg_span *span, const struct tg_totals *t,
	struct tg_buf *out)
{
	struct tg_points p = { 0 };
	struct tg_bin bin[SPARK_BINS];
	double v[SPARK_BINS], top = t->cores_max;

	/* what is shorter than the rates it is made of has no course */
	if (span->end_utc_ns - span->begin_utc_ns >= SPARK_BINS * TG_RATE_MIN_NS &&
		tg_series_load(r, "tree.cpu_ns", NULL, span->begin_utc_ns, span->end_utc_ns,
			SPARK_BINS, &p) == 0) {
		tg_points_window(&p, span->begin_utc_ns, span->end_utc_ns);
		tg_bins_from(&p, span->begin_utc_ns, span->end_utc_ns, bin, SPARK_BINS);
		for (size_t i = 0; i < SPARK_BINS; i++)
			v[i] = bin[i].mean / 1e9;
		/* of what is allowed, when that is known: full height is a full machine */
		if (!isnan(t->cores_allowed))
			top = t->cores_allowed;
		tg_fmt_spark(out, v, SPARK_BINS, top);
	}
	tg_points_release(&p);
}

static void describe(const struct tg_span *span, const struct tg_totals *t, struct tg_buf *out)
{
	const char *status = strcmp(span->status, "unknown") != 0 ? span->status : "end unknown";

	if (span->name || span->code)
		tg_span_title(out, span, NAME_CHARS);
	else
		tg_plain(out, span->kind, NAME_CHARS);
	if (strcmp(span->status, "ok") != 0) {
		tg_buf_adds(out, out->len ? " · " : "");
		tg_plain(out, status, 20);
	}
	for (size_t i = 0; i < t->n_verdicts; i++)
		if (strcmp(t->verdict[i], span->status) != 0)
			tg_buf_addf(out, " · %s", t->verdict[i]);
}

/* Append to a file's line that something of it is lost. */
static void describe_damage(struct tg_recording *r, struct tg_buf *out)
{
	struct tg_damage damage;

	if (tg_recording_damage(r, &damage))
		tg_buf_adds(out, out->len ? " · damaged" : "damaged");
}

/* With `file`, the line of a file, which also counts for `repeats`. */
static int add_span(struct tg_command *c, struct tg_recording *r, const struct tg_span *span,
	const char *file, struct tg_grid *g, struct tg_repeats *repeats)
{
	struct tg_buf b = TG_BUF_INIT;
	struct tg_totals t;
	int rc = tg_totals_of(r, span, &t);

	if (rc < 0) {
		tg_err_set(&c->err, rc, "Cannot read %s: %s", r->path, strerror(-rc));
		return TG_WORD_FAILED;
	}
	if (file)
		tg_plain(&b, file, 60);
	else if (span->index == TG_NO_NUMBER)
		tg_plain(&b, span->kind, 20);
	else
		tg_buf_addf(&b, "%lld", (long long)span->index);
	tg_grid_add(g, &b);
	spark(r, span, &t, &b);
	tg_grid_add(g, &b);
	tg_fmt_seconds(&b, t.wall_s);
	tg_grid_add(g, &b);
	tg_fmt_about(&b, &t, t.cores_mean);
	tg_fmt_number(&b, t.cores_mean);
	tg_grid_add(g, &b);
	tg_fmt_about(&b, &t, t.cores_mean / t.cores_allowed);
	tg_fmt_pct(&b, t.cores_mean, t.cores_allowed);
	tg_grid_add(g, &b);
	tg_fmt_peak(&b, &t);
	tg_grid_add(g, &b);
	tg_fmt_about(&b, &t, t.read_bytes);
	tg_fmt_bytes(&b, t.read_bytes);
	tg_grid_add(g, &b);
	tg_fmt_about(&b, &t, t.write_bytes);
	tg_fmt_bytes(&b, t.write_bytes);
	tg_grid_add(g, &b);
	describe(span, &t, &b);
	if (file)
		describe_damage(r, &b);
	tg_grid_add(g, &b);
	if (repeats && span->name)
		tg_repeats_add(repeats, span, &t);
	return TG_WORD_OK;
}

/* The line of a file in which nothing happened, or is left. */
static void add_nothing(struct tg_recording *r, const char *file, struct tg_grid *g)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_plain(&b, file, 60);
	tg_grid_add(g, &b);
	for (int i = 1; i < CELLS - 1; i++) {
		tg_buf_adds(&b, i == 1 ? "" : "–");
		tg_grid_add(g, &b);
	}
	tg_buf_adds(&b, "nothing was recorded");
	describe_damage(r, &b);
	tg_grid_add(g, &b);
}

static bool was_wanted(const struct tg_json *root_end)
{
	return tg_json_bool(tg_json_get(root_end, "asked"), false) &&
	       strcmp(tg_json_str(tg_json_get(root_end, "oom"), ""), "yes") != 0;
}

/*
 * How the processes ended in which the spans ran, where it was not as they should: "Process 4711
 * was killed by signal 9 (SIGKILL). Out of memory: yes: …". One that was asked to end may need a
 * signal for it.
 */
static void tell_ends(struct tg_command *c, const struct tg_recording *r,
	const struct tg_span *const *span, size_t n)
{
	const struct tg_moment **end;
	size_t n_ends = tg_moments_of(r, "root_end", span, n, &end);

	for (size_t i = 0; i < n_ends; i++) {
		struct tg_json *e = tg_json_parse(end[i]->json, strlen(end[i]->json), NULL);
		int code = (int)tg_json_int(tg_json_get(e, "exit"), 0);
		int signal = (int)tg_json_int(tg_json_get(e, "signal"), 0);
		struct tg_buf line = TG_BUF_INIT;

		if ((code || signal) && !was_wanted(e)) {
			tg_buf_addf(&line, "Process %lld ",
				(long long)tg_json_int(tg_json_get(e, "pid"), 0));
			tg_end_words(code, signal, &line);
			tg_buf_addf(&line, ". ");
			tg_plain(&line, tg_json_str(tg_json_get(e, "text"), ""), END_CHARS);
			while (line.data[line.len - 1] == ' ')
				line.data[--line.len] = '\0';
			tg_buf_adds(&line, "\n");
			c->out.text(c->out.ctx, line.data, line.len);
		}
		tg_json_free(e);
		tg_buf_release(&line);
	}
	free(end);
}

/*
 * The marks, in the time of the first span: of all that happened in the runs of the spans, which
 * may be before the first cell or behind the last one; or, where spans were `selected`, those from
 * the first to the last of them, as in a chart.
 */
static void tell_marks(struct tg_command *c, const struct tg_recording *r,
	const struct tg_span *const *span, size_t n, bool selected)
{
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
	const struct tg_moment **mark;
	struct tg_buf line = TG_BUF_INIT;
	size_t n_marks;

	for (size_t i = 0; i < n; i++) {
		from_ns = TG_MIN(from_ns, span[i]->begin_utc_ns);
		to_ns = TG_MAX(to_ns, span[i]->end_utc_ns);
	}
	n_marks = selected ? tg_marks_of(r, from_ns, to_ns, &mark)
			   : tg_moments_of(r, "mark", span, n, &mark);
	for (size_t i = 0; i < n_marks && i < TG_MARKS_TOLD; i++) {
		double at_s = (double)(mark[i]->utc_ns - from_ns) / 1e9;

		tg_buf_adds(&line, at_s < 0 ? "Mark at −" : "Mark at ");
		tg_fmt_seconds(&line, fabs(at_s));
		tg_buf_adds(&line, ": ");
		tg_moment_label(mark[i], &line);
		tg_buf_addc(&line, '\n');
	}
	if (n_marks > TG_MARKS_TOLD) {
		tg_fmt_count(&line, n_marks - TG_MARKS_TOLD, "more mark");
		tg_buf_addc(&line, '\n');
	}
	if (line.len)
		c->out.text(c->out.ctx, line.data, line.len);
	tg_buf_release(&line);
	free(mark);
}

static int show_spans(struct tg_command *c, const char *file, const char *selection)
{
	struct tg_recording *r;
	const struct tg_span **span = NULL;
	struct tg_grid g = { .head = head, .columns = CELLS, .left = LEFT };
	size_t n;
	int rc = tg_open(c, file, &r);

	if (rc != TG_WORD_OK)
		return rc;
	rc = tg_choose(c, r, selection, "all", &span, &n);
	if (rc == TG_WORD_FAILED && !selection) {
		/* no cells: the run itself is all there is to show */
		c->err.text[0] = '\0';
		rc = tg_choose(c, r, NULL, "kind=run", &span, &n);
		if (rc == TG_WORD_FAILED)
			tg_err_set(&c->err, -ENOENT, "Nothing was recorded yet");
	}
	for (size_t i = 0; i < n && rc == TG_WORD_OK; i++)
		rc = add_span(c, r, span[i], NULL, &g, NULL);
	if (rc == TG_WORD_OK) {
		tg_grid_print(c, &g);
		tell_marks(c, r, span, n, selection != NULL);
		tell_ends(c, r, span, n);
		tg_tell_damage(c, r);
	}
	tg_grid_release(&g);
	free(span);
	tg_recording_close(r);
	return rc;
}

static int sink_text(void *ctx, const char *data, size_t len)
{
	struct tg_command *c = ctx;

	c->out.text(c->out.ctx, data, len);
	return 0;
}

static int show_json(struct tg_command *c, const char *file, const char *selection)
{
	struct tg_recording *r;
	const struct tg_span **span = NULL;
	struct tg_export e = { .sink = { sink_text, c } };
	int rc = tg_open(c, file, &r);

	if (rc != TG_WORD_OK)
		return rc;
	rc = tg_choose(c, r, selection, "kind=*", &span, &e.n_spans);
	if (rc == TG_WORD_FAILED && !selection)
		rc = TG_WORD_OK; /* an empty list is the answer */
	e.recording = r;
	e.span = span;
	if (rc == TG_WORD_OK && tg_export_summary(&e, &c->err) < 0)
		rc = TG_WORD_FAILED;
	tg_tell_damage(c, r);
	free(span);
	tg_recording_close(r);
	return rc;
}

/* ---- several files ---- */

/* What failed for one of many is a note, and the others go on. */
static int note_failure(struct tg_command *c)
{
	struct tg_buf why = TG_BUF_INIT;

	tg_plain(&why, c->err.text, sizeof(c->err.text));
	c->out.note(c->out.ctx, why.data);
	c->err.text[0] = '\0';
	tg_buf_release(&why);
	return TG_WORD_FAILED;
}

/* One line for a file: its last run, or all that happened in it. */
static int add_file(
	struct tg_command *c, const char *file, struct tg_grid *g, struct tg_repeats *repeats)
{
	struct tg_command quiet = *c;
	struct tg_recording *r;
	const struct tg_span *run;
	const char *base = strrchr(file, '/');
	struct tg_buf kind = TG_BUF_INIT;
	struct tg_span all;
	int rc = tg_open(&quiet, file, &r);

	if (rc != TG_WORD_OK)
		return note_failure(&quiet);
	run = tg_whole(r, &all, &kind);
	base = base ? base + 1 : file;
	if (!run)
		add_nothing(r, base, g);
	else if (add_span(&quiet, r, run, base, g, repeats) != TG_WORD_OK)
		rc = note_failure(&quiet);
	tg_buf_release(&kind);
	tg_recording_close(r);
	return rc;
}

static int show_files(struct tg_command *c, int n, char **name)
{
	const char *file_head[CELLS];
	struct tg_grid g = { .head = file_head, .columns = CELLS, .left = LEFT | 1 };
	struct tg_repeats repeats = { 0 };
	int result = TG_WORD_OK;

	memcpy(file_head, head, sizeof(head));
	file_head[0] = "file";
	for (int i = 0; i < n; i++) {
		char **file = NULL;
		size_t n_files;

		if (!tg_is_folder(c, name[i])) {
			if (add_file(c, name[i], &g, &repeats) != TG_WORD_OK)
				result = TG_WORD_FAILED;
			continue;
		}
		n_files = tg_list_folder(c, name[i], &file);
		if (!n_files && n > 1)
			note_failure(c);
		if (!n_files)
			result = TG_WORD_FAILED;
		for (size_t k = 0; k < n_files; k++) {
			if (add_file(c, file[k], &g, &repeats) != TG_WORD_OK)
				result = TG_WORD_FAILED;
			free(file[k]);
		}
		free(file);
	}
	if (g.n)
		tg_grid_print(c, &g);
	tg_repeats_print(c, &repeats);
	tg_repeats_release(&repeats);
	tg_grid_release(&g);
	return result;
}

int tg_run_show(struct tg_command *c, int argc, char **argv)
{
	const char *selection = NULL;
	bool json = false;
	const struct tg_option option[] = {
		{ "span", 's', &selection, NULL },
		{ "json", 'j', NULL, &json },
	};

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	if (argc > 2 || (argc == 2 && tg_is_folder(c, argv[1]))) {
		if (!json && !selection)
			return show_files(c, argc - 1, argv + 1);
		tg_err_set(&c->err, -EINVAL, "--span and --json want one recording");
		return TG_WORD_USAGE;
	}
	return json ? show_json(c, argc > 1 ? argv[1] : NULL, selection)
		    : show_spans(c, argc > 1 ? argv[1] : NULL, selection);
}
