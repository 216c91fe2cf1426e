/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proxy's side of a worker: one that does not die when it is killed is never waited for (a
 * tracer stands for the file system that hangs: until it lets go, wait(2) finds nobody); one that
 * left as it was asked costs nothing.
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

#include "command/worker.h"
#include "jupyter/worker.h"

#include "base/mem.h"

#define HOW "TG_TEST_WORKER" /* what we do as a worker */

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
	struct tg_worker w = TG_WORKER_INIT;
	struct tg_err err = { 0 };
	int release[2];
	pid_t pid, tracer;
	char c;

	T_EQ_I(tg_signals_open(&signals, false), 0);
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

/* Wait for an answer, or for the end. As tg_worker_read. */
static int wait_answer(struct tg_worker *w, struct tg_buf *out)
{
	int got;

	tg_buf_clear(out);
	while (!(got = tg_worker_read(w, out)))
		poll(&(struct pollfd){ .fd = w->fd, .events = POLLIN }, 1, 1000);
	return got;
}

static void test_left(void)
{
	static const char *const exe = "/proc/self/exe";
	struct tg_buf answer = TG_BUF_INIT;
	struct tg_signals signals;
	struct tg_worker w = TG_WORKER_INIT;
	pid_t first;

	T_EQ_I(tg_signals_open(&signals, false), 0);
	/* a question to one that was there, and leaves without reading it: another gets it */
	setenv(HOW, "leave", 1);
	T_EQ_I(tg_worker_start(&w, exe, false, &signals, NULL), 0);
	first = w.pid;
	setenv(HOW, "echo", 1);
	T_EQ_I(tg_worker_ask(&w, exe, false, &signals, "one", 3, NULL), 0);
	T_EQ_I(wait_answer(&w, &answer), -EPIPE);
	T_EQ_I(tg_worker_again(&w, exe, false, &signals), 0);
	T_OK(w.pid > 0 && w.pid != first);
	T_EQ_I(w.waiting, 1);
	T_EQ_I(wait_answer(&w, &answer), 1);
	T_EQ_S(answer.data, "one");
	T_EQ_I(w.waiting, 0);
	/* once: the next one, which leaves as well, was started for the question */
	setenv(HOW, "leave", 1);
	kill(w.pid, SIGKILL);
	T_EQ_I(tg_worker_ask(&w, exe, false, &signals, "three", 5, NULL), 0);
	T_EQ_I(wait_answer(&w, &answer), -EPIPE);
	T_EQ_I(tg_worker_again(&w, exe, false, &signals), 0);
	T_EQ_I(wait_answer(&w, &answer), -EPIPE);
	T_EQ_I(tg_worker_again(&w, exe, false, &signals), -EPIPE);
	tg_worker_stop(&w);
	/* nor what was read, with or without a part of an answer: it may be done already */
	for (int i = 0; i < 2; i++) {
		setenv(HOW, i ? "break" : "read", 1);
		T_EQ_I(tg_worker_start(&w, exe, false, &signals, NULL), 0);
		T_EQ_I(tg_worker_ask(&w, exe, false, &signals, "four", 4, NULL), 0);
		T_EQ_I(wait_answer(&w, &answer), -EPIPE);
		T_EQ_I(tg_worker_again(&w, exe, false, &signals), -EPIPE);
		tg_worker_stop(&w);
	}
	/* of two questions the first may be */
	setenv(HOW, "leave", 1);
	T_EQ_I(tg_worker_start(&w, exe, false, &signals, NULL), 0);
	T_EQ_I(tg_worker_ask(&w, exe, false, &signals, "five", 4, NULL), 0);
	T_EQ_I(tg_worker_ask(&w, exe, false, &signals, "six", 3, NULL), 0);
	T_EQ_I(wait_answer(&w, &answer), -EPIPE);
	T_EQ_I(tg_worker_again(&w, exe, false, &signals), -EPIPE);
	tg_worker_stop(&w);
	tg_signals_close(&signals);
	tg_buf_release(&answer);
}

/* The limit of the worker itself must not come in the way of ours. */
static void test_limits(void)
{
	T_OK(TG_WORKER_IDLE_MS / 1000 > TG_WORKER_IDLE_NS / 1000000000 + 10);
}

static int be_worker(const char *how)
{
	char data[64];
	ssize_t n;

	if (!strcmp(how, "hang")) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		if (write(3, "r", 1) == 1)
			pause();
		return 0;
	}
	if (!strcmp(how, "leave"))
		return poll(&(struct pollfd){ .fd = 3, .events = POLLIN }, 1, -1) != 1;
	while ((n = read(3, data, sizeof(data))) > 0) {
		if (!strcmp(how, "read"))
			return 0;
		if (!strcmp(how, "break"))
			return write(3, data, 4) != 4; /* the length of an answer, and no more */
		if (write(3, data, (size_t)n) != n)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "worker"))
		return be_worker(getenv(HOW) ? getenv(HOW) : "hang");
	test_limits();
	test_left();
	unsetenv(HOW);
	test_hangs();
	return t_done();
}
