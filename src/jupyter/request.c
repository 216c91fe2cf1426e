/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/request.h"

#include "base/mem.h"

static void free_request(struct tg_request *r)
{
	tg_buf_release(&r->msg_id);
	tg_buf_release(&r->type);
	tg_buf_release(&r->subshell);
	tg_buf_release(&r->header);
	tg_buf_release(&r->code);
	tg_buf_release(&r->fifo);
	tg_msg_release(&r->ids);
	free(r);
}

static void free_list(struct tg_request *r)
{
	for (struct tg_request *next; r; r = next) {
		next = r->next;
		free_request(r);
	}
}

void tg_requests_release(struct tg_requests *q)
{
	free_list(q->first);
	free_list(q->spare);
	*q = (struct tg_requests){ 0 };
}

void tg_requests_trim(struct tg_requests *q)
{
	free_list(q->spare);
	q->spare = NULL;
}

/* A spare entry with its buffers emptied, or a new one. */
static struct tg_request *take_spare(struct tg_requests *q)
{
	struct tg_request *r = q->spare, was;

	if (!r) {
		r = tg_xcalloc(1, sizeof(*r));
		*r = (struct tg_request){ .msg_id = TG_BUF_INIT,
			.type = TG_BUF_INIT,
			.subshell = TG_BUF_INIT,
			.header = TG_BUF_INIT,
			.code = TG_BUF_INIT,
			.fifo = TG_BUF_INIT,
			.count = -1 };
		return r;
	}
	q->spare = r->next;
	was = *r;
	*r = (struct tg_request){ .msg_id = was.msg_id,
		.type = was.type,
		.subshell = was.subshell,
		.header = was.header,
		.code = was.code,
		.fifo = was.fifo,
		.ids = was.ids,
		.count = -1 };
	tg_buf_clear(&r->msg_id);
	tg_buf_clear(&r->type);
	tg_buf_clear(&r->subshell);
	tg_buf_clear(&r->header);
	tg_buf_clear(&r->code);
	tg_buf_clear(&r->fifo);
	tg_msg_clear(&r->ids);
	return r;
}

/* The oldest one that nobody waits for, or NULL. */
static struct tg_request *forgettable(const struct tg_requests *q)
{
	struct tg_request *r = q->first;

	while (r && (!r->replied || r->pinned))
		r = r->next;
	return r;
}

bool tg_requests_room(const struct tg_requests *q, enum tg_channel channel)
{
	size_t max = TG_REQUESTS_MAX + (channel == TG_CONTROL ? TG_REQUESTS_SPARE : 0);

	return q->n < max || forgettable(q);
}

struct tg_request *tg_requests_add(
	struct tg_requests *q, const struct tg_msg *m, enum tg_channel channel)
{
	struct tg_bytes header = tg_msg_part(m, TG_HEADER);
	struct tg_request *r;

	if (q->n >= TG_REQUESTS_MAX && (r = forgettable(q)))
		tg_requests_remove(q, r);
	r = take_spare(q);
	r->channel = channel;
	tg_jscan_string(tg_jscan_member(header.at, header.len, "msg_id"), &r->msg_id);
	tg_jscan_string(tg_jscan_member(header.at, header.len, "msg_type"), &r->type);
	tg_jscan_string(tg_jscan_member(header.at, header.len, "subshell_id"), &r->subshell);
	tg_buf_add(&r->header, header.at, header.len);
	for (size_t i = 0; i < m->n_ids; i++)
		tg_msg_add(&r->ids, zmq_msg_data(&m->frame[i]), zmq_msg_size(&m->frame[i]));
	if (q->last)
		q->last->next = r;
	else
		q->first = r;
	q->last = r;
	q->n++;
	return r;
}

struct tg_request *tg_requests_find(const struct tg_requests *q, struct tg_bytes msg_id)
{
	if (!msg_id.at)
		return NULL;
	for (struct tg_request *r = q->first; r; r = r->next)
		if (tg_jscan_is(msg_id, r->msg_id.data))
			return r;
	return NULL;
}

void tg_requests_remove(struct tg_requests *q, struct tg_request *r)
{
	struct tg_request **p = &q->first, *before = NULL;

	while (*p && *p != r) {
		before = *p;
		p = &before->next;
	}
	if (!*p)
		return;
	*p = r->next;
	if (q->last == r)
		q->last = before;
	q->n--;
	r->next = q->spare;
	q->spare = r;
}

bool tg_request_is(const struct tg_request *r, const char *type)
{
	return !strcmp(r->type.data, type);
}
