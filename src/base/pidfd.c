/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pidfd.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same number everywhere */
#endif

int tg_pidfd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0u);

	return fd < 0 ? -errno : (int)fd;
}
