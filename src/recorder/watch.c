/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pidfd.h"
#include "sample/procfs.h"

#include "base/mem.h"

/* linux/pidfd.h of Linux 6.15; the kernel takes any size from this one on */
struct pidfd_info {
	uint64_t mask;
	uint64_t cgroupid;
	uint32_t ids[11];
	int32_t exit_code; /* as wait(2) has it */
};

#define INFO_EXIT (UINT64_C(1) << 3)
#define GET_INFO  _IOWR(0xff, 11, struct pidfd_info)

static bool read_stat(pid_t pid, struct tg_pid_stat *stat)
{
	char path[32], text[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = tg_file_pread0(fd, text, sizeof(text));
	close(fd);
	return n > 0 && tg_procfs_pid_stat(text, (size_t)n, stat) == 0;
}

/* 0 when there is no such process, or only what is left of it (state Z or X). */
static uint64_t start_time(pid_t pid)
{
	struct tg_pid_stat stat;

	if (!read_stat(pid, &stat) || stat.state == 'Z' || stat.state == 'X')
		return 0;
	return (uint64_t)stat.starttime;
}

pid_t tg_watch_parent(pid_t pid)
{
	struct tg_pid_stat stat;

	return pid > 0 && read_stat(pid, &stat) ? (pid_t)stat.ppid : 0;
}

void tg_watch_init_plain(struct tg_watch *w, pid_t pid)
{
	*w = (struct tg_watch){ .pid = pid, .fd = -1 };
	if (pid > 0)
		w->start = start_time(pid);
	w->dead = pid > 0 && !w->start;
}

void tg_watch_init(struct tg_watch *w, pid_t pid)
{
	int fd = pid > 0 ? tg_pidfd_open(pid) : -1;

	tg_watch_init_plain(w, pid);
	if (fd >= 0)
		w->fd = fd;
}

void tg_watch_release(struct tg_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct tg_watch){ .fd = -1 };
}

bool tg_watch_dead(const struct tg_watch *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	if (w->pid <= 0)
		return false;
	if (w->dead)
		return true;
	if (w->fd >= 0)
		return poll(&p, 1, 0) == 1;
	return start_time(w->pid) != w->start;
}

int tg_watch_status(const struct tg_watch *w, int *exit_code, int *signal)
{
	struct pidfd_info info = { .mask = INFO_EXIT };

	if (w->fd < 0 || ioctl(w->fd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
		return -ENODATA;
	*exit_code = WIFEXITED(info.exit_code) ? WEXITSTATUS(info.exit_code) : -1;
	*signal = WIFSIGNALED(info.exit_code) ? WTERMSIG(info.exit_code) : 0;
	return 0;
}
