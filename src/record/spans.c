/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/spans.h"

#include "base/json.h"

#include "base/mem.h"

void tg_spans_init(struct tg_spans *s)
{
	*s = (struct tg_spans){ .next_span = 1, .next_entity = 1 };
}

void tg_spans_release(struct tg_spans *s)
{
	for (size_t i = 0; i < s->n_open; i++)
		free(s->open[i].line);
	free(s->open);
	tg_spans_init(s);
}

/* The event without its code, which may be long and is in the file already. */
static void dump_short(const struct tg_json *event, struct tg_buf *out)
{
	const char *key = NULL;
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	while ((key = tg_json_next_key(event, key))) {
		struct tg_buf value = TG_BUF_INIT;

		if (!strcmp(key, "code"))
			continue;
		tg_json_dump(tg_json_get(event, key), &value);
		tg_jw_key(&w, key);
		tg_jw_raw(&w, value.data, value.len);
		tg_buf_release(&value);
	}
	tg_jw_end_object(&w);
}

static void begin(struct tg_spans *s, const struct tg_json *event, int64_t number)
{
	struct tg_buf line = TG_BUF_INIT;

	if (s->n_open >= TG_SPANS_OPEN_MAX)
		return;
	dump_short(event, &line);
	if (s->bytes + line.len > TG_SPANS_BYTES_MAX) {
		tg_buf_release(&line);
		return;
	}
	TG_GROW(s->open, s->n_open + 1, s->cap_open);
	s->bytes += line.len;
	s->open[s->n_open].number = number;
	s->open[s->n_open].len = line.len;
	s->open[s->n_open++].line = tg_buf_detach(&line);
}

static void end(struct tg_spans *s, int64_t number)
{
	for (size_t i = s->n_open; i-- > 0;) {
		if (s->open[i].number != number)
			continue;
		s->bytes -= s->open[i].len;
		free(s->open[i].line);
		memmove(&s->open[i], &s->open[i + 1], (s->n_open - i - 1) * sizeof(*s->open));
		s->n_open--;
		return;
	}
}

static void look_at_birth(struct tg_spans *s, int64_t entity)
{
	if (entity >= 0 && entity < UINT32_MAX && (uint32_t)entity >= s->next_entity)
		s->next_entity = (uint32_t)entity + 1;
}

/* The place behind `text`, or behind digits whose value is *v; NULL: it is not there. */
static const char *behind(const char *p, const char *end, const char *text)
{
	size_t n = strlen(text);

	return p && (size_t)(end - p) >= n && !memcmp(p, text, n) ? p + n : NULL;
}

static const char *digits(const char *p, const char *end, int64_t *v)
{
	const char *from = p;

	for (*v = 0; p && p < end && p - from < 18 && *p >= '0' && *p <= '9'; p++)
		*v = *v * 10 + (*p - '0');
	return p != from ? p : NULL;
}

/*
 * Births are most of the events that count, and their number all that counts of them. As they are
 * written here it is in the third member: they need not be parsed. False: it is not one of these.
 */
static bool look_quickly(struct tg_spans *s, const char *line, size_t len)
{
	const char *end = line + len, *p;
	int64_t t, entity;

	p = behind(line, end, "{\"ev\":\"birth\",\"t\":");
	p = digits(p, end, &t);
	p = behind(p, end, ",\"entity\":");
	p = digits(p, end, &entity);
	if (!p || p == end || (*p != ',' && *p != '}'))
		return false;
	look_at_birth(s, entity);
	return true;
}

static void look(struct tg_spans *s, const char *line, size_t len)
{
	struct tg_json *event = tg_json_parse(line, len, NULL);
	const char *ev = tg_json_str(tg_json_get(event, "ev"), "");
	int64_t span = tg_json_int(tg_json_get(event, "span"), -1);
	int64_t entity = tg_json_int(tg_json_get(event, "entity"), -1);

	if (!strcmp(ev, "begin") && span >= 0) {
		begin(s, event, span);
		if ((uint64_t)span >= s->next_span && span <= TG_SPANS_NUMBER_MAX)
			s->next_span = (uint64_t)span + 1;
	} else if (!strcmp(ev, "end") && span >= 0) {
		end(s, span);
	} else if (!strcmp(ev, "birth")) {
		look_at_birth(s, entity);
	}
	tg_json_free(event);
}

/* Most events are of other kinds; in JSON text these words can only be whole strings. */
static bool of_interest(const char *line, size_t len)
{
	return memmem(line, len, "\"begin\"", 7) || memmem(line, len, "\"end\"", 5) ||
	       memmem(line, len, "\"birth\"", 7);
}

void tg_spans_look(struct tg_spans *s, const char *lines, size_t len)
{
	const char *p = lines, *stop;

	if (!lines)
		return;
	stop = lines + len;
	while (p < stop) {
		const char *newline = memchr(p, '\n', (size_t)(stop - p));
		size_t n = (size_t)((newline ? newline : stop) - p);

		if (!look_quickly(s, p, n) && of_interest(p, n))
			look(s, p, n);
		p += n + 1;
	}
}

void tg_spans_dump_open(const struct tg_spans *s, struct tg_buf *out)
{
	tg_buf_adds(out, "\"open\":[");
	for (size_t i = 0; i < s->n_open; i++)
		tg_buf_addf(out, "%s%lld", i ? "," : "", (long long)s->open[i].number);
	tg_buf_addc(out, ']');
}
