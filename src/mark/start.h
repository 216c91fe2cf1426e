/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting a recorder from any process, whatever its threads, signals and descriptors. */
#ifndef TG_MARK_START_H
#define TG_MARK_START_H

/*
 * Run `exe` with `argv` detached: no child of ours, a session of its own, no signal blocked or
 * ignored, working folder /, stdio /dev/null, `fd` as descriptor 3 and no other. Returns 0 once it
 * is on its way (what comes of the exec shows at the other end of `fd`), or -errno of the fork.
 */
int tg_mark_spawn(const char *exe, char *const argv[], int fd);

#endif
