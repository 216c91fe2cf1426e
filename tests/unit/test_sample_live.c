/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampler on the running machine, over processes that do a known amount of work. Numbers in
 * comments are those of the list of pitfalls that sampling tools have been found in.
 */
#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "sample_util.h"

#include "base/mem.h"
#include "sample/procfs.h"

#define MB (INT64_C(1) << 20)

static void burn_before(void)
{
	burn_ms(200);
	stop();
	burn_ms(200);
	stop();
}

/* pitfall 2, reports 3 and 5: what was used before the first reading is in no difference */
static void test_burner(void)
{
	struct child c = start(burn_before);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	int64_t cpu;

	go(&c);
	read_walked(s, &r);
	cpu = column(&r, "tree.cpu_ns", "");
	T_OK(cpu >= 200 * TG_NS_PER_MS);
	T_EQ_I(column(&r, "tree.processes", ""), 1);
	T_EQ_I(column(&r, "tree.threads", ""), 1);
	T_OK(column(&r, "tree.rss_bytes", "") > 0);
	T_OK(column(&r, "node.cpu_busy_ns", "") > 0);
	T_OK(column(&r, "core.busy_ns", "cpu0") > 0);
	T_OK(column(&r, "self.cpu_ns", "") > 0);
	T_OK(column(&r, "self.rss_bytes", "") > 0);
	T_NEAR((double)(read_column(s, TG_READ_EDGE, "tree.cpu_ns") - cpu), 0, 1e6);
	go(&c);
	T_NEAR((double)(read_column(s, 0, "tree.cpu_ns") - cpu), 200e6, 20e6);
	finish(&c);
	tg_sampler_free(s);
}

static void burn_on(void)
{
	burn_ms(100000);
}

/*
 * Pitfall 3, reports 1 and 2: at a kilohertz a burner is never more than one core, and the counter
 * never falls.
 */
static void test_kilohertz(void)
{
	struct child c = start(burn_on);
	struct tg_sampler_options options = { .root_fd = -1, .root = c.pid };
	struct tg_sampler *s;
	struct tg_reading r;
	int64_t first_ns = 0, first_cpu = 0, last_cpu = 0;
	int fell = 0, beyond = 0;

	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	if (write(c.go, "g", 1) != 1)
		abort();
	for (int i = 0; i < 300; i++) {
		int64_t cpu;

		tg_sampler_read(s, 0, &r);
		cpu = column(&r, "tree.cpu_ns", "");
		if (cpu == TG_MISSING) /* without perf it is not told so often */
			continue;
		if (i == 0) {
			first_ns = r.t_ns;
			first_cpu = cpu;
		}
		fell += cpu < last_cpu;
		/* read a moment after the stamp: 2 ms of grace, and no more with time */
		beyond += cpu - first_cpu > tg_mono_ns() - first_ns + 2 * TG_NS_PER_MS;
		last_cpu = cpu;
		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_MS }, NULL);
	}
	T_EQ_I(fell, 0);
	T_EQ_I(beyond, 0);
	T_OK(last_cpu > first_cpu);
	finish(&c);
	tg_sampler_free(s);
}

/* ---- children that come and go ---- */

static void write_nowhere(int64_t bytes)
{
	static char block[1 << 20];
	int fd = open("/dev/null", O_WRONLY);

	for (; bytes > 0; bytes -= (int64_t)sizeof(block))
		if (write(fd, block, sizeof(block)) < 0)
			_exit(98);
	close(fd);
}

static pid_t spawn_worker(int ms, int64_t bytes, bool stops)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	write_nowhere(bytes);
	burn_ms(ms);
	if (stops)
		stop();
	_exit(0);
}

static void write_shmem(void)
{
	static char block[1 << 20];
	int fd = memfd_create("test", MFD_CLOEXEC); /* a file of a tmpfs that has no folder */

	for (int i = 0; i < 16; i++)
		if (fd < 0 || write(fd, block, sizeof(block)) < 0)
			_exit(98);
	stop();
}

/* report 32: what goes to a file system in memory goes to no disk, and is in calls all the same */
static void test_tmpfs(void)
{
	struct child c = start(write_shmem);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	int64_t written[2], calls[2];

	for (int i = 0; i < 2; i++) {
		tg_sampler_read(s, REFRESH_ALL, &r);
		written[i] = column(&r, "tree.write_bytes", "");
		calls[i] = column(&r, "tree.wchar_bytes", "");
		if (i == 0)
			go(&c);
	}
	T_NEAR((double)(calls[1] - calls[0]), 16.0 * MB, 4096); /* it also says that it has */
	T_EQ_I(written[1] - written[0], 0);
	finish(&c);
	tg_sampler_free(s);
}

static void waited_unseen(void)
{
	wait_child(spawn_worker(200, 16 * MB, false));
	stop();
}

static void waited_seen(void)
{
	wait_child(spawn_worker(200, 16 * MB, true)); /* a reading while it is alive */
	stop();
}

/* Not waited for: the kernel throws away what it used; only what was seen is known. */
static void ignored_seen(void)
{
	signal(SIGCHLD, SIG_IGN);
	wait_child(spawn_worker(200, 16 * MB, true));
	stop();
}

static void zombie_seen(void)
{
	pid_t pid = spawn_worker(200, 16 * MB, false);
	siginfo_t info;

	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	stop();
	wait_child(pid);
	stop();
}

/* The middle one ends first: its child goes to another parent and stays in the tree. */
static void orphan(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		spawn_worker(200, 16 * MB, true);
		stop();
		_exit(0);
	}
	wait_child(pid);
	stop();
}

/*
 * Report 11: each reading of a row of steps finds 200 ms and 16 MB once: seen alive, as a zombie,
 * after it was waited for, or after it vanished.
 */
static void test_children(void (*work)(void), int steps, const char *what)
{
	struct child c = start(work);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	int64_t cpu, wchar;

	read_walked(s, &r);
	cpu = column(&r, "tree.cpu_ns", "");
	wchar = column(&r, "tree.wchar_bytes", "");
	printf("# %s\n", what);
	for (int i = 0; i < steps + 2; i++) {
		if (i < steps)
			go(&c);
		if (i <= steps)
			read_walked(s, &r);
		else
			tg_sampler_read(s, REFRESH_ALL, &r);
		T_NEAR((double)(column(&r, "tree.cpu_ns", "") - cpu), 205e6, 25e6);
		T_NEAR((double)(column(&r, "tree.wchar_bytes", "") - wchar), 16.0 * MB, 4096);
	}
	finish(&c);
	tg_sampler_free(s);
}

static void test_orphan(void)
{
	struct child c = start(orphan);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	int64_t cpu, wchar;

	read_walked(s, &r);
	cpu = column(&r, "tree.cpu_ns", "");
	wchar = column(&r, "tree.wchar_bytes", "");
	go(&c); /* one of the two has stopped; the tree has three processes or will */
	wait_stopped(&c);
	read_walked(s, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 3);
	/* let both go: the middle one ends and is waited for, its child ends somewhere */
	if (write(c.go, "gg", 2) != 2)
		abort();
	wait_stopped(&c);
	for (int i = 0; i < 3; i++) {
		struct timespec pause = { .tv_nsec = 20 * TG_NS_PER_MS };

		nanosleep(&pause, NULL);
		tg_sampler_read(s, i == 2 ? TG_READ_REFRESH : 0, &r);
	}
	T_NEAR((double)(column(&r, "tree.cpu_ns", "") - cpu), 205e6, 25e6);
	T_NEAR((double)(column(&r, "tree.wchar_bytes", "") - wchar), 16.0 * MB, 4096);
	finish(&c);
	tg_sampler_free(s);
}

/* Many at once, readings at any moment: between what was seen and the truth, never above it. */
struct shared {
	_Atomic int64_t cpu_ns, done;
};
static struct shared *shared;

static void many_children(void)
{
	uint64_t seed = 42;

	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();
		unsigned ms = (unsigned)(t_random(&seed) % 20);

		if (pid == 0) {
			if (i % 3 == 0)
				wait_child(spawn_worker((int)ms, MB, false));
			write_nowhere(MB);
			burn_ms((int)ms);
			_exit(0);
		}
		wait_child(pid);
	}
	atomic_store(&shared->cpu_ns, own_cpu_ns());
	atomic_store(&shared->done, 1);
	stop();
}

static void test_many(void)
{
	struct child c;
	struct tg_sampler *s;
	struct tg_reading r;
	int64_t cpu, wchar, last = 0;
	struct timespec self;
	int fell = 0;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	c = start(many_children);
	s = live_sampler(c.pid);
	read_walked(s, &r);
	cpu = column(&r, "tree.cpu_ns", "");
	wchar = column(&r, "tree.wchar_bytes", "");
	if (write(c.go, "g", 1) != 1)
		abort();
	while (!atomic_load(&shared->done)) {
		/* an edge looks at each process, however soon it comes */
		int64_t now = read_column(s, TG_READ_EDGE, "tree.cpu_ns");

		fell += now < last;
		last = now;
		nanosleep(&(struct timespec){ .tv_nsec = 700 * TG_NS_PER_US }, NULL);
	}
	wait_stopped(&c);
	tg_sampler_read(s, REFRESH_ALL, &r);
	T_EQ_I(fell, 0);
	/* 60 + 20 children of 1 MB each, every one waited for */
	T_NEAR((double)(column(&r, "tree.wchar_bytes", "") - wchar), 80.0 * MB, 4096 * 80);
	/* the truth, to the tick, from the parent itself: its own and waited-for time */
	{
		char path[64], text[1024];
		struct tg_pid_stat stat;
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/stat", c.pid);
		fd = open(path, O_RDONLY);
		n = read(fd, text, sizeof(text));
		close(fd);
		T_EQ_I(tg_procfs_pid_stat(text, (size_t)TG_MAX(n, 0), &stat), 0);
		clock_gettime((clockid_t)((~(unsigned)c.pid << 3) | 2), &self);
		last = self.tv_sec * TG_NS_PER_S + self.tv_nsec +
		       (stat.cutime + stat.cstime) * 10 * TG_NS_PER_MS;
	}
	T_NEAR((double)(column(&r, "tree.cpu_ns", "") - cpu), (double)(last - cpu),
		0.05 * (double)(last - cpu) + 20e6);
	finish(&c);
	tg_sampler_free(s);
	munmap(shared, 4096);
}

/* ---- what may not be read, memory, limits ---- */

/* pitfall 12: as nobody over root's process: CPU and memory are to be had, I/O is denied, not 0 */
static void test_denied(void)
{
	struct child c;
	int status = 1;
	pid_t pid;

	if (geteuid() != 0) {
		T_SKIP("denied I/O", "needs root, to become nobody");
		return;
	}
	c = start(burn_200);
	go(&c);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct tg_reading r;
		struct tg_sampler *s;

		char stat[40];

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)c.pid);
		if (access(stat, R_OK) < 0)
			_exit(3);
		s = live_sampler(c.pid);
		read_walked(s, &r);
		_exit(!(column(&r, "tree.cpu_ns", "") >= 200 * TG_NS_PER_MS &&
			column(&r, "tree.rss_bytes", "") > 0 &&
			column(&r, "tree.read_bytes", "") == TG_MISSING &&
			column(&r, "root.read_ops", "") == TG_MISSING &&
			column(&r, "tree.denied", "") == 1));
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		T_SKIP("denied I/O", "/proc is mounted with hidepid");
	else
		T_EQ_I(status, 0);
	finish(&c);
}

static void map_memory(void)
{
	char *shared_memory =
		mmap(NULL, 32 * MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *own = mmap(NULL, 48 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(shared_memory, 1, 32 * MB);
	memset(own, 1, 48 * MB);
	stop();
	munmap(own, 48 * MB);
	stop();
}

static int64_t hwm;

static void on_value(void *ctx, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value)
{
	(void)ctx;
	(void)t_ns;
	(void)entity;
	if (field == TG_FIELD_HWM_BYTES)
		hwm = value;
}

/* pitfall 15: resident is not the same as the process's own; a peak between readings is not lost */
static void test_memory(void)
{
	struct child c = start(map_memory);
	struct tg_sampler_options options = {
		.root_fd = -1, .root = c.pid, .hooks = { .value = on_value }
	};
	struct tg_sampler *s;
	struct tg_reading before, r;
	int64_t rss, anon;

	tg_sampler_new(&s, &options, NULL);
	tg_sampler_read(s, 0, &before);
	rss = column(&before, "tree.rss_bytes", "");
	anon = column(&before, "tree.anon_bytes", "");
	go(&c);
	read_walked(s, &r);
	T_NEAR((double)(column(&r, "tree.rss_bytes", "") - rss), 80.0 * MB, 2.0 * MB);
	T_NEAR((double)(column(&r, "tree.anon_bytes", "") - anon), 48.0 * MB, 2.0 * MB);
	go(&c);
	tg_sampler_read(s, TG_READ_EDGE, &r);
	T_NEAR((double)(column(&r, "tree.rss_bytes", "") - rss), 32.0 * MB, 2.0 * MB);
	T_OK(hwm >= rss + 78 * MB);
	finish(&c);
	tg_sampler_free(s);
}

static void peak_and_free(void)
{
	char *m = mmap(NULL, 80 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(m, 1, 80 * MB);
	munmap(m, 80 * MB);
	stop();
}

/* A peak is its cell's, also when ticks have seen the process since and it idles at the edge. */
static void test_peak_before_tick(void)
{
	struct child c = start(peak_and_free);
	struct tg_sampler_options options = {
		.root_fd = -1, .root = c.pid, .hooks = { .value = on_value }
	};
	struct tg_sampler *s;
	int64_t before;

	tg_sampler_new(&s, &options, NULL);
	read_column(s, TG_READ_EDGE, "tree.rss_bytes");
	before = hwm;
	go(&c);
	for (int i = 0; i < 3; i++) /* it idles from now on */
		read_column(s, 0, "tree.rss_bytes");
	T_EQ_I(hwm, before);
	read_column(s, TG_READ_EDGE, "tree.rss_bytes");
	T_OK(hwm >= before + 70 * MB);
	finish(&c);
	tg_sampler_free(s);
}

static void one_core(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		_exit(97);
	stop();
}

/* pitfall 1: what the tree may use, not what the machine has */
static void test_affinity(void)
{
	struct child c = start(one_core);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_limits before, after;

	tg_sampler_limits(s, &before);
	go(&c);
	tg_sampler_limits(s, &after);
	T_OK(before.cores_milli >= after.cores_milli && before.memory_bytes > 0);
	T_OK(after.cores_milli <= 1000);
	if (before.cores_milli > 1000)
		T_EQ_S(after.cores_why, "affinity");
	finish(&c);
	tg_sampler_free(s);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_burner();
	test_kilohertz();
	test_tmpfs();
	test_children(waited_unseen, 1, "waited for before any reading");
	test_children(waited_seen, 2, "seen alive, then waited for");
	test_children(ignored_seen, 2, "seen alive, then reaped by the kernel");
	test_children(zombie_seen, 2, "seen as a zombie, then waited for");
	test_orphan();
	test_many();
	test_denied();
	test_memory();
	test_peak_before_tick();
	test_affinity();
	return t_done();
}
