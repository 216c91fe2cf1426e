/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/live.h"

#include <errno.h>

#include "base/hash.h"

#include "base/mem.h"

static uint32_t hash_id(const char *id)
{
	return (uint32_t)tg_hash(TG_HASH_INIT, id, strlen(id));
}

static void forget(struct tg_live *s, size_t i)
{
	s->n_runs -= s->open[i].is_run;
	tg_watch_release(&s->open[i].owner);
	free(s->open[i].id);
	free(s->open[i].stage);
	s->n--;
	memmove(&s->open[i], &s->open[i + 1], (s->n - i) * sizeof(s->open[0]));
}

void tg_live_release(struct tg_live *s)
{
	while (s->n)
		forget(s, s->n - 1);
	free(s->open);
	*s = (struct tg_live){ 0 };
}

/* The youngest open span of that name; spans end in about the reverse order of their beginning. */
static struct tg_live_span *find(struct tg_live *s, uint64_t client, const char *id)
{
	size_t len = strlen(id);
	bool any = len && id[len - 1] == '/';
	uint32_t hash = hash_id(id);

	for (size_t i = s->n; i-- > 0;) {
		struct tg_live_span *span = &s->open[i];

		if (span->client == client && (any ? !strncmp(span->id, id, len)
						   : span->hash == hash && !strcmp(span->id, id)))
			return span;
	}
	return NULL;
}

static const struct tg_live_span *innermost_run(const struct tg_live *s)
{
	for (size_t i = s->n; s->n_runs && i-- > 0;)
		if (s->open[i].is_run)
			return &s->open[i];
	return NULL;
}

static void add_str(struct tg_jw *w, const char *key, const char *s)
{
	if (s)
		tg_jw_kstr(w, key, s);
}

static void add_attrs(struct tg_jw *w, const struct tg_mark_message *m)
{
	if (m->attrs.len) {
		tg_jw_key(w, "attrs");
		tg_jw_raw(w, m->attrs.data, m->attrs.len);
	}
}

int tg_live_begin(struct tg_live *s, struct tg_events *e, uint64_t client,
	const struct tg_mark_message *m, int64_t now_ns, struct tg_err *err)
{
	struct tg_live_span span = { .client = client };
	const struct tg_live_span *run;
	struct tg_jw *w;

	if (find(s, client, m->id))
		return tg_err_set(err, -EEXIST, "a span with the id %s is open already", m->id);
	if (s->n == TG_LIVE_MAX)
		return tg_err_set(err, -ENOSPC, "%d spans are open: no more", TG_LIVE_MAX);
	span.number = s->next++;
	span.is_run = !strcmp(m->kind, "run");
	span.is_cell = !strcmp(m->kind, "cell");
	span.hash = hash_id(m->id);
	span.id = tg_xstrdup(m->id);
	tg_watch_init(&span.owner, (pid_t)m->pid);
	if (m->name && !strcmp(m->kind, "stage"))
		span.stage = tg_xstrdup(m->name);

	w = tg_events_open(e, "begin", m->t_ns ? m->t_ns : now_ns);
	tg_jw_kint(w, "span", (int64_t)span.number);
	tg_jw_kstr(w, "id", m->id);
	tg_jw_kstr(w, "kind", m->kind);
	add_str(w, "name", m->name);
	if (span.is_run)
		s->next_index = 0;
	else if (span.is_cell)
		tg_jw_kint(w, "index", s->next_index++);
	run = innermost_run(s);
	if (run)
		tg_jw_kint(w, "parent", (int64_t)run->number);
	add_str(w, "lane", m->lane);
	if (m->count >= 0)
		tg_jw_kint(w, "count", m->count);
	add_str(w, "code", m->code);
	add_attrs(w, m);
	tg_events_close(e);

	s->n_runs += span.is_run;
	TG_GROW(s->open, s->n + 1, s->cap);
	s->open[s->n++] = span;
	return 0;
}

int tg_live_end(struct tg_live *s, struct tg_events *e, uint64_t client,
	const struct tg_mark_message *m, int64_t now_ns, struct tg_err *err)
{
	struct tg_live_span *span = find(s, client, m->id);
	struct tg_jw *w;

	if (!span)
		span = find(s, 0, m->id);
	if (!span)
		return tg_err_set(err, -ENOENT, "no span with the id %s is open", m->id);
	w = tg_events_open(e, "end", m->t_ns ? m->t_ns : now_ns);
	tg_jw_kint(w, "span", (int64_t)span->number);
	tg_jw_kstr(w, "status", m->status ? m->status : "unknown");
	add_attrs(w, m);
	tg_events_close(e);
	forget(s, (size_t)(span - s->open));
	return 0;
}

const char *tg_live_stage(const struct tg_live *s)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->open[i].stage)
			return s->open[i].stage;
	return NULL;
}

void tg_live_orphan(struct tg_live *s, uint64_t client)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->open[i].client == client)
			s->open[i].client = 0;
}

static void end_by_us(
	struct tg_live *s, struct tg_events *e, size_t i, int64_t t_ns, const char *status)
{
	struct tg_jw *w = tg_events_open(e, "end", t_ns);

	tg_jw_kint(w, "span", (int64_t)s->open[i].number);
	tg_jw_kstr(w, "status", status);
	tg_events_close(e);
	forget(s, i);
}

size_t tg_live_end_with_owners(struct tg_live *s, struct tg_events *e, int64_t t_ns)
{
	size_t n = 0;

	for (size_t i = s->n; i-- > 0;)
		if (s->open[i].owner.pid && tg_watch_dead(&s->open[i].owner)) {
			end_by_us(s, e, i, t_ns, "unknown");
			n++;
		}
	return n;
}

void tg_live_end_by_us(struct tg_live *s, struct tg_events *e, enum tg_live_which which,
	int64_t t_ns, const char *status)
{
	for (size_t i = s->n; i-- > 0;)
		if (!(which == TG_LIVE_CELLS && !s->open[i].is_cell) &&
			!(which == TG_LIVE_ORPHANS && s->open[i].client))
			end_by_us(s, e, i, t_ns, status);
}
