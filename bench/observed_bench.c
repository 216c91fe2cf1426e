/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Something to be observed, for bench/sampler: for each line "pipes N" or "forks N" on stdin it
 * sends a byte N times to another process and back, or forks and execs N times, all on one core,
 * and prints the ns of CPU time that one took it and its children.
 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#include "base/mem.h"

static int64_t used_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * TG_NS_PER_S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * TG_NS_PER_US;
}

static void pipes(int n)
{
	int to[2], back[2];
	char c = 0;
	pid_t pid;

	if (pipe(to) < 0 || pipe(back) < 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		while (read(to[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			continue;
		_exit(0);
	}
	while (n-- > 0)
		if (write(to[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			exit(1);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(back[i]);
	}
	waitpid(pid, NULL, 0);
}

static void forks(int n)
{
	while (n-- > 0) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/proc/self/exe", "observed_bench", "nothing", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

/* The core that we are on now, and no other, so that each round trip is two switches. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	char what[16];
	int n;

	(void)argv;
	if (argc > 1)
		return 0;
	stay_here();
	while (scanf("%15s %d", what, &n) == 2 && n > 0) {
		int64_t before = used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN), after;

		(*what == 'p' ? pipes : forks)(n);
		after = used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN);
		printf("%.1f\n", (double)(after - before) / n);
		fflush(stdout);
	}
	return 0;
}
