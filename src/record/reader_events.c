/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tg_reader_events. Where chunks are lost, begin events of spans that a later summary names as
 * open are handed over from there, so that a cell whose beginning is damaged keeps its end.
 */
#include <errno.h>

#include "base/json.h"
#include "base/map.h"
#include "record/reader_private.h"

#include "base/mem.h"

#define SEEN_MAX ((size_t)1 << 20) /* spans to remember */

struct walk {
	struct tg_reader *r;
	int (*each)(void *ctx, uint32_t session, const char *json, size_t len);
	void *ctx;
	bool careful; /* something is lost: watch which spans began */
	struct tg_map seen; /* spans that were handed over, by session and number */
};

/* Returns whether it is new. */
static bool seen_add(struct tg_map *seen, uint32_t session, int64_t span)
{
	uint64_t key = (uint64_t)session << 40 ^ (uint64_t)span;

	if (seen->n == SEEN_MAX || tg_map_get(seen, key) >= 0)
		return false;
	tg_map_put(seen, key, 0);
	return true;
}

/* The span that begins with this event, or -1. */
static int64_t beginning(const char *json, size_t len)
{
	struct tg_json *event;
	int64_t span = -1;

	if (!memmem(json, len, "\"begin\"", 7))
		return -1;
	event = tg_json_parse(json, len, NULL);
	if (!strcmp(tg_json_str(tg_json_get(event, "ev"), ""), "begin"))
		span = tg_json_int(tg_json_get(event, "span"), -1);
	tg_json_free(event);
	return span;
}

static int note(void *ctx, uint32_t session, const char *json, size_t len)
{
	struct walk *w = ctx;
	int64_t span = beginning(json, len);

	if (span >= 0)
		seen_add(&w->seen, session, span);
	return 0;
}

static int hand_over(void *ctx, uint32_t session, const char *json, size_t len)
{
	struct walk *w = ctx;

	if (w->careful)
		note(w, session, json, len);
	return w->each(w->ctx, session, json, len);
}

static int hand_over_missing(void *ctx, uint32_t session, const char *json, size_t len)
{
	struct walk *w = ctx;
	int64_t span = beginning(json, len);

	if (span < 0 || !seen_add(&w->seen, session, span))
		return 0;
	return w->each(w->ctx, session, json, len);
}

static int each_line(const char *text, size_t len, uint32_t session,
	int (*each)(void *ctx, uint32_t session, const char *json, size_t len), struct walk *w)
{
	/* the text is in our own buffer, so lines can be ended in place */
	char *p = (char *)(uintptr_t)text, *end = p + len;
	int k = 0;

	while (k == 0 && p < end) {
		char *newline = memchr(p, '\n', (size_t)(end - p));
		char *stop = newline ? newline : end;

		*stop = '\0';
		if (stop > p)
			k = each(w, session, p, (size_t)(stop - p));
		p = stop + 1;
	}
	return k;
}

/* The lines of one chunk. Returns -EBADMSG when it is damaged. */
static int chunk_lines(struct walk *w, const struct tg_place *place,
	int (*each)(void *ctx, uint32_t session, const char *json, size_t len))
{
	const uint8_t *plain;
	struct tg_chunk chunk;
	size_t len;
	int k;

	k = tg_reader_chunk(w->r, place->offset, TG_CHUNK_EVENTS, &chunk);
	if (k == 0)
		k = tg_zip_unpack(&w->r->zip, chunk.header.flags, chunk.payload,
			chunk.header.length, &plain, &len);
	return k ? k : each_line((const char *)plain, len, place->session, each, w);
}

/* From here on watch which spans begin; those of the first `n` chunks did. */
static void be_careful(struct walk *w, size_t n)
{
	for (size_t i = 0; !w->careful && i < n; i++)
		chunk_lines(w, &w->r->index.events.p[i], note);
	w->careful = true;
}

static int summary_lines(struct walk *w, const struct tg_place *place)
{
	struct tg_chunk_header h;
	const struct tg_slice *open = &w->r->index.reading.summary.open;

	if (tg_reader_summary(w->r, place->offset, &h) < 0)
		return 0;
	return each_line(open->data, open->len, place->session, hand_over_missing, w);
}

int tg_reader_events(struct tg_reader *r,
	int (*each)(void *ctx, uint32_t session, const char *json, size_t len), void *ctx)
{
	const struct tg_places *events = &r->index.events, *summaries = &r->index.summaries;
	struct walk w = { .r = r, .each = each, .ctx = ctx };
	size_t i = 0, s = 0;
	int k = 0;

	if (r->damage.holes || r->damage.lost_chunks)
		be_careful(&w, 0);
	while (k == 0 && (i < events->n || s < summaries->n)) {
		bool is_event = s == summaries->n ||
				(i < events->n && events->p[i].offset < summaries->p[s].offset);

		if (!is_event) {
			k = w.careful ? summary_lines(&w, &summaries->p[s]) : 0;
			s++;
			continue;
		}
		k = chunk_lines(&w, &events->p[i], hand_over);
		if (k == -EBADMSG) {
			tg_reader_lost(r);
			be_careful(&w, i);
			k = 0;
		}
		i++;
	}
	tg_map_release(&w.seen);
	return k;
}
