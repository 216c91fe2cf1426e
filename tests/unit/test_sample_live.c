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

static void burn_200(void)
{
	burn_ms(200);
	stop();
}

/* 2: what was used before the first reading is in the counter, and in no difference */
static void burn_before(void)
{
	burn_ms(200);
	stop();
	burn_ms(200);
	stop();
}

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
		tg_sampler_read(s, TG_READ_REFRESH, &r);
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

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static void waited_unseen(void)
{
	wait_for(spawn_worker(200, 16 * MB, false));
	stop();
}

static void waited_seen(void)
{
	wait_for(spawn_worker(200, 16 * MB, true)); /* a reading while it is alive */
	stop();
}

/* Not waited for: the kernel throws away what it used; only what was seen is known. */
static void ignored_seen(void)
{
	signal(SIGCHLD, SIG_IGN);
	wait_for(spawn_worker(200, 16 * MB, true));
	stop();
}

static void zombie_seen(void)
{
	pid_t pid = spawn_worker(200, 16 * MB, false);
	siginfo_t info;

	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	stop();
	wait_for(pid);
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
	wait_for(pid);
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
			tg_sampler_read(s, TG_READ_REFRESH, &r);
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
				wait_for(spawn_worker((int)ms, MB, false));
			write_nowhere(MB);
			burn_ms((int)ms);
			_exit(0);
		}
		wait_for(pid);
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
	tg_sampler_read(s, TG_READ_REFRESH, &r);
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

/* ---- threads ---- */

static void *fork_big_child(void *arg)
{
	(void)arg;
	if (fork() == 0) {
		char *m = mmap(
			NULL, 300 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(m, 1, 300 * MB);
		stop();
		_exit(0);
	}
	for (;;)
		pause();
}

static void child_of_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, fork_big_child, NULL);
	for (;;)
		pause();
}

/* A child that a worker thread has started is listed under that thread only. */
static void test_child_of_thread(void)
{
	struct child c = start(child_of_thread);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;

	read_walked(s, &r);
	go(&c);
	read_walked(s, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 2);
	T_EQ_I(column(&r, "tree.threads", ""), 3);
	T_OK(column(&r, "tree.rss_bytes", "") > 300 * MB);
	T_OK(column(&r, "tree.anon_bytes", "") > 300 * MB);
	if (write(c.go, "g", 1) != 1)
		abort();
	finish(&c);
	tg_sampler_free(s);
}

static void *wait_here(void *arg)
{
	(void)arg;
	while (pause() < 0)
		continue;
	return NULL;
}

static void child_of_last_thread(void)
{
	pthread_t t;

	for (int i = 0; i < 60; i++)
		pthread_create(&t, NULL, wait_here, NULL);
	stop();
	pthread_create(&t, NULL, fork_big_child, NULL);
	wait_here(NULL);
}

/* Of many threads a reading looks at a share; a refresh, once a second, at all. */
static void test_child_of_many_threads(void)
{
	struct child c = start(child_of_last_thread);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;

	go(&c);
	read_walked(s, &r);
	T_EQ_I(column(&r, "tree.threads", ""), 61);
	go(&c);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 2);
	T_EQ_I(column(&r, "tree.threads", ""), 63);
	if (write(c.go, "g", 1) != 1)
		abort();
	finish(&c);
	tg_sampler_free(s);
}

static void *sit(void *arg)
{
	(void)arg;
	stop();
	while (pause() < 0)
		continue;
	return NULL;
}

static void leader_ends(void)
{
	char *m = mmap(NULL, 64 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t;

	memset(m, 1, 64 * MB);
	pthread_create(&t, NULL, sit, NULL);
	pthread_exit(NULL);
}

/* pitfall 6: the leading thread has ended: state Z, statm 0 0 0, and yet it is there */
static void test_leader_ends(void)
{
	struct child c = start(leader_ends);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	bool zombie = false;

	go(&c);
	for (int i = 0; i < 1000 && !zombie; i++) {
		char path[64], text[512] = "";
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/stat", c.pid);
		fd = open(path, O_RDONLY);
		zombie = read(fd, text, sizeof(text) - 1) > 0 && strstr(text, ") Z ");
		close(fd);
		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_MS }, NULL);
	}
	T_OK(zombie);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 1);
	T_OK(column(&r, "tree.rss_bytes", "") > 64 * MB);
	T_OK(column(&r, "root.read_ops", "") != TG_MISSING);
	finish(&c);
	tg_sampler_free(s);
}

/* ---- identity ---- */

struct told {
	int births, deaths;
	uint32_t entity;
	char comm[32], args[64];
};

static void on_birth(void *ctx, const struct tg_birth *b)
{
	struct told *t = ctx;

	t->births++;
	t->entity = b->entity;
	snprintf(t->comm, sizeof(t->comm), "%s", b->comm);
	snprintf(t->args, sizeof(t->args), "%s", b->args ? b->args : "");
}

static void on_death(void *ctx, int64_t t_ns, uint32_t entity, pid_t pid, int64_t cpu_ns)
{
	struct told *t = ctx;

	(void)t_ns;
	(void)pid;
	(void)cpu_ns;
	t->deaths++;
	t->entity = entity;
}

static struct tg_sampler *told_sampler(pid_t root, struct told *t)
{
	struct tg_sampler_options options = { .root_fd = -1,
		.root = root,
		.first_entity = 7,
		.hooks = { .birth = on_birth, .death = on_death, .ctx = t } };
	struct tg_sampler *s;

	if (tg_sampler_new(&s, &options, NULL) < 0)
		abort();
	return s;
}

static void exec_sleep(void)
{
	execlp("sleep", "sleep", "1000", (char *)NULL);
}

/* pitfall 11, report 12: exec changes name and memory, not identity */
static void test_exec(void)
{
	struct told told = { 0 };
	struct child c = start(exec_sleep);
	struct tg_sampler *s = told_sampler(c.pid, &told);
	struct tg_reading r;

	read_walked(s, &r);
	T_EQ_I(told.births, 1);
	T_EQ_I(told.entity, 7);
	if (write(c.go, "g", 1) != 1)
		abort();
	for (int i = 0; i < 1000 && (strcmp(told.comm, "sleep") != 0 || !told.args[0]); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_MS }, NULL);
		read_walked(s, &r);
	}
	T_EQ_S(told.comm, "sleep");
	T_EQ_S(told.args, "sleep 1000");
	T_EQ_I(told.entity, 7);
	T_OK(told.births >= 2 && told.births <= 3); /* again, when the arguments came late */
	T_EQ_I(told.deaths, 0);
	T_EQ_I(column(&r, "tree.processes", ""), 1);
	T_OK(column(&r, "tree.rss_bytes", "") > 0);
	finish(&c);
	read_walked(s, &r);
	T_EQ_I(told.deaths, 1);
	T_EQ_I(told.entity, 7);
	T_EQ_I(column(&r, "tree.processes", ""), 0);
	tg_sampler_free(s);
}

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* The kernel's struct clone_args up to set_tid_size; older headers do not have it. */
struct clone_with_pid {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
		set_tid_size;
};

/* Fork under a number of one's choice; it may be taken for a moment, by whom it is still of. */
static pid_t fork_as(pid_t pid)
{
	struct clone_with_pid args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1
	};
	pid_t again;

	for (int i = 0; i < 100; i++) {
		again = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (again >= 0 || errno != EEXIST)
			break;
		usleep(10000);
	}
	return again;
}

static bool may_choose_pids(void)
{
	pid_t first = fork(), again;

	if (first == 0)
		_exit(0);
	wait_for(first);
	again = fork_as(first);
	if (again == 0)
		_exit(0);
	if (again > 0)
		wait_for(again);
	return again > 0;
}

static void reborn(void)
{
	pid_t first = fork();

	if (first == 0) {
		burn_ms(100);
		stop();
		_exit(0);
	}
	wait_for(first);
	if (fork_as(first) == 0) {
		burn_ms(20);
		stop();
		_exit(0);
	}
	for (;;)
		pause();
}

/* pitfalls 9, 10, report 6: the pid of a process that has ended is given out again at once */
static void test_pid_reuse(void)
{
	struct told told = { 0 };
	struct tg_sampler *s;
	struct tg_reading r;
	struct child c;
	int64_t cpu;

	if (!may_choose_pids()) {
		T_SKIP("pid reuse", "clone3(set_tid) is not allowed here");
		return;
	}
	c = start(reborn);
	s = told_sampler(c.pid, &told);
	cpu = read_column(s, 0, "tree.cpu_ns");
	go(&c);
	read_walked(s, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 2);
	go(&c);
	read_walked(s, &r);
	read_walked(s, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 2);
	T_EQ_I(told.births, 3);
	T_EQ_I(told.deaths, 1);
	T_NEAR((double)(column(&r, "tree.cpu_ns", "") - cpu), 125e6, 25e6);
	if (write(c.go, "g", 1) != 1)
		abort();
	finish(&c);
	tg_sampler_free(s);
}

/* ---- what may not be read, memory, limits ---- */

static void just_stop(void)
{
	stop();
}

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

/* Descriptors are bounded below the limit, however many processes there are. */
static void forty_children(void)
{
	for (int i = 0; i < 40; i++)
		if (fork() == 0)
			for (;;)
				burn_ms(1000);
	stop();
}

static void kill_one(void *ctx, uint32_t entity, pid_t pid, const char *comm)
{
	const struct child *root = ctx;

	(void)entity;
	(void)comm;
	if (pid != root->pid)
		kill(pid, SIGKILL);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_descriptors(void)
{
	struct rlimit found, low;
	struct child c;
	struct tg_sampler *s;
	struct tg_reading r;

	getrlimit(RLIMIT_NOFILE, &found);
	low = found;
	low.rlim_cur = 96;
	setrlimit(RLIMIT_NOFILE, &low);
	c = start(forty_children);
	s = live_sampler(c.pid);
	go(&c);
	for (int i = 0; i < 5; i++)
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 41);
	T_EQ_I(column(&r, "tree.denied", ""), 0);
	T_OK(open_descriptors() <= 96 - 16);
	tg_sampler_alive(s, kill_one, &c);
	finish(&c);
	tg_sampler_free(s);
	setrlimit(RLIMIT_NOFILE, &found);
}

/* The same tree, another root: the old one is not counted on, its end is told if it has ended. */
static void test_other_root(void)
{
	struct told told = { 0 };
	struct child a = start(burn_200), b = start(just_stop);
	struct tg_sampler *s = told_sampler(a.pid, &told);
	struct tg_reading r;

	go(&a);
	read_walked(s, &r);
	T_OK(column(&r, "tree.cpu_ns", "") >= 200 * TG_NS_PER_MS);
	finish(&a);
	tg_sampler_set_root(s, b.pid);
	read_walked(s, &r);
	T_EQ_I(told.births, 2);
	T_EQ_I(told.deaths, 1);
	T_OK(column(&r, "tree.cpu_ns", "") < 200 * TG_NS_PER_MS);
	T_EQ_I(column(&r, "tree.processes", ""), 1);
	finish(&b);
	/* the root's end keeps what it had used, and the root's own columns are no more */
	read_walked(s, &r);
	T_OK(column(&r, "tree.cpu_ns", "") > 0);
	T_EQ_I(column(&r, "tree.processes", ""), 0);
	T_EQ_I(column(&r, "root.read_ops", ""), TG_MISSING);
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
	test_child_of_thread();
	test_child_of_many_threads();
	test_leader_ends();
	test_exec();
	test_pid_reuse();
	test_denied();
	test_memory();
	test_peak_before_tick();
	test_affinity();
	test_descriptors();
	test_other_root();
	return t_done();
}
