/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that are kept for processes: files of those that were active lately, and a
 * pidfd each, which says when a process has ended. Bounded by half of the soft RLIMIT_NOFILE as it
 * is found. It is not raised here, since children would inherit that; who has none but its
 * own helpers, as the recorder, raises it before. The least recently used files go first.
 */
#ifndef TG_SAMPLE_KEPT_H
#define TG_SAMPLE_KEPT_H

#include "sample/process.h"

struct tg_kept {
	struct tg_process *newest, *oldest; /* those with open files, by last use */
	unsigned n_open, n_pidfds, max;
	int epoll_fd; /* of the pidfds; -1: there are none, as before Linux 5.3 */
};

void tg_kept_init(struct tg_kept *k, bool live);
void tg_kept_release(struct tg_kept *k); /* after all its processes were closed */

/* Open a pidfd for it, if there is room. */
void tg_kept_watch(struct tg_kept *k, struct tg_process *p);

/* Set `exited` in those watched that have ended since the last call. Returns whether any has. Does
 * not block. */
bool tg_kept_collect_exits(struct tg_kept *k);

/* `p` was just read, and had `before` files open before that; closes others' if too many are. */
void tg_kept_used(struct tg_kept *k, struct tg_process *p, unsigned before);

/* Close all that is open for it. */
void tg_kept_close(struct tg_kept *k, struct tg_process *p);

#endif
