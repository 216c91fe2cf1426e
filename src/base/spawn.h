/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals of a process that stands between a program and who started it, and starting that program
 * so that it finds its signals as we found ours. Our own are read from a signalfd; a mask that was
 * inherited would make the program deaf to interrupts. Between fork and exec only async-signal-safe
 * calls are made: we may have threads (libzmq's).
 */
#ifndef TG_BASE_SPAWN_H
#define TG_BASE_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct tg_signals {
	int fd; /* signalfd of SIGINT, SIGTERM, SIGCHLD, and SIGHUP unless nohup(1) ignores it */
	sigset_t mask; /* as found */
	struct sigaction found[_NSIG]; /* likewise, of those in `changed` */
	sigset_t changed;
};

/*
 * Block what is read from the descriptor, and ignore what a program may send to its process group
 * for itself, which is ours, too: timers, SIGQUIT and the like. SIGUSR1 and SIGUSR2 are among what
 * is read where `reads_user_signals`, else they are ignored, too. Call before the first thread. 0
 * or -errno.
 */
int tg_signals_open(struct tg_signals *s, bool reads_user_signals);
void tg_signals_close(struct tg_signals *s); /* and put back what was found */

struct tg_spawn {
	char *const *argv;
	char *const *env; /* its PATH is searched */
	const struct tg_signals *signals; /* NULL: we changed none */
	int fd3; /* becomes the child's descriptor 3; -1: none */
	bool ignores_signals; /* those of the group: it is ours, and not the user's */
	bool outlives_us; /* else it is killed when we die, which is tied to the main thread */
};

/* A child that is not yet the program. */
struct tg_spawned {
	pid_t pid;
	int go, report;
	char *file; /* what it will run */
};

/*
 * Fork, in our process group, and look the program up; it runs when tg_spawn_go is called, and
 * never when we die before. Returns 0, or -errno with a sentence: -ENOENT where there is no such
 * program.
 */
int tg_spawn_hold(struct tg_spawned *child, const struct tg_spawn *s, struct tg_err *err);

/* 0, or -errno with a sentence when it cannot be run; it is gone then. */
int tg_spawn_go(struct tg_spawned *child, struct tg_err *err);

/* Both. Returns its pid, or -errno with a sentence. */
pid_t tg_spawn(const struct tg_spawn *s, struct tg_err *err);

#endif
