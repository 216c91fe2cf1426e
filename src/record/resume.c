/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/json.h"
#include "record/reader_private.h"
#include "record/spans.h"

#include "base/mem.h"

/* Unknown is not equal: without both, another boot's monotonic clock might be mixed in. */
static bool same(const struct tg_json *a, const struct tg_json *b, const char *key)
{
	const char *x = tg_json_str(tg_json_get(a, key), NULL);
	const char *y = tg_json_str(tg_json_get(b, key), NULL);

	return x && y && *x && !strcmp(x, y);
}

static int check_owner(const struct tg_session *last, const char *path, const char *session_json,
	struct tg_err *err)
{
	struct tg_json *mine = tg_json_parse(session_json, strlen(session_json), NULL);
	struct tg_json *its = tg_json_parse(last->json, strlen(last->json), NULL);
	int r = 0;

	if (!same(mine, its, "host") || !same(mine, its, "boot_id"))
		r = tg_err_set(err, -EEXIST,
			"%s exists and was recorded on another host or before a reboot", path);
	tg_json_free(mine);
	tg_json_free(its);
	return r;
}

/*
 * In chunks of events that are lost spans may have begun whose ends, or whose spans within, are
 * not. Numbers cost nothing: as many are left out as fit into the chunks.
 */
#define LOST_STEP (UINT64_C(1) << 20) /* more than a chunk of TG_CHUNK_MAX bytes holds */
#define LOST_MAX  UINT64_C(256)

static uint64_t lost_numbers(const struct tg_damage *d)
{
	uint64_t lost = TG_MIN(d->holes, LOST_MAX) + TG_MIN(d->lost_chunks, LOST_MAX);

	return lost * LOST_STEP;
}

/*
 * Numbers that are used up would begin anew from 0 and mean two things each. Of those of processes
 * half stay free for the session to come: none sees as many.
 */
#define ENTITY_LAST (UINT32_MAX / 2)

static bool has_numbers(const struct tg_resume *at)
{
	return at->session < UINT32_MAX && at->next_table < TG_TABLES_MAX &&
	       at->next_entity <= ENTITY_LAST;
}

static int look(void *ctx, uint32_t session, const char *json, size_t len)
{
	(void)session;
	tg_spans_look(ctx, json, len);
	return 0;
}

int tg_resume_read(struct tg_resume *out, int fd, const char *path, const char *session_json,
	struct tg_err *err)
{
	struct tg_reader *reader = NULL;
	const struct tg_session *session;
	struct tg_spans spans;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	size_t n;
	int r;

	if (own < 0)
		return tg_err_set(err, -errno, "%s: %s", path, strerror(errno));
	tg_spans_init(&spans);
	r = tg_reader_open_fd(&reader, own, path, err);
	if (r == -EBADMSG || r == -ESPIPE || r == -EISDIR) {
		r = tg_err_set(err, -EEXIST, "%s exists and is not a recording", path);
		goto out;
	}
	if (r < 0)
		goto out;
	session = tg_reader_sessions(reader, &n);
	if (!n || session[n - 1].number != reader->scan.last_session) {
		r = tg_err_set(err, -EEXIST, "%s exists and its last session cannot be read", path);
		goto out;
	}
	r = check_owner(&session[n - 1], path, session_json, err);
	if (r < 0)
		goto out;
	r = tg_reader_events(reader, look, &spans);
	if (r < 0) {
		tg_err_set(err, r, "%s: %s", path, strerror(-r));
		goto out;
	}
	*out = (struct tg_resume){
		.offset = reader->scan.pos,
		.sequence = reader->scan.next_sequence,
		.last_summary =
			reader->index.summaries.n
				? reader->index.summaries.p[reader->index.summaries.n - 1].offset
				: TG_NO_SUMMARY,
		.session = session[n - 1].number,
		.next_table = 1,
		.next_span = spans.next_span + lost_numbers(tg_reader_damage(reader)),
		.next_entity = spans.next_entity,
	};
	for (size_t i = 0; i < reader->index.n_tables; i++) {
		uint32_t number = reader->index.table[i].number;

		out->next_table =
			TG_MAX(out->next_table, number < UINT32_MAX ? number + 1 : number);
	}
	if (!has_numbers(out))
		r = tg_err_set(err, -EEXIST, "%s exists and its numbers are used up", path);
out:
	tg_spans_release(&spans);
	tg_reader_close(reader);
	return r;
}
