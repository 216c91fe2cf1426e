/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes from the sampler's thread to the writer's, in order, within a bound of bytes. A push
 * never waits: when the bound is reached the item stays the pusher's, who counts the loss. Samples
 * may fill seven eighths, so that events still get through when the file system is slow.
 */
#ifndef TG_RECORDER_QUEUE_H
#define TG_RECORDER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"
#include "record/block.h"

#define TG_QUEUE_BYTES (8u << 20)

enum tg_item_kind {
	TG_ITEM_TABLE, /* number, column, n: a table starts */
	TG_ITEM_BLOCK,
	TG_ITEM_PROCESSES,
	TG_ITEM_EVENTS, /* data, n bytes */
	TG_ITEM_FLUSH, /* client, number: say when everything before is in the file */
	TG_ITEM_FINISH, /* always accepted */
};

/* One thing to write; owns what it points to. */
struct tg_item {
	struct tg_item *next;
	enum tg_item_kind kind;
	uint32_t table;
	struct tg_column *column;
	struct tg_block *block;
	struct tg_process_block *processes;
	char *data;
	size_t n;
	uint64_t client;
	int64_t number;
};

struct tg_queue;

struct tg_queue *tg_queue_new(size_t max_bytes);
void tg_queue_free(struct tg_queue *q); /* with all that is in it */

/* Put a copy of `item` at the end; what it points to is the queue's then. 0, or -ENOSPC. */
int tg_queue_push(struct tg_queue *q, const struct tg_item *item);

/* Wait at most `timeout_ms` (-1: for ever) for the next item. NULL when there is none by then. */
struct tg_item *tg_queue_pop(struct tg_queue *q, int timeout_ms);

void tg_item_free(struct tg_item *item);

#endif
