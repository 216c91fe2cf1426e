/* SPDX-License-Identifier: BSD-3-Clause */
#include "front/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/pidfd.h"
#include "base/spawn.h"
#include "front/marker.h"
#include "front/progress.h"

#include "base/mem.h"

#define ARGS_MAX 65536
#define LOOK_NS  TG_NS_PER_S /* at what is not to be waited for otherwise, and for progress */

struct attach {
	const struct tg_front_options *o;
	pid_t pid;
	int pidfd; /* -1: not to be had here */
	struct tg_signals signals;
	struct tg_front_marker marker;
	struct tg_progress progress;
};

/* Its command line; of a thread of the kernel, or where that is hidden, its name. */
static int read_args(pid_t pid, struct tg_buf *args, struct tg_err *err)
{
	struct tg_buf path = TG_BUF_INIT;
	int r;

	tg_buf_addf(&path, "/proc/%d/cmdline", (int)pid);
	r = tg_file_read(AT_FDCWD, path.data, ARGS_MAX, args, NULL);
	if (r == 0 && !args->len) {
		tg_buf_clear(&path);
		tg_buf_addf(&path, "/proc/%d/comm", (int)pid);
		r = tg_file_read(AT_FDCWD, path.data, 256, args, NULL);
		if (args->len && args->data[args->len - 1] == '\n')
			args->data[args->len - 1] = '\0';
	}
	tg_buf_release(&path);
	if (r == 0 && args->len)
		return 0;
	return tg_err_set(err, -ESRCH, "there is no process %d", (int)pid);
}

static bool has_ended(const struct attach *a)
{
	struct pollfd p = { .fd = a->pidfd, .events = POLLIN };

	if (a->pidfd >= 0)
		return poll(&p, 1, 0) > 0;
	return kill(a->pid, 0) < 0 && errno == ESRCH;
}

/* Whether we were asked to end. */
static bool is_asked(const struct attach *a)
{
	struct signalfd_siginfo s;
	bool asked = false;

	while (read(a->signals.fd, &s, sizeof(s)) == sizeof(s))
		asked |= s.ssi_signo == SIGTERM || s.ssi_signo == SIGHUP || s.ssi_signo == SIGINT;
	return asked;
}

static void hear(struct attach *a)
{
	struct tg_json *answer;

	while ((answer = tg_front_marker_hear(&a->marker))) {
		tg_progress_show(&a->progress, answer);
		tg_json_free(answer);
	}
}

/* Until it ends, or we are asked to. */
static void wait_for_end(struct attach *a)
{
	int64_t next_ns = tg_mono_ns() + LOOK_NS;

	while (!has_ended(a)) {
		struct pollfd p[] = { { .fd = a->signals.fd, .events = POLLIN },
			{ .fd = a->pidfd, .events = POLLIN },
			{ .fd = tg_front_marker_fd(&a->marker), .events = POLLIN } };
		int64_t left_ns = TG_MAX(next_ns - tg_mono_ns(), 0);

		if (p[2].fd < 0) /* nothing is recorded any more, as was said */
			return;
		poll(p, TG_ARRAY_SIZE(p), (int)(left_ns / TG_NS_PER_MS) + 1);
		if (is_asked(a))
			return;
		if (p[2].revents)
			hear(a);
		if (tg_mono_ns() >= next_ns) {
			next_ns = tg_mono_ns() + LOOK_NS;
			if (a->o->tty >= 0)
				tg_front_marker_ask(&a->marker);
		}
	}
}

int tg_front_attach(const struct tg_front_options *o, pid_t pid, struct tg_front_result *out,
	struct tg_err *err)
{
	struct attach a = { .o = o, .pid = pid, .progress = { .fd = o->tty } };
	struct tg_buf args = TG_BUF_INIT;
	int r = read_args(pid, &args, err);

	*out = (struct tg_front_result){
		.code = -1, .signal = -1, .file = TG_BUF_INIT, .left = TG_BUF_INIT
	};
	if (r < 0)
		goto out;
	r = tg_signals_open(&a.signals, false);
	if (r < 0) {
		tg_err_set(err, r, "no signalfd: %s", strerror(-r));
		goto out;
	}
	a.pidfd = tg_pidfd_open(pid);
	tg_front_marker_init(&a.marker, o, args.data, args.len, true);
	a.progress.begin_ns = tg_mono_ns();
	tg_front_marker_begin(&a.marker, pid);
	wait_for_end(&a);
	tg_progress_clear(&a.progress);
	tg_front_marker_end(&a.marker, -1, -1);
	tg_front_marker_bye(&a.marker);
	tg_buf_add(&out->file, a.marker.file.data ? a.marker.file.data : "", a.marker.file.len);
	tg_front_marker_release(&a.marker);
	tg_signals_close(&a.signals);
	if (a.pidfd >= 0)
		close(a.pidfd);
out:
	tg_buf_release(&args);
	return r;
}
