/* SPDX-License-Identifier: BSD-3-Clause */
#include "front/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environ.h"
#include "base/file.h"
#include "base/spawn.h"
#include "front/marker.h"
#include "front/progress.h"
#include "mark/address.h"

#include "base/mem.h"

#define PROGRESS_NS TG_NS_PER_S
#define ARGS_MAX    65536
#define DEPTH_MAX   256 /* of processes, each the child of the one before */

extern char **environ;

struct front {
	const struct tg_front_options *o;
	struct tg_signals signals;
	struct tg_front_marker marker;
	struct tg_progress progress;
	pid_t pid;
	bool ended;
	bool asked; /* … to wait no longer for what it left */
	int64_t progress_ns; /* when the next one is due */
};

/* ---- the command and what it leaves behind ---- */

static void take_end(struct tg_front_result *out, const siginfo_t *info)
{
	bool exited = info->si_code == CLD_EXITED;

	out->code = exited ? info->si_status : -1;
	out->signal = exited ? 0 : info->si_status;
}

/* Whether the terminal is ours to stop with, as a shell that we were started from expects. */
static bool is_foreground(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (tcgetpgrp(fd) == getpgrp())
			return true;
	return false;
}

/*
 * The command alone was stopped. Who waits for us is to see that; where nobody at a terminal does,
 * nobody would let us go on either.
 */
static void stop_too(const struct front *f)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)f->pid, &info, WSTOPPED | WNOHANG) < 0 || !info.si_pid ||
		!is_foreground())
		return;
	kill(getpid(), SIGSTOP);
	kill(f->pid, SIGCONT);
}

/* As their parent has ended, we are the parent of what daemons and workers leave behind. */
static void wait_for_orphans(const struct front *f)
{
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
		info.si_pid != f->pid) {
		waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
		info.si_pid = 0;
	}
}

static void look_at_children(struct front *f, struct tg_front_result *out)
{
	siginfo_t info = { 0 };

	if (!f->ended) {
		stop_too(f);
		if (waitid(P_PID, (id_t)f->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
			info.si_pid) {
			f->ended = true;
			take_end(out, &info);
		}
	}
	wait_for_orphans(f);
}

/* 0: there is none to be seen. */
static pid_t parent_of(pid_t pid)
{
	struct tg_buf path = TG_BUF_INIT, status = TG_BUF_INIT;
	const char *at = NULL;
	long parent;

	tg_buf_addf(&path, "/proc/%d/status", (int)pid);
	if (tg_file_read(AT_FDCWD, path.data, 1 << 14, &status, NULL) == 0)
		at = strstr(status.data, "\nPPid:");
	parent = at ? strtol(at + 6, NULL, 10) : 0;
	tg_buf_release(&path);
	tg_buf_release(&status);
	return parent > 0 && parent <= INT32_MAX ? (pid_t)parent : 0;
}

static bool is_below_us(pid_t pid)
{
	for (int i = 0; i < DEPTH_MAX && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == getpid())
			return true;
	}
	return false;
}

/*
 * What a terminal sends reaches the command without us. So does what the command, or one that it
 * started, sends to its whole group. Others mean the command when they send it to us. So may one
 * that has ended before we look, as kill(1) has: better it gets that twice than never.
 */
static bool is_for_command(const struct signalfd_siginfo *s)
{
	if (s->ssi_code != SI_USER && s->ssi_code != SI_QUEUE && s->ssi_code != SI_TKILL)
		return false;
	return !is_below_us((pid_t)s->ssi_pid);
}

/* The command has ended, and we are all that is left to be meant; but not by what it left. */
static bool is_for_us(const struct signalfd_siginfo *s)
{
	bool asks = s->ssi_signo == SIGINT || s->ssi_signo == SIGTERM || s->ssi_signo == SIGHUP;

	return asks && (s->ssi_code == SI_KERNEL || !is_below_us((pid_t)s->ssi_pid));
}

static void take_signals(struct front *f, struct tg_front_result *out)
{
	struct signalfd_siginfo s;

	while (read(f->signals.fd, &s, sizeof(s)) == sizeof(s)) {
		/* first: of signals that wait together SIGCHLD comes behind those that ask */
		look_at_children(f, out);
		if (s.ssi_signo == SIGCHLD)
			continue;
		if (f->ended)
			f->asked |= is_for_us(&s);
		else if (is_for_command(&s))
			kill(f->pid, (int)s.ssi_signo);
	}
}

/* ---- the loop ---- */

static void hear_recorder(struct front *f)
{
	struct tg_json *answer;

	while ((answer = tg_front_marker_hear(&f->marker))) {
		tg_progress_show(&f->progress, answer);
		tg_json_free(answer);
	}
}

static void wait_for_end(struct front *f, struct tg_front_result *out)
{
	f->progress_ns = tg_mono_ns() + PROGRESS_NS;
	look_at_children(f, out);
	while (!f->ended) {
		struct pollfd p[] = { { .fd = f->signals.fd, .events = POLLIN },
			{ .fd = tg_front_marker_fd(&f->marker), .events = POLLIN } };
		int64_t left = f->progress_ns - tg_mono_ns();
		int timeout = f->o->tty < 0 ? -1 : (int)(TG_MAX(left, 0) / TG_NS_PER_MS) + 1;

		poll(p, TG_ARRAY_SIZE(p), timeout);
		take_signals(f, out);
		if (p[1].revents)
			hear_recorder(f);
		if (f->o->tty >= 0 && tg_mono_ns() >= f->progress_ns) {
			f->progress_ns = tg_mono_ns() + PROGRESS_NS;
			tg_front_marker_ask(&f->marker);
		}
	}
	tg_progress_clear(&f->progress);
}

/* Names of our children, which were the command's: "sleep (1234), server (1240)"; "": none. */
static void list_left(struct tg_buf *out)
{
	struct tg_buf path = TG_BUF_INIT, pids = TG_BUF_INIT, comm = TG_BUF_INIT;
	char *at, *word;

	tg_buf_addf(&path, "/proc/self/task/%d/children", (int)getpid());
	if (tg_file_read(AT_FDCWD, path.data, 1 << 16, &pids, NULL) == 0)
		for (at = pids.data; (word = strsep(&at, " "));) {
			if (!*word)
				continue;
			tg_buf_clear(&path);
			tg_buf_clear(&comm);
			tg_buf_addf(&path, "/proc/%s/comm", word);
			if (tg_file_read(AT_FDCWD, path.data, 256, &comm, NULL) < 0)
				continue;
			tg_buf_addf(out, "%s%.*s (%s)", out->len ? ", " : "",
				(int)strcspn(comm.data, "\n"), comm.data, word);
		}
	tg_buf_release(&path);
	tg_buf_release(&pids);
	tg_buf_release(&comm);
}

static void see_who_is_left(struct front *f, struct tg_front_result *out)
{
	wait_for_orphans(f);
	while (f->o->wait && !f->asked) {
		struct pollfd p = { .fd = f->signals.fd, .events = POLLIN };
		siginfo_t info;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			break; /* ECHILD */
		poll(&p, 1, (int)(TG_NS_PER_S / TG_NS_PER_MS));
		take_signals(f, out);
	}
	list_left(&out->left);
}

static int run(struct front *f, struct tg_front_result *out, struct tg_err *err)
{
	char **env = tg_environ_copy(environ, 1);
	struct tg_spawn spawn = { .argv = f->o->argv,
		.env = env,
		.signals = &f->signals,
		.fd3 = -1,
		.outlives_us = true };
	struct tg_spawned child = { .pid = -1 };
	int r;

	if (f->marker.address.len)
		tg_environ_set(env, TG_MARK_ENV, f->marker.address.data);
	r = tg_spawn_hold(&child, &spawn, err);
	if (r == 0) {
		f->pid = child.pid;
		tg_front_marker_begin(&f->marker, child.pid);
		r = tg_spawn_go(&child, err);
		if (r < 0)
			tg_front_marker_end(&f->marker, 127, 0);
	}
	if (r == 0) {
		wait_for_end(f, out);
		tg_front_marker_end(&f->marker, out->code, out->signal);
		waitid(P_PID, (id_t)f->pid, &(siginfo_t){ 0 }, WEXITED);
		see_who_is_left(f, out);
	}
	tg_front_marker_bye(&f->marker);
	tg_strv_free(env);
	return r;
}

int tg_front_run(const struct tg_front_options *o, struct tg_front_result *out, struct tg_err *err)
{
	struct front f = { .o = o, .progress = { .fd = o->tty } };
	struct tg_buf args = TG_BUF_INIT;
	int r;

	*out = (struct tg_front_result){ .code = -1, .file = TG_BUF_INIT, .left = TG_BUF_INIT };
	r = tg_signals_open(&f.signals, true);
	if (r < 0)
		return tg_err_set(err, r, "no signalfd: %s", strerror(-r));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t i = 0; o->argv[i] && args.len < ARGS_MAX; i++)
		tg_buf_add(&args, o->argv[i], strlen(o->argv[i]) + 1);
	tg_front_marker_init(&f.marker, o, args.data, args.len, false);
	tg_buf_release(&args);
	f.progress.begin_ns = tg_mono_ns();
	r = run(&f, out, err);
	out->nested = f.marker.nested;
	if (r == 0)
		tg_buf_add(&out->file, f.marker.file.data ? f.marker.file.data : "",
			f.marker.file.len);
	tg_front_marker_release(&f.marker);
	tg_progress_release(&f.progress);
	tg_signals_close(&f.signals);
	return r;
}

void tg_front_result_release(struct tg_front_result *r)
{
	tg_buf_release(&r->file);
	tg_buf_release(&r->left);
}
