/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/mem.h"

struct tg_queue {
	pthread_mutex_t lock;
	pthread_cond_t some;
	struct tg_item *head, *tail;
	size_t bytes, max_bytes;
};

struct tg_queue *tg_queue_new(size_t max_bytes)
{
	struct tg_queue *q = tg_xcalloc(1, sizeof(*q));
	pthread_condattr_t attr;

	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->some, &attr);
	pthread_condattr_destroy(&attr);
	q->max_bytes = max_bytes;
	return q;
}

void tg_item_free(struct tg_item *item)
{
	if (!item)
		return;
	tg_block_free(item->block);
	tg_process_block_free(item->processes);
	free(item->column);
	free(item->data);
	free(item);
}

void tg_queue_free(struct tg_queue *q)
{
	struct tg_item *item;

	if (!q)
		return;
	while ((item = q->head)) {
		q->head = item->next;
		tg_item_free(item);
	}
	pthread_cond_destroy(&q->some);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static size_t item_bytes(const struct tg_item *item)
{
	size_t bytes = sizeof(*item);

	if (item->block)
		bytes += tg_block_bytes(item->block);
	if (item->processes)
		bytes += sizeof(*item->processes) +
			 item->processes->cap * sizeof(*item->processes->cell);
	if (item->column)
		bytes += item->n * sizeof(*item->column);
	if (item->data)
		bytes += item->n;
	return bytes;
}

int tg_queue_push(struct tg_queue *q, const struct tg_item *item)
{
	bool samples = item->kind == TG_ITEM_BLOCK || item->kind == TG_ITEM_PROCESSES;
	size_t max = samples ? q->max_bytes - q->max_bytes / 8 : q->max_bytes;
	size_t bytes = item_bytes(item);
	struct tg_item *copy = NULL;

	pthread_mutex_lock(&q->lock);
	if (item->kind == TG_ITEM_FINISH || (q->bytes <= max && bytes <= max - q->bytes)) {
		copy = tg_xmalloc(sizeof(*copy));
		*copy = *item;
		copy->next = NULL;
		if (q->head)
			q->tail->next = copy;
		else
			q->head = copy;
		q->tail = copy;
		q->bytes += bytes;
		pthread_cond_signal(&q->some);
	}
	pthread_mutex_unlock(&q->lock);
	return copy ? 0 : -ENOSPC;
}

struct tg_item *tg_queue_pop(struct tg_queue *q, int timeout_ms)
{
	int64_t until = tg_mono_ns() + timeout_ms * TG_NS_PER_MS;
	struct timespec deadline = { .tv_sec = until / TG_NS_PER_S,
		.tv_nsec = until % TG_NS_PER_S };
	struct tg_item *item;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	while (!q->head && r != ETIMEDOUT)
		r = timeout_ms < 0 ? pthread_cond_wait(&q->some, &q->lock)
				   : pthread_cond_timedwait(&q->some, &q->lock, &deadline);
	item = q->head;
	if (item) {
		q->head = item->next;
		q->bytes -= item_bytes(item);
	}
	pthread_mutex_unlock(&q->lock);
	return item;
}
