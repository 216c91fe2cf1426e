/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands for all of a recording. */
#include "command/run.h"
#include "report/format.h"

#include "base/mem.h"

/*
 * All spans of a file without a run as one, named by their number. It is of the session of the
 * last of them: what ran on another clock cannot be told in its time.
 */
static void take_all(const struct tg_recording *r, struct tg_span *all, struct tg_buf *kind)
{
	size_t n = 0;

	*all = r->span[r->n_spans - 1];
	for (size_t i = r->n_spans; i-- > 0;) {
		const struct tg_span *span = &r->span[i];

		if (span->session != all->session)
			continue;
		n++;
		if (!strcmp(all->status, "ok"))
			all->status = span->status;
		if (strcmp(all->kind, span->kind) != 0)
			all->kind = (char *)"span";
		all->open |= span->open;
		all->since_session = TG_MIN(all->since_session, span->since_session);
		all->begin_ns = TG_MIN(all->begin_ns, span->begin_ns);
		all->end_ns = TG_MAX(all->end_ns, span->end_ns);
		all->begin_utc_ns = TG_MIN(all->begin_utc_ns, span->begin_utc_ns);
		all->end_utc_ns = TG_MAX(all->end_utc_ns, span->end_utc_ns);
	}
	if (n == 1)
		return;
	tg_fmt_count(kind, n, all->kind);
	all->kind = kind->data;
	all->name = all->code = NULL;
}

const struct tg_span *tg_whole(
	const struct tg_recording *r, struct tg_span *storage, struct tg_buf *kind)
{
	for (size_t i = r->n_spans; i-- > 0;)
		if (!strcmp(r->span[i].kind, "run"))
			return &r->span[i];
	if (!r->n_spans)
		return NULL;
	take_all(r, storage, kind);
	return storage;
}
