/* SPDX-License-Identifier: BSD-3-Clause */
/* What the words share: finding recordings, choosing spans, naming them. */
#include <errno.h>

#include "analyze/select.h"
#include "base/lines.h"
#include "command/run.h"

#include "base/mem.h"

void tg_resolve(const struct tg_command *c, const char *name, struct tg_buf *out)
{
	if (c->cwd && name[0] != '/')
		tg_buf_addf(out, "%s/", c->cwd);
	tg_buf_adds(out, name);
}

int tg_open(struct tg_command *c, const char *name, struct tg_recording **out)
{
	struct tg_buf path = TG_BUF_INIT;
	int rc;

	*out = NULL;
	if (!name && !c->file) {
		tg_err_set(&c->err, -ENOENT, "%s",
			c->why ? c->why : "Which recording? Name a .tacho file");
		return c->why ? TG_WORD_FAILED : TG_WORD_USAGE;
	}
	if (name)
		tg_resolve(c, name, &path);
	rc = tg_recording_open(out, name ? path.data : c->file, &c->err);
	tg_buf_release(&path);
	if (rc < 0)
		return TG_WORD_FAILED;
	/* the kernel's own file may hold earlier runs, too; one that is named is shown whole */
	if (!name && c->where == TG_IN_NOTEBOOK)
		tg_recording_only_run(*out, c->run);
	return TG_WORD_OK;
}

/* Append "1 hole" or "3 holes". */
static void count(struct tg_buf *out, uint64_t n, const char *one)
{
	tg_buf_addf(out, "%llu %s%s", (unsigned long long)n, one, n == 1 ? "" : "s");
}

void tg_tell_damage(struct tg_command *c, const struct tg_recording *r)
{
	const struct tg_damage *d = tg_reader_damage(r->reader);
	struct tg_buf line = TG_BUF_INIT;
	struct tg_damage all;

	if (!d->holes && !d->lost_chunks)
		return;
	/* a chunk that cannot be decoded was counted at each reading, and its bytes not at all */
	if (tg_reader_verify(r->reader, &all) == 0 && (all.holes || all.lost_chunks))
		d = &all;
	tg_buf_adds(&line, "The recording is damaged: ");
	if (d->holes) {
		count(&line, d->bytes_skipped, "byte");
		tg_buf_adds(&line, " skipped in ");
		count(&line, d->holes, "hole");
	}
	if (d->lost_chunks) {
		tg_buf_adds(&line, d->holes ? ", " : "");
		count(&line, d->lost_chunks, "chunk");
		tg_buf_adds(&line, " lost");
	}
	tg_buf_adds(&line, "; `verify` says more");
	c->out.note(c->out.ctx, line.data);
	tg_buf_release(&line);
}

int tg_choose(struct tg_command *c, const struct tg_recording *r, const char *selection,
	const char *otherwise, const struct tg_span ***span, size_t *n)
{
	struct tg_select select;
	int64_t found;
	int rc;

	*span = NULL;
	*n = 0;
	rc = tg_select_parse(&select, selection ? selection : otherwise, &c->err);
	if (rc < 0) {
		tg_select_release(&select);
		return TG_WORD_USAGE;
	}
	found = tg_select_spans(&select, r, span, &c->err);
	tg_select_release(&select);
	if (found < 0)
		return TG_WORD_FAILED;
	*n = (size_t)found;
	return TG_WORD_OK;
}

void tg_title(struct tg_buf *out, const struct tg_span *span, size_t max)
{
	const char *code = span->code ? span->code : "";
	struct tg_text_line line = tg_text_first_code(code, strlen(code));
	char *text;

	if (span->name) {
		tg_plain(out, span->name, max);
	} else if (line.end > line.at) {
		text = tg_xmemdup0(code + line.at, line.end - line.at);
		tg_plain(out, text, max);
		free(text);
	}
}
