/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A descriptor of a process, which says when it ends and never means another one of the same pid.
 * Linux 5.3; before it, and where a container forbids the call, callers have a way of their own.
 */
#ifndef TG_BASE_PIDFD_H
#define TG_BASE_PIDFD_H

#include <sys/types.h>

/*
 * Returns a close-on-exec descriptor, readable when the process has ended; or -ESRCH, -ENOSYS,
 * -EPERM, -EMFILE, … Does not block.
 */
int tg_pidfd_open(pid_t pid);

#endif
