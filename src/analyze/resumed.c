/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/resumed.h"

#include "base/hash.h"

#include "base/mem.h"

/* Kind and id as one key. */
static uint64_t key_of(const struct tg_span *span)
{
	uint64_t h = tg_hash(TG_HASH_INIT, span->kind, strlen(span->kind));

	h = tg_hash(h, "/", 1);
	return tg_hash(h, span->id, strlen(span->id));
}

static bool is_resumed(const struct tg_span *span)
{
	return span->attrs && strstr(span->attrs, "\"resumed\":true");
}

static bool goes_on(const struct tg_span *to, const struct tg_span *from)
{
	return from->session != to->session && !strcmp(from->id, to->id) &&
	       !strcmp(from->kind, to->kind);
}

static bool same_clock(const struct tg_recording *r, uint32_t a, uint32_t b)
{
	const struct tg_span_session *x = tg_recording_session(r, a);
	const struct tg_span_session *y = tg_recording_session(r, b);

	return x && y && x->boot && y->boot && !strcmp(x->boot, y->boot) &&
	       !strcmp(x->host, y->host);
}

/* next[i]: the span that goes on with span i; its own place: none does. Returns their number. */
static size_t find_next(const struct tg_recording *r, size_t *next)
{
	struct tg_map last = TG_MAP_INIT;
	size_t n = 0;

	for (size_t i = 0; i < r->n_spans; i++) {
		struct tg_span *to = &r->span[i];
		ptrdiff_t from;

		next[i] = i;
		if (!to->id)
			continue;
		from = is_resumed(to) ? tg_map_get(&last, key_of(to)) : -1;
		tg_map_put(&last, key_of(to), i);
		if (from < 0 || !goes_on(to, &r->span[from]))
			continue;
		next[from] = i;
		n++;
		if (same_clock(r, r->span[from].session, to->session))
			to->since_session = r->span[from].since_session;
	}
	tg_map_release(&last);
	return n;
}

/* The number of the span that stands in the end for that one, maybe itself. */
static uint64_t stand_in(
	const struct tg_recording *r, const struct tg_map *at, const size_t *next, uint64_t number)
{
	ptrdiff_t i = number ? tg_map_get(at, number) : -1;

	return i < 0 ? number : r->span[next[i]].number;
}

void tg_resumed_join(struct tg_recording *r, const struct tg_map *at)
{
	size_t *next = tg_xcalloc(r->n_spans + 1, sizeof(*next)), n = 0;

	if (!find_next(r, next))
		goto out;
	/* where the second recorder died, too: the last one */
	for (size_t i = r->n_spans; i-- > 0;)
		next[i] = next[next[i]];
	for (size_t i = 0; i < r->n_spans; i++) {
		struct tg_span *span = &r->span[i];

		span->run = stand_in(r, at, next, span->run);
		span->parent = stand_in(r, at, next, span->parent);
	}
	for (size_t i = 0; i < r->n_moments; i++)
		r->moment[i].run = stand_in(r, at, next, r->moment[i].run);
	for (size_t i = 0; i < r->n_spans; i++)
		if (next[i] != i)
			tg_span_release(&r->span[i]);
		else
			r->span[n++] = r->span[i];
	r->n_spans = n;
out:
	free(next);
}

bool tg_span_covers(const struct tg_span *span, uint32_t session)
{
	return session == span->session ||
	       (span->since_session && session < span->session && session >= span->since_session);
}

bool tg_span_outlived_recorder(const struct tg_span *span)
{
	return span->since_session && span->since_session != span->session;
}

const struct tg_span_session *tg_span_session_before(
	const struct tg_recording *r, const struct tg_span *span, const struct tg_span_session *s)
{
	return s > r->session && tg_span_covers(span, s[-1].number) ? s - 1 : NULL;
}
