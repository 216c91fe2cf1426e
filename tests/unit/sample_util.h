/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of sampling: a sampler, its readings by name, child processes that do known work. */
#ifndef TG_TESTS_SAMPLE_UTIL_H
#define TG_TESTS_SAMPLE_UTIL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/sampler.h"

static inline int64_t column(const struct tg_reading *r, const char *name, const char *instance)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->column[i].metric->name, name) &&
			!strcmp(r->column[i].instance, instance))
			return r->value[i];
	return TG_MISSING;
}

static inline bool has_column(const struct tg_reading *r, const char *name, const char *instance)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->column[i].metric->name, name) &&
			!strcmp(r->column[i].instance, instance))
			return true;
	return false;
}

/* A refresh that nothing is too dear for, however slow the machine is. */
#define REFRESH_ALL (TG_READ_REFRESH | TG_READ_ALL)

/* Without perf, whose sums would hide what the processes' do not have. */
static inline struct tg_sampler *live_sampler(pid_t root)
{
	struct tg_sampler_options options = { .root_fd = -1, .root = root, .no_perf = true };
	struct tg_sampler *s;

	if (tg_sampler_new(&s, &options, NULL) < 0)
		abort();
	return s;
}

/* A reading that is not too soon after the last one to look at each process. */
static inline void read_walked(struct tg_sampler *s, struct tg_reading *r)
{
	nanosleep(&(struct timespec){ .tv_nsec = 10 * TG_NS_PER_MS }, NULL);
	tg_sampler_read(s, 0, r);
}

static inline int64_t read_column(struct tg_sampler *s, unsigned flags, const char *name)
{
	struct tg_reading r;

	tg_sampler_read(s, flags, &r);
	return column(&r, name, "");
}

static inline int64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * TG_NS_PER_S + t.tv_nsec;
}

static inline void burn_ms(int ms)
{
	int64_t end = own_cpu_ns() + ms * TG_NS_PER_MS;

	while (own_cpu_ns() < end)
		continue;
}

/*
 * A step-by-step child: `work` runs in a new process and calls stop() between its steps; the test
 * lets it go on with go(), which returns when it has come to the next stop or has ended.
 */
struct child {
	pid_t pid;
	int go, stopped;
};

static int stop_fd[2]; /* of the child: go, stopped */

static inline void stop(void)
{
	char c = 's';

	if (write(stop_fd[1], &c, 1) != 1 || read(stop_fd[0], &c, 1) != 1)
		_exit(99);
}

static inline void wait_stopped(struct child *c)
{
	struct pollfd p = { .fd = c->stopped, .events = POLLIN };
	char byte;

	/* a minute: for a loaded machine, only to end at all when something is broken */
	if (poll(&p, 1, 60000) != 1 || read(c->stopped, &byte, 1) < 0)
		abort();
}

static inline struct child start(void (*work)(void))
{
	int go[2], stopped[2];
	struct child c;

	if (pipe(go) < 0 || pipe(stopped) < 0)
		abort();
	fflush(stdout);
	c.pid = fork();
	if (c.pid == 0) {
		close(go[1]);
		close(stopped[0]);
		stop_fd[0] = go[0];
		stop_fd[1] = stopped[1];
		stop();
		work();
		_exit(0);
	}
	close(go[0]);
	close(stopped[1]);
	c.go = go[1];
	c.stopped = stopped[0];
	wait_stopped(&c);
	return c;
}

static inline void go(struct child *c)
{
	if (write(c->go, "g", 1) == 1)
		wait_stopped(c);
}

static inline void finish(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->go);
	close(c->stopped);
}

static inline void wait_child(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Work for one of 200 ms of CPU time, then a stop. */
static inline void burn_200(void)
{
	burn_ms(200);
	stop();
}

#endif
