/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/complete.h"

#include "base/json.h"
#include "base/utf8.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define CODE_MAX  (1u << 20) /* as it came: a cell that is longer is none of ours */
#define REPLY_MAX (16u << 20) /* so is a reply with that many matches */
#define TYPES     "_jupyter_types_experimental"

size_t tg_complete_byte(const char *code, size_t len, int64_t n)
{
	size_t at = 0;
	uint32_t cp;

	for (; n > 0 && at < len; n--) {
		size_t step = tg_utf8_decode_lax(code + at, len - at, &cp);

		at += step ? step : 1;
	}
	return at;
}

int64_t tg_complete_point(const char *code, size_t at)
{
	int64_t n = 0;
	uint32_t cp;

	for (size_t i = 0; i < at; n++) {
		size_t step = tg_utf8_decode_lax(code + i, at - i, &cp);

		i += step ? step : 1;
	}
	return n;
}

/* ---- completion ---- */

/* What takes the place of the code from `start` on, so that `match` stands where it is offered. */
static bool fit(const char *code, const struct tg_offer *o, size_t start, const char *match,
	struct tg_buf *out)
{
	size_t len = strlen(match), cut = start > o->start ? start - o->start : 0;

	if (start < o->start)
		tg_buf_add(out, code + start, o->start - start);
	if (cut > len || memcmp(match, code + o->start, cut) != 0)
		return false;
	tg_buf_add(out, match + cut, len - cut);
	return true;
}

static bool holds(struct tg_bytes array, const char *s)
{
	struct tg_bytes one = { 0 };

	while ((one = tg_jscan_next(array, one)).at)
		if (tg_jscan_is(one, s))
			return true;
	return false;
}

/* Our matches, and the same with types, as elements of arrays without the brackets. */
static void format(const char *code, const struct tg_offer *o, size_t start, struct tg_bytes theirs,
	struct tg_buf *matches, struct tg_buf *types)
{
	long long from = tg_complete_point(code, start), to = tg_complete_point(code, o->end);
	struct tg_buf text = TG_BUF_INIT, quoted = TG_BUF_INIT;
	const char *match = o->match.data;

	for (size_t i = 0; i < o->n; i++, match += strlen(match) + 1) {
		tg_buf_clear(&text);
		tg_buf_clear(&quoted);
		if (!fit(code, o, start, match, &text) || holds(theirs, text.data))
			continue;
		tg_json_quote_lax(&quoted, text.data, text.len);
		tg_buf_addf(matches, "%s%s", matches->len ? "," : "", quoted.data);
		tg_buf_addf(types,
			"%s{\"start\":%lld,\"end\":%lld,\"text\":%s,\"type\":\"magic\","
			"\"signature\":\"\"}",
			types->len ? "," : "", from, to, quoted.data);
	}
	tg_buf_release(&text);
	tg_buf_release(&quoted);
}

static void whole_reply(const char *code, const struct tg_offer *o, struct tg_buf *out)
{
	struct tg_buf matches = TG_BUF_INIT, types = TG_BUF_INIT;

	format(code, o, o->start, (struct tg_bytes){ 0 }, &matches, &types);
	tg_buf_addf(out,
		"{\"status\":\"ok\",\"matches\":[%s],\"cursor_start\":%lld,\"cursor_end\":%lld,"
		"\"metadata\":{\"" TYPES "\":[%s]}}",
		matches.data, (long long)tg_complete_point(code, o->start),
		(long long)tg_complete_point(code, o->end), types.data);
	tg_buf_release(&matches);
	tg_buf_release(&types);
}

static bool is_array(struct tg_bytes v)
{
	return v.at && v.len >= 2 && v.at[0] == '[' && v.at[v.len - 1] == ']';
}

/* In front of the bracket that closes an array within `json`. */
static void append(struct tg_buf *json, size_t at, size_t len, const struct tg_buf *elements)
{
	struct tg_bytes array = { json->data + at, len };
	bool some = tg_jscan_next(array, (struct tg_bytes){ 0 }).at;
	size_t close = at + len - 1;

	tg_buf_splice(json, close, 0, elements->data, elements->len);
	if (some && elements->len)
		tg_buf_splice(json, close, 0, ",", 1);
}

/* {"matches":["%tb","%time"],"cursor_end":2,"cursor_start":0,"metadata":{…},"status":"ok"} */
bool tg_complete_merge(
	const char *code, const struct tg_offer *o, struct tg_bytes content, struct tg_buf *out)
{
	struct tg_bytes status = tg_jscan_member(content.at, content.len, "status");
	struct tg_bytes theirs = tg_jscan_member(content.at, content.len, "matches");
	struct tg_bytes more = tg_jscan_member(content.at, content.len, "metadata");
	struct tg_bytes array[2];
	struct tg_buf ours[2] = { TG_BUF_INIT, TG_BUF_INIT };
	int64_t from, to;
	size_t before = out->len, later;

	if (content.len > REPLY_MAX || !status.at || tg_jscan_is(status, "aborted"))
		return false;
	if (o->alone || !is_array(theirs) || !tg_jscan_next(theirs, (struct tg_bytes){ 0 }).at) {
		whole_reply(code, o, out);
		return true;
	}
	from = tg_jscan_int(tg_jscan_member(content.at, content.len, "cursor_start"), -1);
	to = tg_jscan_int(tg_jscan_member(content.at, content.len, "cursor_end"), -1);
	if (from < 0 || to != tg_complete_point(code, o->end) || from > to)
		return false; /* it would replace something else: only one of us can be right */
	array[0] = theirs;
	array[1] = more.at ? tg_jscan_member(more.at, more.len, TYPES) : more;
	format(code, o, tg_complete_byte(code, o->end, from), theirs, &ours[0], &ours[1]);
	tg_buf_add(out, content.at, content.len);
	/* the later one first: the place of the other stays what it is */
	later = array[1].at > array[0].at;
	for (size_t i = 0; i < 2; i++) {
		size_t n = i ? 1 - later : later;

		if (is_array(array[n]))
			append(out, before + (size_t)(array[n].at - content.at), array[n].len,
				&ours[n]);
	}
	tg_buf_release(&ours[0]);
	tg_buf_release(&ours[1]);
	return true;
}

/* ---- inspection ---- */

void tg_complete_inspected(const struct tg_buf *text, struct tg_buf *out)
{
	tg_buf_adds(out, "{\"status\":\"ok\",\"found\":true,\"data\":{\"text/plain\":");
	tg_json_quote(out, text->data, text->len);
	tg_buf_adds(out, "},\"metadata\":{}}");
}

/* ---- messages ---- */

static bool is_complete(const struct tg_request *r)
{
	return tg_request_is(r, "complete_request");
}

void tg_complete_request(struct tg_request *r, const struct tg_msg *m)
{
	struct tg_bytes code;
	int64_t cursor;

	if (!is_complete(r) && !tg_request_is(r, "inspect_request"))
		return;
	code = tg_msg_member(m, TG_CONTENT, "code");
	if (!code.at || code.len > CODE_MAX || !memchr(code.at, '%', code.len) ||
		tg_jscan_string(code, &r->code))
		return;
	cursor = tg_jscan_int(tg_msg_member(m, TG_CONTENT, "cursor_pos"), INT64_MAX);
	r->cursor = tg_complete_byte(r->code.data, r->code.len, cursor);
}

void tg_complete_reply(struct tg_proxy *p, const struct tg_request *r, struct tg_msg *m)
{
	struct tg_buf content = TG_BUF_INIT, text = TG_BUF_INIT;
	struct tg_offer offer;
	bool changed = false;

	if (!r->code.len)
		return;
	if (is_complete(r)) {
		if (tg_offer(r->code.data, r->code.len, r->cursor, &offer))
			changed = tg_complete_merge(
				r->code.data, &offer, tg_msg_part(m, TG_CONTENT), &content);
		tg_buf_release(&offer.match);
	} else if (!tg_jscan_is(tg_msg_member(m, TG_CONTENT, "status"), "aborted") &&
		   tg_explain(r->code.data, r->code.len, r->cursor, &text)) {
		tg_complete_inspected(&text, &content);
		changed = true;
	}
	if (changed && tg_msg_verify(m, &p->sign))
		tg_msg_replace(m, TG_CONTENT, content.data, content.len, &p->sign);
	tg_buf_release(&content);
	tg_buf_release(&text);
}
