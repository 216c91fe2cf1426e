/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage_request: answered by the recorder, which sees the whole tree and its limits whatever the
 * user's kernel is busy with. When it does not answer in time the request goes on as it came.
 */
#include "base/clock.h"
#include "base/json.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define WAIT_NS (200 * TG_NS_PER_MS)

bool tg_usage_request(struct tg_proxy *p, struct tg_msg *m)
{
	struct tg_usage *u = p->usage;

	while (u < p->usage + TG_USAGE_MAX && u->question)
		u++;
	if (u == p->usage + TG_USAGE_MAX)
		return false;
	u->question = tg_marker_ask_usage(&p->marker);
	if (!u->question)
		return false;
	u->deadline_ns = tg_mono_ns() + WAIT_NS;
	tg_msg_swap(&u->msg, m);
	return true;
}

/* To the user's kernel as any other request, which is answered when the kernel dies. */
static void give_up(struct tg_proxy *p, struct tg_usage *u)
{
	u->question = 0;
	tg_requests_add(&p->requests, &u->msg, TG_CONTROL);
	tg_msg_send(&u->msg, p->inner.socket[TG_CONTROL]);
}

void tg_usage_cancel(struct tg_proxy *p)
{
	for (struct tg_usage *u = p->usage; u < p->usage + TG_USAGE_MAX; u++)
		if (u->question)
			give_up(p, u);
}

/* Reply with the answer's members, between busy and idle as the user's kernel would. */
static void reply(struct tg_proxy *p, struct tg_usage *u, const struct tg_json *answer)
{
	struct tg_request *r = tg_requests_add(&p->requests, &u->msg, TG_CONTROL);
	struct tg_buf content = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &content);
	tg_jw_begin_object(&w);
	for (const char *k = NULL; (k = tg_json_next_key(answer, k));) {
		struct tg_buf value = TG_BUF_INIT;

		if (!strcmp(k, "re"))
			continue;
		tg_json_dump(tg_json_get(answer, k), &value);
		tg_jw_key(&w, k);
		tg_jw_raw(&w, value.data, value.len);
		tg_buf_release(&value);
	}
	tg_jw_end_object(&w);
	tg_emit_status(p, r, "busy");
	tg_emit_reply(p, r, content.data, content.len);
	tg_emit_status(p, r, "idle");
	tg_requests_remove(&p->requests, r);
	tg_buf_release(&content);
	tg_msg_clear(&u->msg);
	u->question = 0;
}

void tg_usage_read(struct tg_proxy *p)
{
	struct tg_json *answer;
	int64_t n;

	while ((n = tg_marker_answer(&p->marker, &answer)) > 0) {
		for (struct tg_usage *u = p->usage; u < p->usage + TG_USAGE_MAX; u++) {
			if (u->question != n)
				continue;
			if (tg_json_get(answer, "error"))
				give_up(p, u);
			else
				reply(p, u, answer);
		}
		tg_json_free(answer);
	}
}

void tg_usage_tick(struct tg_proxy *p)
{
	int64_t now = tg_mono_ns();

	for (struct tg_usage *u = p->usage; u < p->usage + TG_USAGE_MAX; u++)
		if (u->question && now >= u->deadline_ns)
			give_up(p, u);
}

int64_t tg_usage_deadline(const struct tg_proxy *p)
{
	int64_t at = INT64_MAX;

	for (const struct tg_usage *u = p->usage; u < p->usage + TG_USAGE_MAX; u++)
		if (u->question)
			at = TG_MIN(at, u->deadline_ns);
	return at;
}
