/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/logs.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/paths.h"
#include "import/write.h"

#include "base/mem.h"

bool tg_logs_told(const struct tg_logs_given *g)
{
	return g->match || g->zone || g->interval || g->role.n;
}

int tg_logs_take(struct tg_command *c, const struct tg_logs_given *g, struct tg_import_options *out)
{
	char *end;
	double s = 0;

	if (g->interval) {
		s = strtod(g->interval, &end);
		if (end == g->interval || *end || !(s >= 0.001) || !(s <= 86400)) {
			tg_err_set(&c->err, -EINVAL,
				"--interval is a number of seconds from 0.001 to 86400, not "
				"\"%.40s\"",
				g->interval);
			return TG_WORD_USAGE;
		}
	}
	*out = (struct tg_import_options){ .match = g->match,
		.role = g->role.value,
		.n_roles = g->role.n,
		.zone = g->zone,
		.interval_ns = (int64_t)llround(s * 1e9) };
	return TG_WORD_OK;
}

static void note(struct tg_command *c, const char *line, size_t len)
{
	struct tg_buf plain = TG_BUF_INIT;

	tg_plain(&plain, line, len);
	c->out.note(c->out.ctx, plain.data);
	tg_buf_release(&plain);
}

static void note_logs(struct tg_command *c, const struct tg_import *im)
{
	struct tg_buf line = TG_BUF_INIT;

	for (size_t i = 0; i < im->n; i++) {
		tg_buf_clear(&line);
		tg_import_line(im->log[i], &line);
		note(c, line.data, line.len);
	}
	for (size_t i = 0; i < im->n_unknown; i++) {
		tg_buf_clear(&line);
		tg_buf_addf(&line, "%s: not recognised", im->unknown[i]);
		note(c, line.data, line.len);
	}
	tg_buf_release(&line);
}

/* A line each. */
static void note_left_out(struct tg_command *c, const struct tg_buf *left_out)
{
	for (const char *p = left_out->data; p && *p;) {
		size_t n = strcspn(p, "\n");
		char *line = tg_xmemdup0(p, n);

		note(c, line, n);
		free(line);
		p += n + (p[n] != '\0');
	}
}

static int write_and_open(struct tg_command *c, const struct tg_import *im, const char *name,
	const char *path, struct tg_recording **out)
{
	struct tg_buf title = TG_BUF_INIT, left_out = TG_BUF_INIT;
	int r;

	tg_import_name(name, &title);
	r = tg_import_write(im, path, title.data, &left_out, &c->err);
	if (r == 0)
		r = tg_recording_open(out, path, &c->err);
	if (r == 0)
		note_left_out(c, &left_out);
	tg_buf_release(&title);
	tg_buf_release(&left_out);
	return r;
}

int tg_open_logs(struct tg_command *c, const char *name, const struct tg_import_options *options,
	const char *keep, struct tg_recording **out)
{
	struct tg_buf from = TG_BUF_INIT, folder = TG_BUF_INIT, path = TG_BUF_INIT;
	struct tg_import *im = NULL;
	int r = tg_import_new(&im, options, &c->err);

	tg_resolve(c, name, &from);
	if (r == 0)
		r = tg_import_add(im, from.data, &c->err);
	if (r == 0) {
		tg_import_settle(im);
		note_logs(c, im);
		if (!keep)
			r = tg_paths_scratch(&folder);
		if (r < 0)
			tg_err_set(&c->err, r, "Cannot make the folder %s: %s", folder.data,
				strerror(-r));
		else if (keep)
			tg_resolve(c, keep, &path);
		else
			tg_buf_addf(&path, "%s/logs.tacho", folder.data);
	}
	if (r == 0) {
		r = write_and_open(c, im, name, path.data, out);
		if (!keep) {
			unlink(path.data);
			rmdir(folder.data);
		}
	}
	if (r == 0 && !keep) { /* it is called by what it was made of */
		free((*out)->path);
		(*out)->path = tg_xstrdup(name);
	}
	tg_import_free(im);
	tg_buf_release(&from);
	tg_buf_release(&folder);
	tg_buf_release(&path);
	return r == -EINVAL ? TG_WORD_USAGE : r < 0 ? TG_WORD_FAILED : TG_WORD_OK;
}
