/* SPDX-License-Identifier: BSD-3-Clause */
/* `report`: the whole story of a recording, or of several, in one file. */
#include <errno.h>

#include "command/logs.h"
#include "command/run.h"
#include "report/report.h"

#include "base/mem.h"

#define FILES_MAX 64

struct given {
	struct tg_report_options o;
	const char *output;
	bool open;
	struct tg_import_options logs;
};

/* "run.tacho" becomes "run.html", in the folder of whoever asks. */
static char *name_for(const char *path)
{
	const char *base = strrchr(path, '/'), *dot;
	struct tg_buf name = TG_BUF_INIT;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	tg_buf_add(&name, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
	tg_buf_adds(&name, ".html");
	return tg_buf_detach(&name);
}

/*
 * A recording as seen from the notebook: by its name alone in the same folder, so that both can be
 * moved together, else by all of its path.
 */
static char *seen_from(const char *notebook_folder, const char *recording)
{
	char *path = realpath(recording, NULL), *base, *name;

	if (!path)
		return tg_xstrdup(recording);
	base = strrchr(path, '/');
	*base = '\0';
	name = tg_xstrdup(!strcmp(path, notebook_folder) ? base + 1 : "");
	if (!name[0]) {
		free(name);
		*base = '/';
		name = tg_xstrdup(path);
	}
	free(path);
	return name;
}

static void put_notebook(
	struct tg_command *c, const struct tg_report *report, const char *name, struct tg_buf *data)
{
	const char **seen = tg_xcalloc(report->n_files, sizeof(*seen));
	struct tg_buf path = TG_BUF_INIT;
	char *slash, *folder;

	tg_resolve(c, name, &path);
	slash = strrchr(path.data, '/');
	if (slash)
		*slash = '\0';
	folder = realpath(slash ? path.data : ".", NULL);
	for (size_t i = 0; i < report->n_files; i++)
		seen[i] = seen_from(folder ? folder : "", report->file[i]);
	tg_report_notebook(report, seen, data);
	for (size_t i = 0; i < report->n_files; i++)
		free((char *)seen[i]);
	free(seen);
	free(folder);
	tg_buf_release(&path);
}

bool tg_is_report_name(const char *name)
{
	return tg_ends_with(name, ".html") || tg_ends_with(name, ".ipynb");
}

static int check_output(struct tg_command *c, const char *output)
{
	if (!output || tg_is_report_name(output) || !strcmp(output, "-"))
		return TG_WORD_OK;
	tg_err_set(&c->err, -EINVAL,
		"A report is a page or a notebook: say -o with a name that ends in .html or "
		".ipynb");
	return TG_WORD_USAGE;
}

static int write_report(
	struct tg_command *c, struct tg_recording *const *r, size_t n, const struct given *g)
{
	struct tg_report report;
	struct tg_buf data = TG_BUF_INIT;
	char *name = g->output ? tg_xstrdup(g->output) : name_for(r[0]->path);
	int rc = tg_report_build(&report, r, n, &g->o, &c->err) < 0 ? TG_WORD_FAILED : TG_WORD_OK;

	if (rc == TG_WORD_OK) {
		if (tg_ends_with(name, ".ipynb"))
			put_notebook(c, &report, name, &data);
		else
			tg_report_html(&report, &data);
		rc = tg_write_result(c, name, r[0]->path, data.data, data.len);
	}
	if (rc == TG_WORD_OK)
		tg_tell_written(c, "Reported", name);
	if (rc == TG_WORD_OK && g->open && c->open_file)
		c->open_file(c, name);
	tg_report_release(&report);
	tg_buf_release(&data);
	free(name);
	return rc;
}

/* The recordings that are reported. */
struct set {
	struct tg_recording *r[FILES_MAX];
	size_t n;
	bool of_logs; /* one of them at least */
};

static int add_recording(struct tg_command *c, const char *name, struct set *set)
{
	int rc;

	if (set->n == FILES_MAX) {
		tg_err_set(&c->err, -E2BIG, "A report is of %d recordings at most", FILES_MAX);
		return TG_WORD_FAILED;
	}
	rc = tg_open(c, name, &set->r[set->n]);
	set->n += rc == TG_WORD_OK;
	return rc;
}

/* Logs that other tools took. A notebook needs them as a recording beside it. */
static int add_logs(struct tg_command *c, const char *name, const struct given *g, struct set *set)
{
	char *keep = NULL;
	int rc;

	if (set->n == FILES_MAX)
		return add_recording(c, name, set);
	if (g->output && tg_ends_with(g->output, ".ipynb")) {
		struct tg_buf path = TG_BUF_INIT;

		tg_buf_add(&path, g->output, strlen(g->output) - strlen(".ipynb"));
		if (set->n)
			tg_buf_addf(&path, "-%zu", set->n + 1);
		tg_buf_adds(&path, ".tacho");
		keep = tg_buf_detach(&path);
	}
	rc = tg_open_logs(c, name, &g->logs, keep, &set->r[set->n]);
	set->n += rc == TG_WORD_OK;
	set->of_logs = true;
	free(keep);
	return rc;
}

static int add_file(struct tg_command *c, const char *name, const struct given *g, struct set *set)
{
	return tg_is_recording(name) ? add_recording(c, name, set) : add_logs(c, name, g, set);
}

/* The recordings in a folder, or where it has none, what logs it has. */
static int add_folder(
	struct tg_command *c, const char *name, const struct given *g, struct set *set)
{
	char **file = NULL;
	size_t n = tg_list_folder(c, name, &file);
	int rc = TG_WORD_OK;

	if (!n) {
		c->err.text[0] = '\0';
		return add_logs(c, name, g, set);
	}
	for (size_t i = 0; i < n; i++) {
		if (rc == TG_WORD_OK)
			rc = add_recording(c, file[i], set);
		free(file[i]);
	}
	free(file);
	return rc;
}

int tg_run_report(struct tg_command *c, int argc, char **argv)
{
	struct set set = { .n = 0 };
	struct given g = { .open = false };
	struct tg_logs_given logs = { .match = NULL };
	const char *smooth = NULL;
	const struct tg_option option[] = {
		{ "output", 'o', &g.output, NULL },
		{ "smooth", 0, &smooth, NULL },
		{ "open", 0, NULL, &g.open },
		{ "no-code", 0, NULL, &g.o.no_code },
		{ "no-args", 0, NULL, &g.o.no_args },
		TG_LOGS_OPTIONS(logs),
	};
	int rc;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	rc = check_output(c, g.output);
	if (rc == TG_WORD_OK)
		rc = tg_take_smooth(c, smooth, &g.o.smooth_s);
	if (rc == TG_WORD_OK)
		rc = tg_logs_take(c, &logs, &g.logs);
	if (rc == TG_WORD_OK && argc < 2) {
		rc = tg_open(c, NULL, &set.r[0]);
		set.n = rc == TG_WORD_OK;
	}
	for (int i = 1; i < argc && rc == TG_WORD_OK; i++)
		rc = tg_is_folder(c, argv[i]) ? add_folder(c, argv[i], &g, &set)
					      : add_file(c, argv[i], &g, &set);
	if (rc == TG_WORD_OK && tg_logs_told(&logs) && !set.of_logs) {
		tg_err_set(&c->err, -EINVAL,
			"--match, --role, --tz and --interval say how logs are read, and there are "
			"none here");
		rc = TG_WORD_USAGE;
	}
	if (rc == TG_WORD_OK)
		rc = write_report(c, set.r, set.n, &g);
	for (size_t i = 0; i < set.n; i++) {
		tg_tell_damage(c, set.r[i]);
		tg_recording_close(set.r[i]);
	}
	return rc;
}
