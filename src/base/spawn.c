/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/environ.h"

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

int tg_signals_open(struct tg_signals *s, bool reads_user_signals)
{
	static const int group[] = { SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGQUIT, SIGPIPE,
		SIGXFSZ };
	static const int user[] = { SIGUSR1, SIGUSR2 };
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
	for (size_t i = 0; i < TG_ARRAY_SIZE(user); i++)
		if (reads_user_signals)
			sigaddset(&ours, user[i]);
		else
			change(s, user[i], SIG_IGN);
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

/* 0 when it can be run, -ENOENT, or -EACCES for what is there and no program. */
static int check_program(const char *file)
{
	struct stat st;

	if (stat(file, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	return S_ISREG(st.st_mode) && access(file, X_OK) == 0 ? 0 : -EACCES;
}

/* The file that execvp would run, looked up before fork. 0 or -errno. */
static int resolve(const char *name, char *const *env, struct tg_buf *out)
{
	const char *path = "/usr/local/bin:/usr/bin:/bin";
	int r, worst = -ENOENT;

	if (strchr(name, '/')) {
		tg_buf_adds(out, name);
		return check_program(name);
	}
	for (size_t i = 0; env[i]; i++)
		if (!strncmp(env[i], "PATH=", 5))
			path = env[i] + 5;
	while (*path && *name) {
		size_t len = strcspn(path, ":");

		tg_buf_clear(out);
		tg_buf_addf(out, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name);
		r = check_program(out->data);
		if (r == 0)
			return 0;
		if (r == -EACCES)
			worst = r;
		path += len + (path[len] == ':');
	}
	return worst;
}

/* The child's side: only async-signal-safe calls. */
static void __attribute__((noreturn)) become(const struct tg_spawn *s, const char *file,
	char *const *script, pid_t parent, int go, int report)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	ssize_t got;
	int error;
	char c;

	if (!s->outlives_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	if (s->fd3 == 3)
		fcntl(3, F_SETFD, 0);
	else if (s->fd3 >= 0)
		dup2(s->fd3, 3);
	if (s->ignores_signals)
		sigaction(SIGINT, &ignore, NULL);
	else if (s->signals)
		put_back(s->signals);
	if (s->signals)
		sigprocmask(SIG_SETMASK, &s->signals->mask, NULL);
	do
		got = read(go, &c, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(127);
	execve(file, s->argv, s->env);
	error = errno;
	if (error == ENOEXEC)
		execve(script[0], script, s->env);
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* A pipe whose ends are not descriptor 3, which is the child's. 0 or -errno. */
static int make_pipe(int end[2])
{
	if (pipe2(end, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		int other;

		if (end[i] != 3)
			continue;
		other = fcntl(3, F_DUPFD_CLOEXEC, 4);
		if (other < 0) {
			int error = errno;

			close(end[0]);
			close(end[1]);
			return -error;
		}
		close(3);
		end[i] = other;
	}
	return 0;
}

static void close_pipe(const int end[2])
{
	close(end[0]);
	close(end[1]);
}

/* Returns 0 with the pid and our ends of two pipes in `child`, or -errno. */
static int start(
	struct tg_spawned *child, const struct tg_spawn *s, const char *file, char *const *script)
{
	int go[2], report[2], r = make_pipe(go);
	pid_t parent = getpid();

	if (r < 0)
		return r;
	r = make_pipe(report);
	if (r < 0) {
		close_pipe(go);
		return r;
	}
	child->pid = fork();
	if (child->pid < 0) {
		r = -errno;
		close_pipe(go);
		close_pipe(report);
		return r;
	}
	if (child->pid == 0) {
		close(go[1]); /* or it would wait for ever for what only it could send */
		become(s, file, script, parent, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	child->go = go[1];
	child->report = report[0];
	return 0;
}

/* What has no "#!" line is the shell's, as execvp has it. Caller frees with tg_strv_free. */
static char **as_script(char *const *argv, const char *file)
{
	char **script = tg_environ_copy(argv, 1);
	size_t n = 0;

	while (script[n])
		n++;
	memmove(script + 1, script, (n + 1) * sizeof(*script));
	script[0] = tg_xstrdup("/bin/sh");
	free(script[1]);
	script[1] = tg_xstrdup(file);
	return script;
}

int tg_spawn_hold(struct tg_spawned *child, const struct tg_spawn *s, struct tg_err *err)
{
	struct tg_buf file = TG_BUF_INIT;
	int r = resolve(s->argv[0], s->env, &file);
	char **script;

	if (r < 0) {
		tg_buf_release(&file);
		return r == -ENOENT && !strchr(s->argv[0], '/')
			       ? tg_err_set(err, r, "there is no program \"%s\"", s->argv[0])
			       : tg_err_set(err, r, "%s: %s", s->argv[0], strerror(-r));
	}
	script = as_script(s->argv, file.data);
	r = start(child, s, file.data, script);
	if (r < 0)
		tg_err_set(err, r, "%s: %s", file.data, strerror(-r));
	tg_strv_free(script);
	child->file = r < 0 ? NULL : tg_buf_detach(&file);
	tg_buf_release(&file);
	return r;
}

int tg_spawn_go(struct tg_spawned *child, struct tg_err *err)
{
	int error = 0;
	ssize_t got;

	/* one that was killed meanwhile reads nothing; its end says how */
	while (write(child->go, "", 1) < 0 && errno == EINTR)
		;
	close(child->go);
	do
		got = read(child->report, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(child->report);
	if (got > 0) {
		waitpid(child->pid, NULL, 0);
		tg_err_set(err, -error, "%s: %s", child->file, strerror(error));
	}
	free(child->file);
	child->file = NULL;
	return -error;
}

pid_t tg_spawn(const struct tg_spawn *s, struct tg_err *err)
{
	struct tg_spawned child = { .pid = -1 };
	int r = tg_spawn_hold(&child, s, err);

	if (r == 0)
		r = tg_spawn_go(&child, err);
	return r < 0 ? r : child.pid;
}
