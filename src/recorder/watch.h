/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a process is still alive. A pidfd where the kernel has them (5.3); else its number and
 * start time are compared whenever someone asks. Never signals.
 */
#ifndef TG_RECORDER_WATCH_H
#define TG_RECORDER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tg_watch {
	pid_t pid; /* 0: nobody, who never dies */
	int fd; /* a pidfd: readable when it is dead; -1: ask */
	uint64_t start; /* start time in ticks, where there is no pidfd */
	bool dead; /* it was dead from the beginning */
};

void tg_watch_init(struct tg_watch *w, pid_t pid);
void tg_watch_init_plain(struct tg_watch *w, pid_t pid); /* without a pidfd, for old kernels */
void tg_watch_release(struct tg_watch *w);

bool tg_watch_dead(const struct tg_watch *w);

/* The parent of a process, or 0 when there is none to be seen. */
pid_t tg_watch_parent(pid_t pid);

/*
 * How it ended, from the kernel (PIDFD_GET_INFO, Linux 6.15, once its parent has waited for it):
 * the exit code with signal 0, or the signal with exit code -1. -ENODATA when nobody knows.
 */
int tg_watch_status(const struct tg_watch *w, int *exit_code, int *signal);

#endif
