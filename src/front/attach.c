/* SPDX-License-Identifier: BSD-3-Clause */
#include "front/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
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
	int pidfd; /* < 0: not to be had here */
	unsigned long long start; /* then this tells it from another one of its pid */
	struct tg_signals signals;
	struct tg_front_marker marker;
	struct tg_progress progress;
};

/* Append the first bytes of one of its files; 0 or -errno. */
static int read_head(pid_t pid, const char *name, size_t most, struct tg_buf *out)
{
	char path[64];
	int fd, r = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (out->len < most) {
		ssize_t n;

		tg_buf_reserve(out, most - out->len);
		n = read(fd, out->data + out->len, most - out->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : 0;
			break;
		}
		out->len += (size_t)n;
	}
	if (out->cap)
		out->data[out->len] = '\0';
	close(fd);
	return r;
}

/* The first of its command line; of a thread of the kernel, or where that is hidden, its name. */
static int read_args(pid_t pid, struct tg_buf *args, struct tg_err *err)
{
	int r = read_head(pid, "cmdline", ARGS_MAX, args);

	if (r < 0 || !args->len) {
		tg_buf_clear(args);
		r = read_head(pid, "comm", 256, args);
		if (args->len && args->data[args->len - 1] == '\n')
			args->data[args->len - 1] = '\0';
	}
	if (r == -ENOENT || r == -ESRCH || (r == 0 && !args->len))
		return tg_err_set(err, -ESRCH, "there is no process %d", (int)pid);
	if (r < 0)
		return tg_err_set(
			err, r, "process %d is hidden from us: %s", (int)pid, strerror(-r));
	return 0;
}

/* When it began, in ticks after boot; 0: it has ended, though its parent may not know yet. */
static unsigned long long start_of(pid_t pid)
{
	struct tg_buf stat = TG_BUF_INIT;
	const char *p = NULL;
	unsigned long long start = 0;

	if (read_head(pid, "stat", 4096, &stat) == 0 && stat.len)
		p = strrchr(stat.data, ')'); /* the name before it may hold anything */
	if (p && strlen(p) > 2 && p[2] != 'Z' && p[2] != 'X') {
		for (int field = 2; p && field < 22; field++)
			p = strchr(p + 1, ' ');
		start = p ? strtoull(p, NULL, 10) : 0;
	}
	tg_buf_release(&stat);
	return start;
}

static bool has_ended(const struct attach *a)
{
	struct pollfd p = { .fd = a->pidfd, .events = POLLIN };

	if (a->pidfd >= 0)
		return poll(&p, 1, 0) > 0;
	return start_of(a->pid) != a->start;
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
	a.start = start_of(pid);
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
