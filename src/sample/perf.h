/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of a set of threads and of all that they will ever start, counted by the kernel itself:
 * perf's task-clock with inherit, one event a thread. It has what no reading of /proc sees, the
 * children that are born and dead between two readings and were never waited for. Needs Linux's
 * leave (perf_event_paranoid, seccomp), and the kernel counts from when it is asked, no earlier.
 */
#ifndef TG_SAMPLE_PERF_H
#define TG_SAMPLE_PERF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TG_PERF_THREADS_MAX 4096

struct tg_perf {
	int *fd;
	pid_t *tid; /* ascending */
	size_t n, cap;
};

/* Count thread `tid`. 0, or -errno (-ESRCH: it is gone; -EACCES, -EPERM, -ENOSYS: not allowed). */
int tg_perf_add(struct tg_perf *p, pid_t tid);

/* What all have used since they were added, with all that they have started since, in ns. */
int64_t tg_perf_read(const struct tg_perf *p);

/* Stop counting, and begin with none. An all-zero struct is one without threads. */
void tg_perf_close(struct tg_perf *p);

#endif
