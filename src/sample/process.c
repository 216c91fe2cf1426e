/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/process.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mask.h"
#include "base/mem.h"

#define THREADS_A_READING 16

static const struct tg_status_memory no_kinds = { TG_MISSING, TG_MISSING, TG_MISSING, TG_MISSING,
	TG_MISSING };

void tg_process_init(struct tg_process *p, pid_t pid)
{
	*p = (struct tg_process){ .pid = pid, .memory_tid = pid, .start_ticks = -1, .pidfd = -1 };
	p->kinds = no_kinds;
	for (size_t i = 0; i < TG_FILES; i++)
		p->fd[i] = -1;
	for (size_t i = 0; i < TG_FIELDS; i++)
		p->told[i] = TG_MISSING;
}

unsigned tg_process_close_files(struct tg_process *p)
{
	unsigned n = p->n_open;

	for (size_t i = 0; i < TG_FILES; i++) {
		if (p->fd[i] >= 0)
			close(p->fd[i]);
		p->fd[i] = -1;
	}
	p->n_open = 0;
	return n;
}

/* The number behind clock_getcpuclockid(3), which in glibc costs a second call. */
int64_t tg_process_clock(pid_t pid)
{
	clockid_t id = (clockid_t)((~(unsigned)pid << 3) | 2);
	struct timespec t;

	if (clock_gettime(id, &t) < 0)
		return -errno;
	return t.tv_sec * TG_NS_PER_S + t.tv_nsec;
}

/*
 * Read one of its files into env->text, from the descriptor that is kept if there is one. On a
 * captured tree nothing is kept: there a process ends by its folder's going away.
 */
static ssize_t read_file(struct tg_process *p, struct tg_env *env, enum tg_process_file file)
{
	static const char *const path[TG_FILES] = { "stat", "statm", "io" };
	ssize_t n;
	int fd = p->fd[file];

	if (fd < 0) {
		if (file == TG_FILE_CHILDREN)
			fd = tg_env_open(env, "proc/%d/task/%d/children", p->pid, p->pid);
		else
			fd = tg_env_open(env, "proc/%d/%s", p->pid, path[file]);
		if (fd < 0)
			return fd;
	}
	n = tg_text_pread(env->text, fd);
	if (n < 0 || !env->live) {
		close(fd);
		p->n_open -= p->fd[file] >= 0;
		p->fd[file] = -1;
	} else if (p->fd[file] < 0) {
		p->fd[file] = fd;
		p->n_open++;
	}
	return n;
}

static int read_stat(struct tg_process *p, struct tg_env *env, struct tg_pid_stat *stat)
{
	ssize_t n = read_file(p, env, TG_FILE_STAT);

	if (n == -ENOENT || n == -ESRCH || n == 0)
		return -ESRCH;
	if (n < 0)
		return (int)n;
	return tg_procfs_pid_stat(env->text->data, env->text->len, stat);
}

/* Its own CPU time: the process clock where it works, else what stat says in ticks. */
static int64_t own_cpu(struct tg_process *p, struct tg_env *env, const struct tg_pid_stat *stat)
{
	int64_t ns = env->live ? tg_process_clock(p->pid) : -ENOSYS;

	p->has_clock = ns >= 0;
	return p->has_clock ? ns : tg_scaled(stat->utime + stat->stime, env->tick_ns);
}

struct live_thread {
	struct tg_env *env;
	pid_t pid, tid;
	struct tg_statm statm;
};

static int try_thread(void *ctx, pid_t tid)
{
	struct live_thread *t = ctx;

	if (tid == t->pid || tg_env_read(t->env, "proc/%d/task/%d/statm", t->pid, tid) <= 0 ||
		tg_procfs_statm(t->env->text->data, t->env->text->len, &t->statm) < 0)
		return 0;
	t->tid = tid;
	return t->statm.size > 0;
}

/*
 * Memory. When the leading thread has ended and others run, the process looks like a zombie and
 * its own statm says 0; the memory is to be seen through a thread that lives. False: as before.
 */
static bool read_memory(struct tg_process *p, struct tg_env *env)
{
	struct live_thread t = { .env = env, .pid = p->pid, .tid = p->pid };
	int64_t vms = p->vms_bytes, rss = p->rss_bytes, anon = p->anon_bytes;
	bool known = false;

	if (p->state == 'Z') {
		int dir = tg_env_open(env, "proc/%d/task", p->pid);

		if (dir >= 0) {
			known = tg_numbers_each(dir, try_thread, &t) == 1;
			close(dir);
		}
	} else if (read_file(p, env, TG_FILE_STATM) > 0) {
		known = tg_procfs_statm(env->text->data, env->text->len, &t.statm) == 0;
	}
	if (!known)
		return true;
	p->memory_tid = t.tid;
	p->vms_bytes = t.statm.size * env->page_bytes;
	p->rss_bytes = t.statm.resident * env->page_bytes;
	p->anon_bytes = TG_MAX(t.statm.resident - t.statm.shared, 0) * env->page_bytes;
	return p->vms_bytes != vms || p->rss_bytes != rss || p->anon_bytes != anon;
}

bool tg_process_memory_moved(struct tg_process *p, struct tg_env *env)
{
	bool moved = read_memory(p, env);

	p->memory_stale |= moved;
	return moved;
}

ssize_t tg_process_read_memory(const struct tg_process *p, struct tg_env *env, const char *file)
{
	if (p->memory_tid == p->pid)
		return tg_env_read(env, "proc/%d/%s", p->pid, file);
	return tg_env_read(env, "proc/%d/task/%d/%s", p->pid, p->memory_tid, file);
}

static void read_peak_and_kinds(struct tg_process *p, struct tg_env *env)
{
	if (tg_process_read_memory(p, env, "status") <= 0)
		return;
	tg_procfs_status_memory(env->text->data, env->text->len, &p->kinds);
	if (p->kinds.hwm != TG_MISSING)
		p->hwm_bytes = p->kinds.hwm;
}

/* Its figures into `io`. False when they may not be read. */
static bool read_io(struct tg_process *p, struct tg_env *env, int64_t io[TG_IOS])
{
	return read_file(p, env, TG_FILE_IO) > 0 &&
	       tg_procfs_io(env->text->data, env->text->len, io) == 0;
}

/*
 * Before Linux 5.11 "io" waits for an execve that goes on, which waits for a file system. Who has
 * used no CPU has done no I/O either.
 */
static bool io_may_wait(char state, bool moved)
{
	return state == 'D' && !moved;
}

/*
 * For a moment before it goes away the kernel has no more of it than its name: all that it used,
 * and what it took over from its children, then reads as 0, and so does the number of threads.
 */
static bool is_dropped(const struct tg_pid_stat *stat)
{
	return stat->threads == 0;
}

int tg_process_read(struct tg_process *p, struct tg_env *env, unsigned detail)
{
	struct tg_pid_stat stat = { 0 };
	int64_t io[TG_IOS], clock_before = p->start_ticks < 0 ? INT64_MAX : p->clock_ns;
	char state_before = p->state;
	bool memory_moved = true;
	int r = read_stat(p, env, &stat);

	if (r == -ESRCH)
		return r;
	if (r < 0)
		return 0; /* there, but not to be read now: nothing new */
	if (p->start_ticks >= 0 && stat.starttime != p->start_ticks)
		return -ESRCH;
	/* what has ended and yet runs is another process that was given the pid within a tick */
	if (p->exited && stat.state != 'Z' && stat.state != 'X')
		return -ESRCH;
	p->execed = p->start_ticks >= 0 && strcmp(p->comm, stat.comm) != 0;
	memcpy(p->comm, stat.comm, sizeof(p->comm));
	p->start_ticks = stat.starttime;
	if (stat.ppid > 0) /* of one that is being dropped it says 0, whatever the state */
		p->ppid = stat.ppid;
	p->state = stat.state;
	p->threads = stat.threads;
	if (!is_dropped(&stat)) {
		p->waited_ns = tg_scaled(stat.cutime + stat.cstime, env->tick_ns);
		p->faults[TG_FAULTS_MINOR] = stat.minflt + stat.cminflt;
		p->faults[TG_FAULTS_MAJOR] = stat.majflt + stat.cmajflt;
	}
	/* a clock that steps back belongs to the next owner of the pid */
	p->clock_ns = TG_MAX(p->clock_ns, own_cpu(p, env, &stat));
	p->zombie = (p->state == 'Z' || p->state == 'X') && p->threads <= 1;
	p->leaving = p->state == 'X' && p->zombie;
	if (p->zombie) {
		p->rss_bytes = p->vms_bytes = p->anon_bytes = p->threads = 0;
		p->kinds = no_kinds;
	} else {
		memory_moved = read_memory(p, env);
	}
	/* it used no CPU and lost no memory to others: its I/O, peak and kinds of memory stand */
	if (p->has_clock && p->clock_ns == clock_before && p->state == state_before &&
		!memory_moved && !p->memory_stale && !p->execed && !p->read_now)
		return 0;
	if (!is_dropped(&stat) && !io_may_wait(p->state, p->clock_ns > clock_before) &&
		read_io(p, env, io)) {
		memcpy(p->io, io, sizeof(io));
		p->io_known = true;
	}
	if ((detail & TG_DETAIL_MEMORY) && !p->zombie)
		read_peak_and_kinds(p, env);
	p->memory_stale = !(detail & TG_DETAIL_MEMORY);
	return 0;
}

int tg_process_read_usage(struct tg_process *p, struct tg_env *env, struct tg_usage *out)
{
	struct tg_pid_stat stat = { 0 };

	if (read_stat(p, env, &stat) < 0 || stat.starttime != p->start_ticks || is_dropped(&stat))
		return -ESRCH;
	out->cpu_ns = tg_scaled(stat.cutime + stat.cstime, env->tick_ns);
	if (io_may_wait(stat.state, own_cpu(p, env, &stat) > p->clock_ns)) {
		out->io_known = p->io_known;
		memcpy(out->io, p->io, sizeof(out->io));
	} else {
		out->io_known = read_io(p, env, out->io);
	}
	return 0;
}

struct children {
	struct tg_process *p;
	struct tg_env *env;
	int (*each)(void *ctx, pid_t child);
	void *ctx;
	unsigned at, from, to; /* threads by their place in the folder */
	int error;
};

static int children_of_text(struct children *c)
{
	struct tg_cursor s = tg_cursor_of(c->env->text->data, c->env->text->len);
	int64_t pid;

	/* "16190 16193 ": a blank behind each, so that a number that is cut off is not taken */
	while (tg_cursor_i64(&s, &pid))
		if (pid > 0 && pid <= INT32_MAX && c->each(c->ctx, (pid_t)pid))
			return 1;
	return 0;
}

static int children_of_thread(void *ctx, pid_t tid)
{
	struct children *c = ctx;
	unsigned at = c->at++;
	ssize_t n;

	if (tid == c->p->pid || at < c->from)
		return 0;
	if (at >= c->to)
		return 1;
	n = tg_env_read(c->env, "proc/%d/task/%d/children", c->p->pid, tid);
	return n > 0 ? children_of_text(c) : 0;
}

int tg_process_children(struct tg_process *p, struct tg_env *env, bool all,
	int (*each)(void *ctx, pid_t child), void *ctx)
{
	struct children c = { .p = p, .env = env, .each = each, .ctx = ctx };
	ssize_t n = read_file(p, env, TG_FILE_CHILDREN);
	int dir;

	if (n == -ENOENT)
		return (int)n;
	if (n > 0)
		children_of_text(&c);
	if (p->threads <= 1)
		return n < 0 ? (int)n : 0;
	dir = tg_env_open(env, "proc/%d/task", p->pid);
	if (dir < 0)
		return dir;
	c.from = p->next_thread;
	c.to = c.from + (all ? TG_THREADS_MAX : THREADS_A_READING);
	tg_numbers_each(dir, children_of_thread, &c);
	close(dir);
	/* a pass that got to the end of the folder begins anew */
	p->next_thread = c.at > c.to ? c.to : 0;
	return 0;
}

bool tg_process_args(const struct tg_process *p, struct tg_env *env, char *out, size_t size)
{
	char *text = env->text->data;
	ssize_t n;
	int fd;

	if (p->state == 'D')
		return false;
	fd = tg_env_open(env, "proc/%d/cmdline", p->pid);
	if (fd < 0)
		return false;
	n = pread(fd, text, TG_ARGS_MAX, 0);
	close(fd);
	return n > 0 && tg_mask_args(text, (size_t)n, out, size) > 0;
}
