/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's own kernel: a child in our process group (so that signals meant for the group reach
 * it as without us), with a connection file of its own in a private folder and four sockets to it.
 * The file keeps the name that the outer one has, because libraries read the kernel's id from it.
 */
#ifndef TG_JUPYTER_INNER_H
#define TG_JUPYTER_INNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/spawn.h"
#include "jupyter/conn.h"
#include "jupyter/kernelspec.h"

struct tg_inner {
	pid_t pid; /* 0: none, or reaped */
	struct tg_conn conn;
	struct tg_buf dir; /* private, 0700, lock_fd; gone after tg_inner_close, if still ours */
	struct tg_buf file; /* its connection file */
	int lock_fd;
	bool beside; /* `dir` is beside the outer connection file: no ipc there */
	void *socket[TG_N_CHANNELS]; /* none for the heartbeat */
	bool connected;
	int64_t started_ns;
};

struct tg_inner_start {
	const struct tg_conn *outer;
	const char *outer_file; /* path of the outer connection file */
	const char *id; /* short, of file name characters: names the private folder */
	const struct tg_kernelspec *spec;
	const char *prefix, *python; /* see tg_kernelspec_command */
	char *const *more; /* the same */
	const char *recorder; /* its socket, told in TACHOGRAPH_SOCKET; NULL: none */
	const struct tg_signals *signals;
	void *context; /* of zmq */
	bool tcp; /* do not use ipc */
};

/*
 * Ports that are free now and differ. Another program may take one before the kernel does: ipc
 * comes first. 0 or -errno.
 */
int tg_inner_free_ports(int port[TG_N_CHANNELS]);

/* Start it. Returns 0, or -errno with a sentence. Close in any case. */
int tg_inner_start(struct tg_inner *in, const struct tg_inner_start *start, struct tg_err *err);

/*
 * Make its private folder again, and lock it, where it was removed with all that was in it. 0 or
 * -errno.
 */
int tg_inner_folder(struct tg_inner *in);

/*
 * Connect once its sockets are there (ipc) or at once (tcp); after a minute without them anyhow, as
 * a kernel may make some of them later. Call again every few milliseconds until it returns true.
 */
bool tg_inner_connect(struct tg_inner *in);

/* Whether it ended: exit code (signal 0) or signal. It stays a zombie until tg_inner_reap. */
bool tg_inner_ended(struct tg_inner *in, int *code, int *signal);
void tg_inner_reap(struct tg_inner *in);

/* Close the sockets without lingering, remove the private folder. Does not end the process. */
void tg_inner_close(struct tg_inner *in);

#endif
