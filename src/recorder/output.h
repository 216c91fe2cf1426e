/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writer's thread: the only one that touches the recording. Whatever the file system does
 * (hangs, fills up, fails), the other side only sees a queue that takes no more, a sentence in the
 * state, and goes on. What could not be written is named in the file as a gap once it can be.
 */
#ifndef TG_RECORDER_OUTPUT_H
#define TG_RECORDER_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "recorder/queue.h"

#define TG_OUTPUT_NAMES 99 /* names tried: FILE, FILE-2 … */

struct tg_output;

struct tg_output_state {
	bool open; /* the numbers below are good, and items are taken */
	bool failed; /* could not be opened; it is tried again each second */
	bool deleted; /* the file was deleted, or is another's now: only the end is left */
	uint32_t session, next_table, next_entity;
	uint64_t next_span;
	char file[PATH_MAX]; /* the recording's path as it came to be */
	char warning[320]; /* one sentence when something could not be written, else "" */
};

/*
 * Start the thread; it opens `path` or the next free name. In a folder of `ours`, that of kernels'
 * recordings, it makes that folder where it is gone, and removes old recordings (prune.h). 0 or
 * -errno of the thread.
 */
int tg_output_start(struct tg_output **out, const char *path, const char *session_json,
	size_t queue_bytes, bool ours);

/* Readable when the state has changed or a flush is done; tg_output_state makes it quiet again. */
int tg_output_fd(const struct tg_output *o);
void tg_output_state(struct tg_output *o, struct tg_output_state *state);

/* As tg_queue_push. */
int tg_output_push(struct tg_output *o, const struct tg_item *item);

/*
 * Take one flush that is done. False when there is none. `offset` is -1 when the file could not be
 * written and lacks something of what came before the flush, or the event that says so.
 */
bool tg_output_flushed(struct tg_output *o, uint64_t *client, int64_t *number, int64_t *offset);

/*
 * Write what is queued and the end chunk, and free `o`. When that takes longer than `timeout_ms`
 * the thread is left alone with it and -ETIMEDOUT returned: then only the end of the process is
 * left.
 */
int tg_output_finish(struct tg_output *o, int timeout_ms);

/* Append the path to try as number `i`: 1 is `path`, 2 puts -2 before its last extension. */
void tg_output_name(struct tg_buf *out, const char *path, int i);

#endif
