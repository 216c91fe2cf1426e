/* SPDX-License-Identifier: BSD-3-Clause */
/* `report`: the whole story of a recording, or of several, in one file. */
#include <errno.h>

#include "command/run.h"
#include "report/panels.h"
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

static int take_smooth(struct tg_command *c, const char *text, double *s)
{
	char *end;

	*s = TG_SMOOTH_USUAL;
	if (!text)
		return TG_WORD_OK;
	*s = strtod(text, &end);
	if (end != text && !*end && *s >= 0 && *s <= 86400)
		return TG_WORD_OK;
	tg_err_set(&c->err, -EINVAL,
		"--smooth is a number of seconds from 0 (none) to 86400, not \"%.40s\"", text);
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
	rc = take_smooth(c, smooth, &g.o.smooth_s);
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
