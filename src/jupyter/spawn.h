/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals of the proxy, and starting a program so that it finds its signals as we found ours. Our
 * own are read from a signalfd; a mask that was inherited would make the user's kernel deaf to
 * interrupts. Between fork and exec only async-signal-safe calls are made: libzmq has a thread.
 */
#ifndef TG_JUPYTER_SPAWN_H
#define TG_JUPYTER_SPAWN_H

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
 * for itself, which is ours, too: SIGUSR1, timers and the like. Call before the first thread. 0 or
 * -errno.
 */
int tg_signals_open(struct tg_signals *s);
void tg_signals_close(struct tg_signals *s); /* and put back what was found */

struct tg_spawn {
	char *const *argv;
	char *const *env; /* its PATH is searched */
	const struct tg_signals *signals;
	int fd3; /* becomes the child's descriptor 3; -1: none */
	bool ignores_signals; /* those of the group: it is ours, and not the user's */
};

/*
 * Start a program in our process group; it dies when we do. Must be called from the main thread,
 * to which that is tied. Returns its pid, or -errno with a sentence when it cannot be started.
 */
pid_t tg_spawn(const struct tg_spawn *s, struct tg_err *err);

#endif
