/* SPDX-License-Identifier: BSD-3-Clause */
/* `verify`: is this recording whole, and what is lost when it is not. */
#include <errno.h>

#include "command/run.h"
#include "record/reader.h"
#include "report/format.h"

#include "base/mem.h"

static bool is_damaged(const struct tg_damage *d)
{
	return d->holes || d->lost_chunks;
}

static void say(struct tg_buf *out, const char *name, const struct tg_damage *d)
{
	tg_plain(out, name, 200);
	if (is_damaged(d)) {
		tg_buf_adds(out, " is damaged: ");
		tg_damage_text(d, out);
		tg_buf_adds(out, "; ");
		tg_fmt_count(out, d->chunks, "chunk");
		tg_buf_adds(out, d->chunks == 1 ? " is good\n" : " are good\n");
	} else {
		tg_buf_adds(
			out, d->tail_bytes ? " is whole up to its last chunk: " : " is whole: ");
		tg_fmt_count(out, d->chunks, "chunk");
		tg_buf_adds(out, d->chunks == 1 ? " with its checksum\n"
						: ", every one with its checksum\n");
	}
	if (d->tail_bytes) {
		tg_buf_adds(out, "The last chunk is incomplete (");
		tg_fmt_count(out, d->tail_bytes, "byte");
		tg_buf_adds(out, "): at most one second of a cell, or ten between cells, is "
				 "missing\n");
	}
	if (!d->ended)
		tg_buf_adds(out, "There is no end chunk: the recorder is at work still, or it was "
				 "killed\n");
}

int tg_run_verify(struct tg_command *c, int argc, char **argv)
{
	struct tg_buf path = TG_BUF_INIT, out = TG_BUF_INIT;
	struct tg_damage damage = { 0 };
	struct tg_reader *reader = NULL;
	const char *name;
	int rc;

	if (tg_options(c, &argc, argv, NULL, 0) != TG_WORD_OK)
		return TG_WORD_USAGE;
	if (argc > 2) {
		tg_err_set(&c->err, -EINVAL, "One recording is verified at a time");
		return TG_WORD_USAGE;
	}
	name = argc > 1 ? argv[1] : NULL;
	rc = tg_find(c, name, &path);
	if (rc == TG_WORD_OK && tg_reader_open(&reader, path.data, &c->err) < 0)
		rc = TG_WORD_FAILED;
	if (rc == TG_WORD_OK) {
		int read = tg_reader_verify(reader, &damage);

		tg_reader_close(reader);
		if (read < 0) {
			tg_err_set(&c->err, read, "Cannot read %.150s: %s", path.data,
				strerror(-read));
			rc = TG_WORD_FAILED;
		}
	}
	tg_buf_release(&path);
	if (rc != TG_WORD_OK)
		return rc;
	say(&out, name ? name : "The recording", &damage);
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
	return is_damaged(&damage) ? TG_WORD_FAILED : TG_WORD_OK;
}
