/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What killed processes leave in the runtime folder. Whoever uses a thing there holds a lock
 * (flock) while it does: a folder "k-…" is locked itself, "NAME.lock" stands for itself and for
 * "NAME.sock". What is locked is never touched.
 */
#ifndef TG_BASE_TIDY_H
#define TG_BASE_TIDY_H

#include <stdbool.h>

/*
 * Open a folder and lock it. Returns its descriptor; -EWOULDBLOCK when it is in use, -ENOENT when
 * it is gone, also when another process removed it before we had the lock.
 */
int tg_tidy_lock_folder(int parent, const char *name);

/* Whether `name` is still what `fd` is open on: whoever had a lock may have removed it. */
bool tg_tidy_is_there(int parent, const char *name, int fd);

/* Remove a folder and the files in it, as far as that goes. */
void tg_tidy_remove_folder(int parent, const char *name);

/*
 * Remove what nobody holds: folders "k-…", and locks and sockets of recorders that were killed.
 * Whoever takes a lock must look afterwards whether it still has its name. Does not wait. Returns
 * how many were removed.
 */
int tg_tidy_runtime(const char *folder);

#endif
