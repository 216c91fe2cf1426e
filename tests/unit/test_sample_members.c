/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes of the running machine belong to the tree, and which is which.
 */
#include "tap.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "sample_util.h"

#include "base/mem.h"

#define MB (INT64_C(1) << 20)

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
	tg_sampler_read(s, REFRESH_ALL, &r);
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

static bool comes_to_state(pid_t pid, char state)
{
	const char want[] = { ')', ' ', state, ' ', '\0' };
	bool there = false;

	for (int i = 0; i < 10000 && !there; i++) {
		char path[64], text[512] = "";
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		fd = open(path, O_RDONLY);
		there = read(fd, text, sizeof(text) - 1) > 0 && strstr(text, want);
		close(fd);
		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_MS }, NULL);
	}
	return there;
}

/* pitfall 6: the leading thread has ended: state Z, statm 0 0 0, and yet it is there */
static void test_leader_ends(void)
{
	struct child c = start(leader_ends);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;

	go(&c);
	T_OK(comes_to_state(c.pid, 'Z'));
	tg_sampler_read(s, REFRESH_ALL, &r);
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

static struct tg_sampler *told_sampler(pid_t root, const char *mark, struct told *t)
{
	struct tg_sampler_options options = { .root_fd = -1,
		.root = root,
		.first_entity = 7,
		.mark = mark,
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
	struct tg_sampler *s = told_sampler(c.pid, NULL, &told);
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
	wait_child(first);
	again = fork_as(first);
	if (again == 0)
		_exit(0);
	if (again > 0)
		wait_child(again);
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
	wait_child(first);
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
	s = told_sampler(c.pid, NULL, &told);
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

/* ---- daemons ---- */

#define MARK "TACHOGRAPH_SOCKET=here:boot:/run/me.sock"

static char *const marked[] = { "PATH=/usr/bin:/bin", MARK, NULL };
static char *const other[] = { "PATH=/usr/bin:/bin", MARK "x", "X" MARK, NULL };
static char *const *daemon_env;
static char *const to_sleep[] = { "/bin/sleep", "1000", NULL };
static char *const to_hang[] = { "/proc/self/exe", "hang", NULL };
static char *const *daemon_argv = to_sleep;

static pid_t *daemon_pid; /* shared with the one that starts it */

/* As a shell does with "sleep 1000 &" at its end, and a daemon with itself. */
static void leave_daemon(void)
{
	int fd[2];
	char byte;
	pid_t pid;

	if (pipe(fd) < 0)
		_exit(98);
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0) {
			setsid();
			/* both ends are open in it until it is another program */
			fcntl(fd[0], F_SETFD, FD_CLOEXEC);
			fcntl(fd[1], F_SETFD, FD_CLOEXEC);
			execve(daemon_argv[0], daemon_argv, daemon_env);
			_exit(1);
		}
		if (write(fd[1], &pid, sizeof(pid)) < 0)
			_exit(1);
		_exit(0);
	}
	wait_child(pid);
	if (read(fd[0], daemon_pid, sizeof(*daemon_pid)) < 0)
		_exit(98);
	close(fd[1]);
	while (read(fd[0], &byte, 1) > 0)
		continue;
	stop();
}

static pid_t fork_nothing(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid;
}

/* Reports 9, 10: its parent has ended before any reading; what the root was started with tells. */
static void test_daemon(char *const *env, const char *mark, int found, bool refresh)
{
	struct child c;
	struct tg_sampler *s;
	struct tg_reading r;
	struct told told = { 0 };

	daemon_env = env;
	c = start(leave_daemon);
	s = told_sampler(c.pid, mark, &told);
	tg_sampler_read(s, REFRESH_ALL, &r);
	if (!refresh) {
		wait_child(fork_nothing());
		tg_sampler_read(s, REFRESH_ALL, &r); /* looks at all that there are */
	}
	T_EQ_I(column(&r, "tree.processes", ""), 1);
	go(&c);
	/* whether or not it is time to read all anew: that may be too dear to be done so often */
	nanosleep(&(struct timespec){ .tv_sec = refresh ? 0 : 3 }, NULL);
	tg_sampler_read(s, refresh ? REFRESH_ALL : 0, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 1 + found);
	T_EQ_I(told.births, 1 + found);
	finish(&c);
	tg_sampler_read(s, REFRESH_ALL, &r);
	T_EQ_I(column(&r, "tree.processes", ""), found);
	kill(*daemon_pid, SIGKILL);
	tg_sampler_free(s);
}

/* The program of a daemon that hangs: who waits for its vfork is in state D, as one whose disk is.
 */
static _Noreturn void hang(void)
{
	if (vfork() == 0)
		for (;;)
			syscall(SYS_pause);
	for (;;)
		pause();
}

static void kill_child(void *ctx, uint32_t entity, pid_t pid, const char *comm)
{
	const struct child *c = ctx;

	(void)entity;
	(void)comm;
	if (pid != c->pid && pid != *daemon_pid)
		kill(pid, SIGKILL);
}

/* What may not be read while it hangs is read later. */
static void test_daemon_that_hangs(void)
{
	struct child c;
	struct tg_sampler *s;
	struct tg_reading r;
	struct told told = { 0 };

	daemon_env = marked;
	daemon_argv = to_hang;
	c = start(leave_daemon);
	s = told_sampler(c.pid, MARK, &told);
	tg_sampler_read(s, REFRESH_ALL, &r);
	go(&c);
	T_OK(comes_to_state(*daemon_pid, 'D'));
	tg_sampler_read(s, REFRESH_ALL, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 2); /* the root, and what it waits for */
	tg_sampler_alive(s, kill_child, &c);
	T_OK(comes_to_state(*daemon_pid, 'S'));
	tg_sampler_read(s, REFRESH_ALL, &r);
	T_EQ_I(column(&r, "tree.processes", ""), 2);
	kill(*daemon_pid, SIGKILL);
	finish(&c);
	tg_sampler_free(s);
}

/* ---- many, others ---- */

static void just_stop(void)
{
	stop();
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
		tg_sampler_read(s, REFRESH_ALL, &r);
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
	struct tg_sampler *s = told_sampler(a.pid, NULL, &told);
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

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "hang"))
		hang();
	signal(SIGPIPE, SIG_IGN);
	test_child_of_thread();
	test_child_of_many_threads();
	test_leader_ends();
	test_exec();
	test_pid_reuse();
	daemon_pid = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_daemon(marked, MARK, 1, true);
	test_daemon(marked, MARK, 1, false);
	test_daemon(other, MARK, 0, true);
	test_daemon(marked, NULL, 0, true);
	test_daemon_that_hangs();
	munmap(daemon_pid, 4096);
	test_descriptors();
	test_other_root();
	return t_done();
}
