/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static void change(struct tg_signals *s, int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	if (!sigaction(signal, &action, &s->found[signal]))
		sigaddset(&s->changed, signal);
}

/* Async-signal-safe. */
static void put_back(const struct tg_signals *s)
{
	for (int i = 1; i < _NSIG; i++)
		if (sigismember(&s->changed, i) == 1)
			sigaction(i, &s->found[i], NULL);
}

int tg_signals_open(struct tg_signals *s)
{
	static const int group[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGQUIT,
		SIGPIPE, SIGXFSZ };
	struct sigaction on_hangup = { 0 };
	sigset_t ours;

	sigemptyset(&s->changed);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	/* blocked, it would be read in spite of being ignored */
	sigaction(SIGHUP, NULL, &on_hangup);
	if (on_hangup.sa_handler != SIG_IGN)
		sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &ours, &s->mask))
		return -errno;
	for (size_t i = 0; i < TG_ARRAY_SIZE(group); i++)
		change(s, group[i], SIG_IGN);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		change(s, i, SIG_IGN);
	change(s, SIGCHLD, SIG_DFL); /* ignored, a child would leave without a word */
	s->fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? -errno : 0;
}

void tg_signals_close(struct tg_signals *s)
{
	close(s->fd);
	put_back(s);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* The file that execvp would run, looked up before fork. */
static int resolve(const char *name, char *const *env, struct tg_buf *out)
{
	const char *path = "/usr/local/bin:/usr/bin:/bin";
	struct stat st;

	if (strchr(name, '/')) {
		tg_buf_adds(out, name);
		return 0;
	}
	for (size_t i = 0; env[i]; i++)
		if (!strncmp(env[i], "PATH=", 5))
			path = env[i] + 5;
	while (*path) {
		size_t len = strcspn(path, ":");

		tg_buf_clear(out);
		tg_buf_addf(out, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name);
		if (!access(out->data, X_OK) && !stat(out->data, &st) && S_ISREG(st.st_mode))
			return 0;
		path += len + (path[len] == ':');
	}
	return -ENOENT;
}

/* The child's side: only async-signal-safe calls. */
static void __attribute__((noreturn))
become(const struct tg_spawn *s, const char *file, pid_t parent, int report)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	if (s->fd3 == 3)
		fcntl(3, F_SETFD, 0);
	else if (s->fd3 >= 0)
		dup2(s->fd3, 3);
	if (s->ignores_signals)
		sigaction(SIGINT, &ignore, NULL);
	else
		put_back(s->signals);
	sigprocmask(SIG_SETMASK, &s->signals->mask, NULL);
	execve(file, s->argv, s->env);
	error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

pid_t tg_spawn(const struct tg_spawn *s, struct tg_err *err)
{
	struct tg_buf file = TG_BUF_INIT;
	pid_t pid = -1, parent = getpid();
	int report[2], error = 0;
	ssize_t got;

	if (resolve(s->argv[0], s->env, &file)) {
		tg_buf_release(&file);
		return tg_err_set(err, -ENOENT, "there is no program \"%s\"", s->argv[0]);
	}
	if (pipe2(report, O_CLOEXEC)) {
		error = errno;
		goto out;
	}
	/* descriptor 3 is the child's; the report must not be in its way */
	if (report[1] == 3) {
		int other = fcntl(report[1], F_DUPFD_CLOEXEC, 4);

		close(report[1]);
		report[1] = other;
	}
	pid = fork();
	if (pid < 0)
		error = errno;
	else if (!pid)
		become(s, file.data, parent, report[1]);
	close(report[1]);
	do
		got = error ? 0 : read(report[0], &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got > 0)
		waitpid(pid, NULL, 0);
out:
	if (error)
		pid = tg_err_set(err, -error, "%s: %s", file.data, strerror(error));
	tg_buf_release(&file);
	return pid;
}
