/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proxy's side of a worker: one that does not die when it is killed is never waited for. A
 * tracer stands for the file system that hangs: until it lets go, wait(2) finds nobody.
 */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jupyter/worker.h"

#include "base/mem.h"

/* Holds a process until `release` closes. Returns the tracer, or 0 where that is not allowed. */
static pid_t hold(pid_t pid, const int release[2])
{
	int ready[2];
	pid_t tracer;
	char c = 0;

	if (pipe(ready))
		return 0;
	tracer = fork();
	if (!tracer) {
		close(release[1]);
		c = ptrace(PTRACE_SEIZE, pid, NULL, NULL) ? 'n' : 'y';
		if (write(ready[1], &c, 1) == 1 && c == 'y' && read(release[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	if (read(ready[0], &c, 1) == 1 && c == 'y')
		return tracer;
	waitpid(tracer, NULL, 0);
	return 0;
}

static void test_hangs(void)
{
	struct tg_signals signals;
	struct tg_worker w;
	struct tg_err err = { 0 };
	int release[2];
	pid_t pid, tracer;
	char c;

	tg_worker_init(&w);
	T_EQ_I(tg_signals_open(&signals), 0);
	T_EQ_I(tg_worker_start(&w, "/proc/self/exe", false, &signals, &err), 0);
	pid = w.pid;

	while (recv(w.fd, &c, 1, 0) < 0 && errno == EAGAIN)
		poll(&(struct pollfd){ .fd = w.fd, .events = POLLIN }, 1, 1000);
	T_EQ_I(pipe2(release, O_CLOEXEC), 0);
	tracer = hold(pid, release);
	if (!tracer) {
		printf("# no tracing here: not tested\n");
		tg_worker_stop(&w);
		return;
	}
	tg_worker_stop(&w); /* and goes on */
	T_EQ_I(w.fd, -1);
	T_EQ_I(w.gone[0], pid);
	T_EQ_I(tg_worker_start(&w, "/proc/self/exe", false, &signals, &err), 0);
	T_OK(w.pid > 0 && w.pid != pid);
	tg_worker_stop(&w);
	/* no end of them is started */
	for (size_t i = 0; i < TG_WORKER_GONE_MAX; i++)
		w.gone[i] = pid;
	T_EQ_I(tg_worker_start(&w, "/proc/self/exe", false, &signals, &err), -EAGAIN);
	T_EQ_S(err.text, "16 workers before it hang");
	close(release[1]);
	waitpid(tracer, NULL, 0);
	for (int i = 0; i < 12000 && w.gone[0]; i++) {
		usleep(10000);
		tg_worker_reap(&w);
	}
	T_EQ_I(w.gone[0], 0);
	T_EQ_I(waitpid(pid, NULL, WNOHANG), -1);
	tg_signals_close(&signals);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "worker")) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		if (write(3, "r", 1) == 1)
			pause();
		return 0;
	}
	test_hangs();
	return t_done();
}
