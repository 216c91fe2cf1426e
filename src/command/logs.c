/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/logs.h"

#include <unistd.h>

#include "base/paths.h"
#include "command/run.h"
#include "import/import.h"
#include "import/write.h"

#include "base/mem.h"

static void note_logs(struct tg_command *c, const struct tg_import *im)
{
	struct tg_buf line = TG_BUF_INIT, plain = TG_BUF_INIT;

	for (size_t i = 0; i < im->n; i++) {
		tg_buf_clear(&line);
		tg_buf_clear(&plain);
		tg_import_line(im->log[i], &line);
		tg_plain(&plain, line.data, line.len);
		c->out.note(c->out.ctx, plain.data);
	}
	tg_buf_release(&line);
	tg_buf_release(&plain);
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
	tg_buf_release(&title);
	tg_buf_release(&left_out);
	return r;
}

int tg_open_logs(
	struct tg_command *c, const char *name, const char *keep, struct tg_recording **out)
{
	struct tg_buf from = TG_BUF_INIT, folder = TG_BUF_INIT, path = TG_BUF_INIT;
	struct tg_import *im = NULL;
	int r = tg_import_new(&im, &(struct tg_import_options){ 0 }, &c->err);

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
	return r < 0 ? TG_WORD_FAILED : TG_WORD_OK;
}
