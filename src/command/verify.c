/* SPDX-License-Identifier: BSD-3-Clause */
/* `verify`: is this recording whole, and what is lost when it is not. */
#include <errno.h>

#include "command/run.h"
#include "record/reader.h"

#include "base/mem.h"

static void say(struct tg_buf *out, const char *name, const struct tg_damage *d)
{
	tg_plain(out, name, 200);
	if (!d->holes && !d->lost_chunks)
		tg_buf_addf(out, " is whole: %llu chunks, every one with its checksum\n",
			(unsigned long long)d->chunks);
	else
		tg_buf_addf(out,
			" is damaged: %llu bytes in %llu places are no chunks, %llu chunks are "
			"lost; the other %llu are good\n",
			(unsigned long long)d->bytes_skipped, (unsigned long long)d->holes,
			(unsigned long long)d->lost_chunks, (unsigned long long)d->chunks);
	if (d->tail_bytes)
		tg_buf_addf(out,
			"The last chunk is incomplete (%llu bytes): at most a second is "
			"missing\n",
			(unsigned long long)d->tail_bytes);
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
	return damage.holes || damage.lost_chunks ? TG_WORD_FAILED : TG_WORD_OK;
}
