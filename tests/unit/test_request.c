/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of requests when it is full: the running cell, which is the oldest, stays in it.
 */
#include "tap.h"

#include "jupyter/request.h"

#include "base/mem.h"

static struct tg_request *add(struct tg_requests *q, int id, enum tg_channel channel)
{
	static const struct tg_sign unsigned_ = { 0 };
	struct tg_msg m = TG_MSG_INIT;
	struct tg_request *r;
	char header[64];
	int len = snprintf(
		header, sizeof(header), "{\"msg_id\":\"%d\",\"msg_type\":\"execute_request\"}", id);

	tg_msg_add(&m, "me", 2);
	tg_msg_body(&m, &unsigned_, (struct tg_bytes){ header, (size_t)len },
		(struct tg_bytes){ 0 }, (struct tg_bytes){ "{}", 2 });
	r = tg_requests_add(q, &m, channel);
	tg_msg_release(&m);
	return r;
}

static struct tg_request *find(const struct tg_requests *q, int id)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "\"%d\"", id);

	return tg_requests_find(q, (struct tg_bytes){ text, (size_t)len });
}

static void test_full(void)
{
	struct tg_requests q = { 0 };

	for (int i = 0; i < TG_REQUESTS_MAX; i++) {
		if (!tg_requests_room(&q, TG_SHELL))
			T_OK(false);
		add(&q, i, TG_SHELL);
	}
	/* nobody was answered: shell waits, control goes on for a while */
	T_OK(!tg_requests_room(&q, TG_SHELL));
	for (int i = 0; i < TG_REQUESTS_SPARE; i++) {
		if (!tg_requests_room(&q, TG_CONTROL))
			T_OK(false);
		add(&q, -1 - i, TG_CONTROL);
	}
	T_OK(!tg_requests_room(&q, TG_CONTROL));
	T_OK(find(&q, 0) == q.first);
	T_EQ_I(q.n, TG_REQUESTS_MAX + TG_REQUESTS_SPARE);
	/* one whose reply waits for the worker is not forgotten, one that only lacks its idle is */
	find(&q, 3)->replied = true;
	find(&q, 3)->pinned = 1;
	T_OK(!tg_requests_room(&q, TG_SHELL));
	find(&q, 5)->replied = true;
	T_OK(tg_requests_room(&q, TG_SHELL));
	add(&q, 123456, TG_SHELL);
	T_EQ_I(q.n, TG_REQUESTS_MAX + TG_REQUESTS_SPARE);
	T_OK(find(&q, 0) && find(&q, 3) && find(&q, 4) && !find(&q, 5) && find(&q, 123456));
	T_OK(!tg_requests_room(&q, TG_SHELL));
	tg_requests_release(&q);
}

int main(void)
{
	test_full();
	return t_done();
}
