/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One recorder an id, one writer a file: locks in the runtime folder (never on the recording, whose
 * file system may not have locks). Who comes second hands its starter's socket to the first, with
 * all that was sent into it already, so that no mark is lost when two are started at once.
 */
#ifndef TG_RECORDER_LOCK_H
#define TG_RECORDER_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Returns a descriptor that holds the lock; -EWOULDBLOCK when another has it; -errno. */
int tg_lock_take(const char *path, struct tg_err *err);

/*
 * Append the path of the lock for writing `file`: by the name of its folder as it really is, so
 * that recorders of several ids with one output do not write into each other. 0 or -errno.
 */
int tg_lock_name(struct tg_buf *out, const char *file, struct tg_err *err);

/* Whether `path` still names the file of a lock that we hold: it may have been removed. */
bool tg_lock_is_there(const char *path, int lock);

/* Remove the file, if it is still that of the lock, and let go. */
void tg_lock_drop(const char *path, int lock);

/*
 * Give `fd` (and the root that it speaks of, 0: none) to the recorder that listens at
 * `socket_path`. Returns 0 once that one has said yes, -EAGAIN when it does not listen (yet, or any
 * more). Waits at most 30 seconds.
 */
int tg_lock_hand_over(const char *socket_path, int fd, pid_t root);

#endif
