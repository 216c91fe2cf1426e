/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of the whole tree, against what the processes say of themselves: children that live for
 * some milliseconds between two readings, however they end, are in it, and none is twice.
 */
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>

#include "made_tree.h"
#include "sample/procfs.h"
#include "sample_util.h"

#include "base/mem.h"

#define CHILDREN 40
#define EACH_MS  5

static struct {
	_Atomic int64_t cpu_ns; /* what all of them have used, each told by itself at its end */
	_Atomic int ended;
} * truth;

/* Work, and say what it came to. */
static void short_life(void)
{
	burn_ms(EACH_MS);
	atomic_fetch_add(&truth->cpu_ns, own_cpu_ns());
	atomic_fetch_add(&truth->ended, 1);
	_exit(0);
}

static void wait_ended(int n)
{
	while (atomic_load(&truth->ended) < n)
		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_MS }, NULL);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 3 * TG_NS_PER_MS }, NULL);
}

static void waited(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			short_life();
		waitpid(pid, NULL, 0);
		nap();
	}
	stop();
}

static void auto_reaped(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0)
			short_life();
		wait_ended(i + 1);
		nap();
	}
	stop();
}

static void double_forked(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0) {
				nap(); /* its parent is gone by then */
				short_life();
			}
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		wait_ended(i + 1);
	}
	stop();
}

/* Of a worker thread, whose children the kernel lists apart. */
static void *fork_many(void *arg)
{
	waited();
	return arg;
}

static void of_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fork_many, NULL);
	pthread_join(thread, NULL);
}

static enum tg_means means_of(struct tg_sampler *s)
{
	const char *why;
	enum tg_means means = tg_sampler_means(s, &why);

	if (means != TG_MEANS_PERF)
		printf("# not by perf: %s\n", why);
	return means;
}

/*
 * Reports 9 and 10: what is born and dead between two readings is in the sum, however it is reaped.
 * Returns false where perf is not allowed.
 */
static bool test_short_lives(const char *what, void (*work)(void))
{
	struct child c = start(work);
	struct tg_sampler_options options = { .root_fd = -1, .root = c.pid };
	struct tg_sampler *s;
	int64_t before, now = 0, last = 0, unattributed = 0;
	struct tg_reading r;
	bool perf;

	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	before = read_column(s, 0, "tree.cpu_ns");
	for (int i = 0; i < 50 && (perf = means_of(s) == TG_MEANS_PERF) == false; i++)
		before = read_column(s, 0, "tree.cpu_ns");
	atomic_store(&truth->cpu_ns, 0);
	atomic_store(&truth->ended, 0);
	if (perf) {
		if (write(c.go, "g", 1) != 1)
			abort();
		for (;;) {
			struct pollfd p = { .fd = c.stopped, .events = POLLIN };

			tg_sampler_read(s, 0, &r);
			now = column(&r, "tree.cpu_ns", "");
			T_OK(now >= last);
			last = now;
			if (poll(&p, 1, 50) > 0)
				break;
		}
		wait_stopped(&c);
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		now = column(&r, "tree.cpu_ns", "") - before;
		unattributed = column(&r, "tree.cpu_unattributed_ns", "");
		printf("# %s: %.1f ms of %.1f, %.1f of them unattributed\n", what,
			(double)now / 1e6, (double)truth->cpu_ns / 1e6, (double)unattributed / 1e6);
		T_EQ_I(truth->ended, CHILDREN);
		/* births, deaths and those between are more than what they say of themselves */
		T_OK(now >= truth->cpu_ns);
		T_OK(now <= truth->cpu_ns * 3 / 2); /* twice would be 2 */
		if (work == auto_reaped)
			T_OK(unattributed > truth->cpu_ns / 2);
		else if (work == waited || work == of_a_thread)
			T_OK(unattributed < truth->cpu_ns / 5);
	}
	finish(&c);
	tg_sampler_free(s);
	return perf;
}

/* Without perf, what was waited for is there, and what was not is said to be unknown. */
static void test_without(void)
{
	struct child c = start(waited);
	struct tg_sampler_options options = { .root_fd = -1, .root = c.pid, .no_perf = true };
	struct tg_sampler *s;
	struct tg_reading r;
	const char *why;
	int64_t before;

	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	before = read_column(s, 0, "tree.cpu_ns");
	atomic_store(&truth->cpu_ns, 0);
	atomic_store(&truth->ended, 0);
	go(&c);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_NEAR((double)(column(&r, "tree.cpu_ns", "") - before), (double)truth->cpu_ns,
		0.2 * (double)truth->cpu_ns + 40e6);
	if (tg_sampler_means(s, &why) == TG_MEANS_PROCESSES)
		T_EQ_I(column(&r, "tree.cpu_unattributed_ns", ""), TG_MISSING);
	finish(&c);
	tg_sampler_free(s);
}

/* One process that has waited for 1 s of children; its control group has used `usec`. */
static void put_job(const char *folder, const char *procs, int64_t usec)
{
	char cpu[64];

	snprintf(cpu, sizeof(cpu), "usage_usec %lld\nuser_usec 7\n", (long long)usec);
	put_file(folder, "proc/self/mountinfo",
		"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
	put_file(folder, "proc/77/cgroup", "0::/job\n");
	put_file(folder, "proc/77/stat",
		"77 (sh) S 1 77 77 0 -1 4194304 118 0 0 0 50 0 100 0 20 0 1 0 4000 0 0\n");
	put_file(folder, "proc/77/task/77/children", "");
	put_file(folder, "sys/fs/cgroup/job/cgroup.procs", procs);
	put_file(folder, "sys/fs/cgroup/job/cgroup.events", "populated 1\n");
	put_file(folder, "sys/fs/cgroup/job/cpu.stat", cpu);
}

/* A control group that has nobody else in it tells all, as long as that is so. */
static void test_cgroup(void)
{
	char folder[] = "/tmp/tg-whole-XXXXXX";
	struct tg_sampler_options options = { .root = 77 };
	struct tg_sampler *s;
	struct tg_reading r;
	const char *why;
	int64_t begin;

	if (!mkdtemp(folder))
		abort();
	put_job(folder, "77\n", 40000000);
	options.root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
	T_EQ_S(tg_means_name(TG_MEANS_CGROUP), "cgroup");
	/* what the group had used before is not of this job: it begins with the processes' sum */
	begin = column(&r, "tree.cpu_ns", "");
	T_EQ_I(begin, 1500 * TG_NS_PER_MS);
	put_job(folder, "77\n", 42000000);
	tg_sampler_read(s, 0, &r);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin + 2000 * TG_NS_PER_MS);
	T_NEAR((double)column(&r, "tree.cpu_unattributed_ns", ""), 2e9, 40e6);
	put_job(folder, "77\n4711\n", 43000000);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_PROCESSES);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin + 2000 * TG_NS_PER_MS); /* it never falls */
	T_EQ_I(column(&r, "tree.cpu_unattributed_ns", ""), TG_MISSING);
	tg_sampler_free(s);
	close(options.root_fd);
	remove_tree(folder);
}

int main(void)
{
	test_cgroup();
	truth = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_without();
	if (test_short_lives("waited for", waited)) {
		test_short_lives("SIGCHLD ignored", auto_reaped);
		test_short_lives("double fork", double_forked);
		test_short_lives("of a thread", of_a_thread);
	} else {
		T_SKIP("CPU time of short-lived children", "perf events are not allowed here");
	}
	munmap(truth, 4096);
	return t_done();
}
