/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/msg.h"

#include <errno.h>

#include "base/mem.h"

static const char delimiter[] = "<IDS|MSG>";

void tg_msg_clear(struct tg_msg *m)
{
	for (size_t i = 0; i < m->n; i++)
		zmq_msg_close(&m->frame[i]);
	m->n = m->n_ids = 0;
	m->whole = false;
}

void tg_msg_release(struct tg_msg *m)
{
	tg_msg_clear(m);
	free(m->frame);
	*m = (struct tg_msg)TG_MSG_INIT;
}

void tg_msg_swap(struct tg_msg *a, struct tg_msg *b)
{
	struct tg_msg was = *a;

	*a = *b;
	*b = was;
}

/* Room for one more frame. libzmq wants its structs moved by zmq_msg_move, not by realloc. */
static zmq_msg_t *next_frame(struct tg_msg *m)
{
	if (m->n == m->cap) {
		size_t cap = m->cap * 2 + 16;
		zmq_msg_t *frame = tg_xcalloc(cap, sizeof(*frame));

		for (size_t i = 0; i < m->n; i++) {
			zmq_msg_init(&frame[i]);
			zmq_msg_move(&frame[i], &m->frame[i]);
			zmq_msg_close(&m->frame[i]);
		}
		free(m->frame);
		m->frame = frame;
		m->cap = cap;
	}
	return &m->frame[m->n];
}

void tg_msg_index(struct tg_msg *m)
{
	m->whole = false;
	for (m->n_ids = 0; m->n_ids < m->n; m->n_ids++) {
		zmq_msg_t *f = &m->frame[m->n_ids];

		if (zmq_msg_size(f) != sizeof(delimiter) - 1 ||
			memcmp(zmq_msg_data(f), delimiter, sizeof(delimiter) - 1))
			continue;
		m->whole = m->n - m->n_ids >= TG_N_PARTS;
		return;
	}
}

int tg_msg_recv(struct tg_msg *m, void *socket)
{
	bool more = true, huge = false;

	tg_msg_clear(m);
	while (more) {
		zmq_msg_t *f = next_frame(m);

		zmq_msg_init(f);
		if (zmq_msg_recv(f, socket, ZMQ_DONTWAIT) < 0) {
			int error = errno;

			zmq_msg_close(f);
			if (error == EINTR)
				continue;
			tg_msg_clear(m);
			return error == EAGAIN ? 0 : -error;
		}
		more = zmq_msg_more(f);
		m->n++;
		if (m->n == TG_MSG_FRAMES_MAX && more) {
			huge = true;
			tg_msg_clear(m);
		}
	}
	if (huge) {
		tg_msg_clear(m);
		return -E2BIG;
	}
	tg_msg_index(m);
	return 1;
}

int tg_msg_send(struct tg_msg *m, void *socket)
{
	int ret = 0;

	for (size_t i = 0; i < m->n && !ret; i++) {
		int flags = ZMQ_DONTWAIT | (i + 1 < m->n ? ZMQ_SNDMORE : 0);

		while (zmq_msg_send(&m->frame[i], socket, flags) < 0)
			if (errno != EINTR) {
				ret = -errno;
				break;
			}
	}
	tg_msg_clear(m); /* sent frames are empty by now; closing them is a no-op */
	return ret;
}

size_t tg_msg_size(const struct tg_msg *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += zmq_msg_size(&m->frame[i]);
	return n;
}

struct tg_bytes tg_msg_part(const struct tg_msg *m, enum tg_part part)
{
	zmq_msg_t *f;

	if (!m->whole)
		return (struct tg_bytes){ 0 };
	f = &m->frame[m->n_ids + (size_t)part];
	return (struct tg_bytes){ zmq_msg_data(f), zmq_msg_size(f) };
}

struct tg_bytes tg_msg_member(const struct tg_msg *m, enum tg_part part, const char *name)
{
	struct tg_bytes v = tg_msg_part(m, part);

	return v.at ? tg_jscan_member(v.at, v.len, name) : v;
}

/* The four frames that are signed. */
static void signed_parts(const struct tg_msg *m, struct iovec part[4])
{
	for (int i = 0; i < 4; i++) {
		zmq_msg_t *f = &m->frame[m->n_ids + TG_HEADER + (size_t)i];

		part[i] = (struct iovec){ zmq_msg_data(f), zmq_msg_size(f) };
	}
}

bool tg_msg_verify(const struct tg_msg *m, const struct tg_sign *sign)
{
	struct tg_bytes hex = tg_msg_part(m, TG_SIGNATURE);
	struct iovec part[4];

	if (!m->whole)
		return false;
	signed_parts(m, part);
	return tg_sign_check(sign, part, 4, hex.at, hex.len);
}

static void set_frame(zmq_msg_t *f, const void *data, size_t len)
{
	if (zmq_msg_init_size(f, len))
		tg_out_of_memory();
	if (len)
		memcpy(zmq_msg_data(f), data, len);
}

static void set_signature(struct tg_msg *m, const struct tg_sign *sign)
{
	zmq_msg_t *f = &m->frame[m->n_ids + TG_SIGNATURE];
	char hex[TG_SIGN_HEX + 1];
	struct iovec part[4];
	size_t len;

	signed_parts(m, part);
	len = tg_sign_hex(sign, part, 4, hex);
	zmq_msg_close(f);
	set_frame(f, hex, len);
}

void tg_msg_replace(struct tg_msg *m, enum tg_part part, const char *data, size_t len,
	const struct tg_sign *sign)
{
	zmq_msg_t *f = &m->frame[m->n_ids + (size_t)part];

	zmq_msg_close(f);
	set_frame(f, data, len);
	set_signature(m, sign);
}

void tg_msg_add(struct tg_msg *m, const void *data, size_t len)
{
	set_frame(next_frame(m), data, len);
	m->n++;
}

void tg_msg_body(struct tg_msg *m, const struct tg_sign *sign, struct tg_bytes header,
	struct tg_bytes parent, struct tg_bytes content)
{
	m->n_ids = m->n;
	tg_msg_add(m, delimiter, sizeof(delimiter) - 1);
	tg_msg_add(m, "", 0);
	tg_msg_add(m, header.at, header.len);
	if (parent.at)
		tg_msg_add(m, parent.at, parent.len);
	else
		tg_msg_add(m, "{}", 2);
	tg_msg_add(m, "{}", 2);
	tg_msg_add(m, content.at, content.len);
	m->whole = true;
	set_signature(m, sign);
}
