/* SPDX-License-Identifier: BSD-3-Clause */
/* `report`: the whole story of a recording, or of several, in one file. */
#include <errno.h>

#include "command/run.h"
#include "report/report.h"

#include "base/mem.h"

#define FILES_MAX 64

struct given {
	struct tg_report_options o;
	const char *output;
	bool open;
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

int tg_run_report(struct tg_command *c, int argc, char **argv)
{
	struct tg_recording *r[FILES_MAX] = { NULL };
	struct given g = { .open = false };
	const char *smooth = NULL;
	const struct tg_option option[] = {
		{ "output", 'o', &g.output, NULL },
		{ "smooth", 0, &smooth, NULL },
		{ "open", 0, NULL, &g.open },
		{ "no-code", 0, NULL, &g.o.no_code },
		{ "no-args", 0, NULL, &g.o.no_args },
	};
	size_t n = 0;
	int rc;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	rc = check_output(c, g.output);
	if (rc == TG_WORD_OK)
		rc = tg_take_smooth(c, smooth, &g.o.smooth_s);
	for (int i = 1; (i < argc || i == 1) && n < FILES_MAX && rc == TG_WORD_OK; i++) {
		rc = tg_open(c, i < argc ? argv[i] : NULL, &r[n]);
		n += rc == TG_WORD_OK;
	}
	if (rc == TG_WORD_OK)
		rc = write_report(c, r, n, &g);
	for (size_t i = 0; i < n; i++) {
		tg_tell_damage(c, r[i]);
		tg_recording_close(r[i]);
	}
	return rc;
}
