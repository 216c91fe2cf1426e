/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between fork and exec only async-signal-safe calls: the caller may have threads that hold locks.
 * The second fork is a bare system call, because fork(3) runs handlers of other libraries.
 */
#include "mark/start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9, the same number everywhere */
#endif

static void close_from(int first)
{
	struct rlimit limit;
	int last = 65536;

	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)last)
		last = (int)limit.rlim_cur;
	for (int fd = first; fd < last; fd++)
		close(fd);
}

static _Noreturn void become(const char *exe, char *const argv[], int fd)
{
	/* the kernel's own sigaction, all zero: SIG_DFL; unlike libc's it takes all 64 signals */
	static const char plain[64];
	sigset_t none;
	int null;

	for (int s = 1; s <= 64; s++)
		syscall(SYS_rt_sigaction, s, plain, NULL, 8ul); /* KILL and STOP are refused */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/") < 0)
		_exit(126);
	fd = fcntl(fd, F_DUPFD, 10); /* out of the way of what is placed now */
	null = open("/dev/null", O_RDWR);
	if (fd < 0 || null < 0)
		_exit(126);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	dup2(fd, 3);
	close_from(4);
	execv(exe, argv);
	_exit(127);
}

int tg_mark_spawn(const char *exe, char *const argv[], int fd)
{
	sigset_t all, before;
	int status, r = 0;
	pid_t pid;

	/* no handler of the caller's may run in the child */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid < 0)
		r = -errno;
	if (pid == 0) {
		long second;

		setsid();
		second = syscall(SYS_clone, (unsigned long)SIGCHLD, 0ul, 0ul, 0ul, 0ul);
		if (second == 0)
			become(exe, argv, fd);
		_exit(second < 0 ? errno : 0);
	}
	/* ECHILD: the caller ignores SIGCHLD or reaps everything itself; then it went well, too */
	if (pid > 0) {
		pid_t got;

		do
			got = waitpid(pid, &status, 0);
		while (got < 0 && errno == EINTR);
		if (got == pid && WIFEXITED(status) && WEXITSTATUS(status))
			r = -WEXITSTATUS(status);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}
