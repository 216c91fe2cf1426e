/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* Where `tid` is, or would be. */
static size_t place_of(const struct tg_perf *p, pid_t tid)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->tid[mid] < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Leaving out the kernel's side is what lets who is not root ask; this clock counts it all the
 * same. */
static int open_event(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int tg_perf_add(struct tg_perf *p, pid_t tid)
{
	size_t at = place_of(p, tid);
	int fd;

	if (at < p->n && p->tid[at] == tid)
		return 0;
	if (p->n >= TG_PERF_THREADS_MAX)
		return -EMFILE;
	fd = open_event(tid);
	if (fd < 0)
		return fd;
	if (p->n == p->cap) {
		p->cap = p->cap * 2 + 16;
		p->fd = tg_xrealloc(p->fd, p->cap, sizeof(*p->fd));
		p->tid = tg_xrealloc(p->tid, p->cap, sizeof(*p->tid));
	}
	memmove(p->fd + at + 1, p->fd + at, (p->n - at) * sizeof(*p->fd));
	memmove(p->tid + at + 1, p->tid + at, (p->n - at) * sizeof(*p->tid));
	p->fd[at] = fd;
	p->tid[at] = tid;
	p->n++;
	return 0;
}

int64_t tg_perf_read(const struct tg_perf *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		int64_t ns;

		if (read(p->fd[i], &ns, sizeof(ns)) == sizeof(ns))
			sum += ns;
	}
	return sum;
}

void tg_perf_close(struct tg_perf *p)
{
	for (size_t i = 0; i < p->n; i++)
		close(p->fd[i]);
	free(p->fd);
	free(p->tid);
	*p = (struct tg_perf){ 0 };
}
