/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of our own. They carry the session id of the user's kernel, since JupyterLab drops its
 * neighbours otherwise, and a new msg_id each, since clients refuse one they have seen.
 */
#include <sodium.h>

#include "base/clock.h"
#include "base/json.h"
#include "jupyter/state.h"

#include "base/mem.h"

void tg_emit_date(char date[TG_DATE_MAX])
{
	int64_t now = tg_real_ns();
	time_t seconds = (time_t)(now / TG_NS_PER_S);
	size_t len;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	len = strftime(date, TG_DATE_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(date + len, TG_DATE_MAX - len, ".%06dZ", (int)(now % TG_NS_PER_S / 1000));
}

/* {"msg_id": …, "msg_type": …, "username": …, "session": …, "date": …, "version": …} */
static void format_header(struct tg_proxy *p, const char *msg_id, const char *type)
{
	unsigned char random[16];
	char id[33], date[TG_DATE_MAX];
	struct tg_jw w;

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(id, sizeof(id), random, sizeof(random));
	tg_emit_date(date);
	tg_buf_clear(&p->text);
	tg_jw_init(&w, &p->text);
	tg_jw_begin_object(&w);
	tg_jw_kstr(&w, "msg_id", msg_id ? msg_id : id);
	tg_jw_kstr(&w, "msg_type", type);
	tg_jw_kstr(&w, "username", "tachograph");
	tg_jw_kstr(&w, "session", p->session.data);
	tg_jw_kstr(&w, "date", date);
	tg_jw_kstr(&w, "version", "5.4");
	tg_jw_end_object(&w);
}

/* The message behind what is in p->own already; its header is in p->text. */
static void build(
	struct tg_proxy *p, const struct tg_request *parent, const char *content, size_t len)
{
	struct tg_bytes header = { p->text.data, p->text.len }, body = { content, len },
			above = { 0 };

	if (parent)
		above = (struct tg_bytes){ parent->header.data, parent->header.len };
	tg_msg_body(&p->own, &p->sign, header, above, body);
}

void tg_emit_iopub(struct tg_proxy *p, const struct tg_request *parent, const char *type,
	const char *content, size_t len)
{
	format_header(p, NULL, type);
	tg_msg_clear(&p->own);
	tg_msg_add(&p->own, type, strlen(type));
	build(p, parent, content, len);
	tg_backlog_add(&p->backlog, &p->own);
	if (p->iopub.n)
		tg_outbox_insert(&p->iopub, &p->own, parent);
	else
		tg_msg_send(&p->own, p->outer[TG_IOPUB]);
}

void tg_emit_status(struct tg_proxy *p, const struct tg_request *parent, const char *state)
{
	char content[64];
	int len = snprintf(content, sizeof(content), "{\"execution_state\":\"%s\"}", state);

	tg_emit_iopub(p, parent, "status", content, (size_t)len);
}

void tg_emit_stderr(struct tg_proxy *p, const struct tg_request *parent, const char *text)
{
	struct tg_buf content = TG_BUF_INIT;

	tg_buf_adds(&content, "{\"name\":\"stderr\",\"text\":");
	tg_json_quote(&content, text, strlen(text));
	tg_buf_addc(&content, '}');
	tg_emit_iopub(p, parent, "stream", content.data, content.len);
	tg_buf_release(&content);
}

void tg_emit_reply(struct tg_proxy *p, const struct tg_request *r, const char *content, size_t len)
{
	struct tg_buf type = TG_BUF_INIT;
	size_t stem = r->type.len;

	if (stem > strlen("_request"))
		stem -= strlen("_request");
	tg_buf_add(&type, r->type.data, stem);
	tg_buf_adds(&type, "_reply");
	format_header(p, NULL, type.data);
	tg_buf_release(&type);
	tg_msg_clear(&p->own);
	for (size_t i = 0; i < r->ids.n; i++)
		tg_msg_add(&p->own, zmq_msg_data(&r->ids.frame[i]), zmq_msg_size(&r->ids.frame[i]));
	build(p, r, content, len);
	tg_msg_send(&p->own, p->outer[r->channel]);
}

void tg_emit_welcome(struct tg_proxy *p, const void *topic, size_t len)
{
	struct tg_buf content = TG_BUF_INIT;

	tg_buf_adds(&content, "{\"subscription\":");
	tg_json_quote_lax(&content, topic, len);
	tg_buf_addc(&content, '}');
	format_header(p, NULL, "iopub_welcome");
	tg_msg_clear(&p->own);
	if (len)
		tg_msg_add(&p->own, topic, len);
	build(p, NULL, content.data, content.len);
	tg_backlog_add(&p->backlog, &p->own);
	tg_msg_send(&p->own, p->outer[TG_IOPUB]);
	tg_buf_release(&content);
}

void tg_emit_request(struct tg_proxy *p, enum tg_channel channel, const char *type)
{
	char id[48];

	snprintf(id, sizeof(id), "%s-%u", p->gate_id, p->n_gate++);
	format_header(p, id, type);
	tg_msg_clear(&p->own);
	tg_msg_add(&p->own, "\0tachograph", sizeof("\0tachograph") - 1);
	build(p, NULL, "{}", 2);
	tg_msg_send(&p->own, p->inner.socket[channel]);
}
