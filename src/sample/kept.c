/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/kept.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/pidfd.h"

#include "base/mem.h"

void tg_kept_init(struct tg_kept *k, bool live)
{
	struct rlimit limit = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	*k = (struct tg_kept){ .max = (unsigned)TG_MIN(limit.rlim_cur, 65536) / 2 };
	k->epoll_fd = live ? epoll_create1(EPOLL_CLOEXEC) : -1;
}

void tg_kept_release(struct tg_kept *k)
{
	if (k->epoll_fd >= 0)
		close(k->epoll_fd);
	k->epoll_fd = -1;
}

void tg_kept_watch(struct tg_kept *k, struct tg_process *p)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = p };
	int fd;

	if (k->epoll_fd < 0 || k->n_pidfds >= k->max / 2)
		return;
	fd = tg_pidfd_open(p->pid);
	if (fd < 0)
		return;
	p->pidfd = fd;
	if (epoll_ctl(k->epoll_fd, EPOLL_CTL_ADD, p->pidfd, &event) < 0) {
		close(p->pidfd);
		p->pidfd = -1;
		return;
	}
	k->n_pidfds++;
}

static void unwatch(struct tg_kept *k, struct tg_process *p)
{
	if (p->pidfd < 0)
		return;
	close(p->pidfd); /* which takes it out of the epoll set, too */
	p->pidfd = -1;
	k->n_pidfds--;
}

bool tg_kept_collect_exits(struct tg_kept *k)
{
	struct epoll_event event[64];
	bool any = false;
	int n;

	if (k->epoll_fd < 0 || !k->n_pidfds)
		return false;
	do {
		n = epoll_wait(k->epoll_fd, event, TG_ARRAY_SIZE(event), 0);
		for (int i = 0; i < n; i++) {
			struct tg_process *p = event[i].data.ptr;

			any = p->exited = true;
			unwatch(k, p);
		}
	} while (n == TG_ARRAY_SIZE(event));
	return any;
}

static void unlist(struct tg_kept *k, struct tg_process *p)
{
	if (k->newest != p && !p->newer)
		return; /* not in the list */
	*(p->newer ? &p->newer->older : &k->newest) = p->older;
	*(p->older ? &p->older->newer : &k->oldest) = p->newer;
	p->newer = p->older = NULL;
}

void tg_kept_used(struct tg_kept *k, struct tg_process *p, unsigned before)
{
	k->n_open += p->n_open - before;
	if (k->newest != p) {
		unlist(k, p);
		p->older = k->newest;
		*(k->newest ? &k->newest->newer : &k->oldest) = p;
		k->newest = p;
	}
	while (k->n_open + k->n_pidfds > k->max && k->oldest != p) {
		struct tg_process *idle = k->oldest;

		unlist(k, idle);
		k->n_open -= tg_process_close_files(idle);
	}
}

void tg_kept_close(struct tg_kept *k, struct tg_process *p)
{
	unlist(k, p);
	k->n_open -= tg_process_close_files(p);
	unwatch(k, p);
}
