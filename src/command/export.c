/* SPDX-License-Identifier: BSD-3-Clause */
/* `export`: the samples and spans of a recording for other programs. */
#include <errno.h>
#include <sys/stat.h>

#include "command/parquet.h"
#include "command/run.h"
#include "export/export.h"

#include "base/mem.h"

struct output {
	struct tg_command *c;
	struct tg_target target;
};

static int sink(void *ctx, const char *data, size_t len)
{
	struct output *o = ctx;

	return tg_target_write(o->c, &o->target, data, len);
}

enum format {
	CSV,
	JSON,
	RAW,
	OPENMETRICS,
	SNAKEMAKE,
	NEXTFLOW, /* these go to a sink; those below to a file or folder of a name */
	SQLITE,
	PARQUET,
	FOLDER,
	NONE
};

static const struct {
	const char *name, *ending; /* of --format, and of file names; or NULL */
	int (*write)(const struct tg_export *e, struct tg_err *err);
} formats[] = {
	[CSV] = { "csv", "csv", tg_export_csv },
	[JSON] = { "json", "json", tg_export_json },
	[RAW] = { "raw", NULL, tg_export_raw },
	[OPENMETRICS] = { "openmetrics", "prom", tg_export_openmetrics },
	[SNAKEMAKE] = { "snakemake", NULL, tg_export_snakemake },
	[NEXTFLOW] = { "nextflow", NULL, tg_export_nextflow },
	[SQLITE] = { "sqlite", "sqlite", NULL },
	[PARQUET] = { "parquet", "parquet", NULL },
	[FOLDER] = { "folder", NULL, NULL },
};

static bool is_folder(const struct tg_command *c, const char *name)
{
	struct tg_buf path = TG_BUF_INIT;
	size_t len = strlen(name);
	struct stat st;
	bool yes;

	tg_resolve(c, name, &path);
	yes = (len && name[len - 1] == '/') || (stat(path.data, &st) == 0 && S_ISDIR(st.st_mode));
	tg_buf_release(&path);
	return yes;
}

/* What --format, or else the name, asks for. */
static enum format format_of(const struct tg_command *c, const char *output, const char *asked)
{
	const char *dot = strrchr(output, '.');

	if (!asked && is_folder(c, output))
		return FOLDER;
	if (!asked && !strcmp(output, "-"))
		return CSV;
	for (int i = 0; i < NONE; i++)
		if (asked ? !strcmp(asked, formats[i].name)
			  : dot && formats[i].ending && !strcmp(dot + 1, formats[i].ending))
			return (enum format)i;
	return NONE;
}

/* Without a selection: all, but of what has a line a span those that the lines are meant for. */
static int choose(struct tg_command *c, const struct tg_recording *r, const char *selection,
	enum format format, const struct tg_span ***span, size_t *n)
{
	static const char *const kind[] = { "kind=task", "kind=stage", "kind=cell", "kind=run",
		"kind=*" };
	bool lines = format == SNAKEMAKE || format == NEXTFLOW;
	int rc = TG_WORD_FAILED;

	if (selection)
		return tg_choose(c, r, selection, selection, span, n);
	for (size_t i = lines ? 0 : TG_ARRAY_SIZE(kind) - 1;
		i < TG_ARRAY_SIZE(kind) && rc == TG_WORD_FAILED; i++) {
		c->err = (struct tg_err){ 0 };
		rc = tg_choose(c, r, NULL, kind[i], span, n);
	}
	/* samples are worth having without spans, too */
	return rc == TG_WORD_FAILED && !lines ? TG_WORD_OK : rc;
}

/* One file. */
static int write_file(struct tg_command *c, struct tg_export *e, const char *name,
	int (*write)(const struct tg_export *e, struct tg_err *err), enum format format)
{
	struct output o = { .c = c };
	int rc, wrote;

	rc = tg_target_open(c, name, e->recording->path, &o.target);
	if (rc != TG_WORD_OK)
		return rc;
	e->sink = (struct tg_sink){ sink, &o };
	if (write) {
		wrote = write(e, &c->err);
	} else {
		const char *path = o.target.temp.len ? o.target.temp.data : o.target.path.data;

		wrote = format == SQLITE ? tg_export_sqlite(e, path, &c->err)
					 : tg_parquet_write(e, path, &c->err);
	}
	return tg_target_close(c, &o.target, wrote < 0 ? TG_WORD_FAILED : TG_WORD_OK);
}

static int write_spans(const struct tg_export *e, struct tg_err *err)
{
	return tg_export_csv_of(e, TG_EXPORT_SPANS, err);
}

static int write_processes(const struct tg_export *e, struct tg_err *err)
{
	return tg_export_csv_of(e, TG_EXPORT_PROCESSES, err);
}

static int write_events(const struct tg_export *e, struct tg_err *err)
{
	return tg_export_csv_of(e, TG_EXPORT_EVENTS, err);
}

static int write_metrics(const struct tg_export *e, struct tg_err *err)
{
	return tg_export_csv_of(e, TG_EXPORT_METRICS, err);
}

static int write_folder(struct tg_command *c, struct tg_export *e, const char *name)
{
	static const struct {
		const char *name;
		int (*write)(const struct tg_export *e, struct tg_err *err);
	} file[] = {
		{ "samples.csv", tg_export_csv },
		{ "spans.csv", write_spans },
		{ "processes.csv", write_processes },
		{ "events.csv", write_events },
		{ "metrics.csv", write_metrics },
	};
	struct tg_buf path = TG_BUF_INIT;
	int rc = TG_WORD_OK;

	tg_resolve(c, name, &path);
	if (mkdir(path.data, 0777) < 0 && errno != EEXIST) {
		tg_err_set(&c->err, -errno, "Cannot make the folder %.150s: %s", name,
			strerror(errno));
		rc = TG_WORD_FAILED;
	}
	for (size_t i = 0; i < TG_ARRAY_SIZE(file) && rc == TG_WORD_OK; i++) {
		tg_buf_clear(&path);
		tg_buf_addf(&path, "%s/%s", name, file[i].name);
		rc = write_file(c, e, path.data, file[i].write, CSV);
	}
	tg_buf_release(&path);
	return rc;
}

static int bad_call(struct tg_command *c, int argc, const char *output, const char *asked)
{
	tg_err_set(&c->err, -EINVAL, "%s",
		argc > 2          ? "One recording is exported at a time"
		: output && asked ? "--format is csv, json, raw, openmetrics, snakemake, nextflow, "
				    "sqlite, parquet or folder"
				  : "Where to? Say -o with a name that ends in .csv, .json, "
				    ".sqlite, .parquet, .prom or /, or -o - for the screen");
	return TG_WORD_USAGE;
}

int tg_run_export(struct tg_command *c, int argc, char **argv)
{
	const char *selection = NULL, *output = NULL, *asked = NULL;
	const struct tg_span **span = NULL;
	struct tg_recording *r = NULL;
	struct tg_export e = { 0 };
	enum format format = NONE;
	const struct tg_option option[] = {
		{ "span", 's', &selection, NULL },
		{ "output", 'o', &output, NULL },
		{ "format", 'f', &asked, NULL },
		{ "table", 0, &e.tables, NULL },
		{ "metric", 'm', &e.metrics, NULL },
		{ "raw-numbers", 0, NULL, &e.raw_numbers },
		{ "extended", 0, NULL, &e.extended },
		{ "no-code", 0, NULL, &e.no_code },
		{ "no-args", 0, NULL, &e.no_args },
	};
	int rc;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	if (output)
		format = format_of(c, output, asked);
	if (argc > 2 || format == NONE)
		return bad_call(c, argc, output, asked);
	if (format >= SQLITE && !strcmp(output, "-")) {
		tg_err_set(&c->err, -EINVAL, "%s is written to a file of a name: say -o NAME",
			formats[format].name);
		return TG_WORD_USAGE;
	}
	rc = tg_open(c, argc > 1 ? argv[1] : NULL, &r);
	if (rc != TG_WORD_OK)
		return rc;
	rc = choose(c, r, selection, format, &span, &e.n_spans);
	e.recording = r;
	e.span = span;
	/* in a notebook the file may hold other runs, which are not this kernel's */
	e.whole = !selection && c->where == TG_IN_CLI;
	if (rc == TG_WORD_OK)
		rc = format == FOLDER ? write_folder(c, &e, output)
				      : write_file(c, &e, output, formats[format].write, format);
	if (rc == TG_WORD_OK)
		tg_tell_written(c, "Exported", output);
	tg_tell_damage(c, r);
	free(span);
	tg_recording_close(r);
	return rc;
}
