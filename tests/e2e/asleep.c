/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program: a machine that was suspended, for its clocks. Once the file named in
 * TG_ASLEEP is there, an hour has gone by on the clocks that run on in suspend.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
	const char *file = getenv("TG_ASLEEP");
	long r = syscall(SYS_clock_gettime, id, t);

	if (!r && file && (id == CLOCK_BOOTTIME || id == CLOCK_REALTIME) && !access(file, F_OK))
		t->tv_sec += 3600;
	return (int)r;
}
