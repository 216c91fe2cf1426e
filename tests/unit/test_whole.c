/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of the whole tree, against what the processes say of themselves: children that live for
 * some milliseconds between two readings, however they end, are in it, and none is twice.
 */
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "made_tree.h"
#include "own_group.h"
#include "sample/procfs.h"
#include "sample/sampler_private.h"
#include "sample_util.h"

#include "base/mem.h"

#define CHILDREN 40
#define EACH_MS  10

static struct {
	_Atomic int64_t cpu_ns; /* what all of them have used, each told by itself at its end */
	_Atomic int64_t kernel_ns; /* … and by the kernel, births and deaths and parent included */
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

static int64_t of_rusage(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * TG_NS_PER_S +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * TG_NS_PER_US;
}

static void waited(void)
{
	int64_t before = own_cpu_ns();

	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			short_life();
		waitpid(pid, NULL, 0);
		nap();
	}
	atomic_store(&truth->kernel_ns, of_rusage(RUSAGE_CHILDREN) + own_cpu_ns() - before);
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

static int64_t birth_ns; /* what being born, ending and being waited for comes to, for each */

/*
 * How far perf and the kernel's own accounts of CPU time may lie apart: a twentieth, and more where
 * others want the cores as well, as then its ticks meet now these and now those.
 */
static double slack(void)
{
	double load;

	return getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN) ? 0.15
											 : 0.05;
}

/*
 * Let them live and die between readings that are 50 ms apart. The sum is what they say of
 * themselves and what their births and deaths cost.
 */
static void check_short_lives(
	struct tg_sampler *s, struct child *c, const char *what, void (*work)(void))
{
	int64_t before = read_column(s, TG_READ_EDGE, "tree.cpu_ns"), now = 0, last = 0;
	int64_t unattributed, least, want;
	struct tg_reading r;

	atomic_store(&truth->cpu_ns, 0);
	atomic_store(&truth->kernel_ns, 0);
	atomic_store(&truth->ended, 0);
	if (write(c->go, "g", 1) != 1)
		abort();
	for (int i = 0, fell = 0;; i++) {
		struct pollfd p = { .fd = c->stopped, .events = POLLIN };

		tg_sampler_read(s, i % 8 == 7 ? TG_READ_REFRESH : 0, &r);
		now = column(&r, "tree.cpu_ns", "");
		fell += now < last;
		last = now;
		if (poll(&p, 1, 50) > 0) {
			T_EQ_I(fell, 0);
			break;
		}
	}
	wait_stopped(c);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	now = column(&r, "tree.cpu_ns", "") - before;
	unattributed = column(&r, "tree.cpu_unattributed_ns", "");
	T_EQ_I(truth->ended, CHILDREN);
	if (truth->kernel_ns && !birth_ns)
		birth_ns = (truth->kernel_ns - truth->cpu_ns) / CHILDREN;
	least = want = truth->kernel_ns;
	if (!want)
		least = want = truth->cpu_ns + CHILDREN * birth_ns;
	if (work == double_forked) /* a second birth each, of one that does less: up to as dear */
		want += CHILDREN * birth_ns;
	printf("# %s: %.1f ms of %.1f, %.1f of them unattributed\n", what, (double)now / 1e6,
		(double)want / 1e6, (double)unattributed / 1e6);
	T_OK((double)now >= (1 - slack()) * (double)least);
	T_OK((double)now <= (1 + slack()) * (double)want);
	if (work == auto_reaped)
		T_OK(unattributed > truth->cpu_ns / 2);
	else if (work != double_forked)
		T_OK(unattributed < truth->cpu_ns / 5);
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
	struct tg_reading r;
	const char *why = "";
	bool perf;

	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	tg_sampler_read(s, 0, &r);
	perf = tg_sampler_means(s, &why) == TG_MEANS_PERF;
	if (perf)
		check_short_lives(s, &c, what, work);
	else
		T_SKIP(what, why);
	finish(&c);
	tg_sampler_free(s);
	return perf;
}

/* reports 9 and 10: the same by a control group of its own */
static void test_short_lives_in_group(const char *what, void (*work)(void))
{
	char folder[TG_PATH_MAX + 32];
	const char *why = make_group("cpuacct", NULL, NULL, NULL, NULL, folder, sizeof(folder));
	struct tg_sampler *s;
	struct tg_reading r;
	struct child c;

	if (why) {
		T_SKIP(what, why);
		return;
	}
	c = start(work);
	if (join(folder, c.pid)) {
		s = live_sampler(c.pid);
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
		check_short_lives(s, &c, what, work);
		T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
		tg_sampler_free(s);
	} else {
		T_SKIP(what, "no process can be put into the group");
	}
	finish(&c);
	remove_group(folder);
}

/* ---- how perf begins ---- */

static void *burn_some(void *arg)
{
	while (!atomic_load(&truth->ended))
		nap();
	burn_ms(50);
	return arg;
}

/* A tree of three levels with threads, all of which are there before it is found, and then work. */
static void attached(void)
{
	pthread_t thread;
	bool root = true;
	pid_t below = 0;

	for (int level = 0; level < 2 && (below = fork()) == 0; level++)
		root = false;
	pthread_create(&thread, NULL, burn_some, NULL);
	if (root)
		stop();
	if (root)
		atomic_store(&truth->ended, 1);
	burn_some(NULL);
	pthread_join(thread, NULL);
	if (below)
		waitpid(below, NULL, 0);
	if (!root)
		_exit(0);
	atomic_store(&truth->kernel_ns, of_rusage(RUSAGE_CHILDREN) + own_cpu_ns());
	stop();
}

/*
 * What is there already is counted from then on, once each: children are asked for first. False
 * where others started processes just then, so that it is said not to be certain.
 */
static bool attach(void)
{
	struct child c = start(attached);
	struct tg_sampler_options options = { .root_fd = -1, .root = c.pid };
	struct tg_sampler *s;
	struct tg_reading r;
	const char *why;
	int64_t before;
	bool sure;

	atomic_store(&truth->ended, 0);
	go(&c);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	do {
		nap();
		before = read_column(s, TG_READ_REFRESH, "tree.cpu_ns");
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	} while (column(&r, "tree.threads", "") < 6);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_PERF);
	sure = !why[0];
	go(&c);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	if (sure)
		T_NEAR((double)(column(&r, "tree.cpu_ns", "") - before), (double)truth->kernel_ns,
			0.05 * (double)truth->kernel_ns + 5e6);
	T_OK(truth->kernel_ns >= 150 * TG_NS_PER_MS);
	finish(&c);
	tg_sampler_free(s);
	return sure;
}

static void test_attached(void)
{
	int tries = 0;

	while (!attach())
		if (++tries == 20) {
			T_SKIP("attached", "others start processes all the time");
			return;
		}
}

static void fork_for_ever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/*
 * Where others start processes all the time it is tried again at once, as long as that is cheap,
 * and in the end what is not certain is told.
 */
static void test_begin_among_others(void)
{
	struct child c = start(stop), other = start(fork_for_ever);
	struct tg_sampler_options options = { .root_fd = -1, .root = c.pid };
	struct tg_sampler *s;
	struct tg_reading r;
	const char *why;
	int64_t spent;

	if (write(other.go, "g", 1) != 1)
		abort();
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	spent = -tg_thread_ns();
	tg_sampler_read(s, 0, &r);
	spent += tg_thread_ns();
	T_OK(tg_sampler_means(s, &why) == TG_MEANS_PERF || spent > 5 * TG_NS_PER_MS);
	for (int i = 0; i < 4; i++)
		tg_sampler_read(s, 0, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_PERF);
	T_EQ_I(s->whole.sure, !*why);
	printf("# %s\n", *why ? why : "at a quiet moment");
	if (*why)
		T_OK(strstr(why, "processes were being started in the ") == why);
	finish(&other);
	finish(&c);
	tg_sampler_free(s);
}

#define BURN "burn" /* what we are told then */

/* As sudo does: the real user is another than the one by whose rights it runs. */
static void other_rights(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (setresuid(65534, 0, 0) < 0)
			_exit(1);
		execl("/proc/self/exe", "other_rights", BURN, NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	atomic_store(&truth->kernel_ns, of_rusage(RUSAGE_CHILDREN));
	stop();
	auto_reaped();
}

/*
 * Perf drops who executes with other rights than its user's; the processes have it. What no process
 * shows of others later is there all the same.
 */
static void test_other_rights(void)
{
	struct tg_sampler_options options = { .root_fd = -1 };
	struct tg_sampler *s;
	struct tg_reading r;
	struct child c;
	const char *why;
	int64_t before;

	if (geteuid() != 0) {
		T_SKIP("a set-user-ID program", "needs root, to have other rights than its user");
		return;
	}
	c = start(other_rights);
	options.root = c.pid;
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	before = read_column(s, TG_READ_REFRESH, "tree.cpu_ns");
	go(&c);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_OK(truth->kernel_ns >= 200 * TG_NS_PER_MS);
	T_NEAR((double)(column(&r, "tree.cpu_ns", "") - before), (double)truth->kernel_ns, 50e6);
	T_OK(!s->whole.sure);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_PERF);
	T_OK(strstr(why, "set-user-ID"));
	check_short_lives(s, &c, "after a set-user-ID program", auto_reaped);
	finish(&c);
	tg_sampler_free(s);
}

static void three_that_wait(void)
{
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			for (;;)
				pause();
	stop();
	burn_ms(5);
	stop();
}

static void kill_other(void *ctx, uint32_t entity, pid_t pid, const char *comm)
{
	const struct child *c = ctx;

	(void)entity;
	(void)comm;
	if (pid != c->pid)
		kill(pid, SIGKILL);
}

/* A whole that stands still is of processes that did not run: these are not looked at, but once a
 * second. One that works, and one that ends, is seen at the next reading. */
static void test_still(void)
{
	struct child c = start(three_that_wait);
	struct tg_sampler_options options = { .root_fd = -1, .root = c.pid };
	struct tg_sampler *s = NULL;
	struct tg_reading r;
	int64_t looked_ns;

	go(&c);
	for (int i = 0; i < 100 && (!s || !s->whole.sure); i++) {
		tg_sampler_free(s);
		T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		read_walked(s, &r);
	}
	if (!s->whole.sure) {
		T_SKIP("a tree that is still", "others start processes all the time");
	} else {
		looked_ns = tg_tree_totals(s->env.tree)->t_ns;
		for (int i = 0; i < 5; i++)
			read_walked(s, &r);
		T_EQ_I(tg_tree_totals(s->env.tree)->t_ns, looked_ns);
		T_EQ_I(column(&r, "tree.processes", ""), 4);
		T_OK(column(&r, "tree.rss_bytes", "") > 0);
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		T_EQ_I(tg_tree_totals(s->env.tree)->t_ns, r.t_ns);
		/* were that not sure, they would be looked at, and what was not is not told */
		s->whole.sure = false;
		tg_sampler_read(s, 0, &r);
		T_OK(column(&r, "tree.cpu_ns", "") != TG_MISSING);
		T_EQ_I(column(&r, "tree.rss_bytes", ""), TG_MISSING);
		looked_ns = tg_tree_totals(s->env.tree)->t_ns;
		for (int i = 0; i < 5; i++)
			read_walked(s, &r);
		T_OK(tg_tree_totals(s->env.tree)->t_ns > looked_ns);
		s->whole.sure = true;
		go(&c);
		read_walked(s, &r);
		T_EQ_I(tg_tree_totals(s->env.tree)->t_ns, r.t_ns);
		read_walked(s, &r);
		tg_sampler_alive(s, kill_other, &c);
		for (int i = 0; i < 1000 && column(&r, "tree.processes", "") > 1; i++)
			read_walked(s, &r);
		T_EQ_I(column(&r, "tree.processes", ""), 1);
	}
	finish(&c);
	tg_sampler_free(s);
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

#define STAT_OF(pid, ppid)                                                                         \
#pid " (sh) S " #ppid " 77 77 0 -1 4194304 118 0 0 0 50 0 100 0 20 0 1 0 4000 0 0\n"

/* One process that has waited for 1 s of children; its control group has used `usec`. */
static void put_job(const char *folder, const char *procs, int64_t usec)
{
	char cpu[64];

	snprintf(cpu, sizeof(cpu), "usage_usec %lld\nuser_usec 7\n", (long long)usec);
	put_file(folder, "proc/self/mountinfo",
		"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
	put_file(folder, "proc/77/cgroup", "0::/job\n");
	put_file(folder, "proc/77/stat", STAT_OF(77, 1));
	put_file(folder, "proc/77/task/77/children", "");
	put_file(folder, "sys/fs/cgroup/job/cgroup.procs", procs);
	put_file(folder, "sys/fs/cgroup/job/cgroup.events", "populated 1\n");
	put_file(folder, "sys/fs/cgroup/job/cpu.stat", cpu);
}

struct job {
	char folder[32];
	int root_fd;
	struct tg_sampler *sampler;
};

static struct job job_begin(void)
{
	struct job j = { .folder = "/tmp/tg-whole-XXXXXX" };
	struct tg_sampler_options options = { .root = 77 };

	if (!mkdtemp(j.folder))
		abort();
	put_job(j.folder, "77\n", 40000000);
	j.root_fd = options.root_fd = open(j.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	T_EQ_I(tg_sampler_new(&j.sampler, &options, NULL), 0);
	return j;
}

static void job_end(struct job *j)
{
	tg_sampler_free(j->sampler);
	close(j->root_fd);
	remove_tree(j->folder);
}

/* pitfall 13: a control group that has nobody else in it tells all, as long as that is so; one of
 * another PID namespace shows as 0, and is somebody else */
static void test_cgroup(void)
{
	struct job j = job_begin();
	struct tg_sampler *s = j.sampler;
	struct tg_reading r;
	const char *why;
	int64_t begin;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
	T_EQ_S(tg_means_name(TG_MEANS_CGROUP), "cgroup");
	/* what the group had used before is not of this job: it begins with the processes' sum */
	begin = column(&r, "tree.cpu_ns", "");
	T_EQ_I(begin, 1500 * TG_NS_PER_MS);
	put_job(j.folder, "77\n", 42000000);
	tg_sampler_read(s, 0, &r);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin + 2000 * TG_NS_PER_MS);
	T_NEAR((double)column(&r, "tree.cpu_unattributed_ns", ""), 2e9, 40e6);
	/* an orphan of a group that was ours alone; one that has ended; one that has a parent */
	put_file(j.folder, "proc/4711/stat", STAT_OF(4711, 1));
	put_file(j.folder, "proc/4712/stat", STAT_OF(4712, 4711));
	put_job(j.folder, "77\n4711\n4712\n4713\n", 42000000);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
	put_job(j.folder, "77\n0\n", 42000000);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_PROCESSES);
	put_job(j.folder, "77\n", 42000000);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin + 2000 * TG_NS_PER_MS);
	/* one that somebody else has brought in */
	put_file(j.folder, "proc/4711/stat", STAT_OF(4711, 50));
	put_job(j.folder, "77\n4711\n", 43000000);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_PROCESSES);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin + 2000 * TG_NS_PER_MS); /* it never falls */
	T_EQ_I(column(&r, "tree.cpu_unattributed_ns", ""), TG_MISSING);
	job_end(&j);
}

/* It is moved from a group of its own to another one, and counted there on. */
static void test_cgroup_moves(void)
{
	struct job j = job_begin();
	struct tg_sampler *s = j.sampler;
	struct tg_reading r;
	const char *why;
	int64_t begin;

	put_file(j.folder, "sys/fs/cgroup/next/cgroup.procs", "77\n");
	put_file(j.folder, "sys/fs/cgroup/next/cgroup.events", "populated 1\n");
	put_file(j.folder, "sys/fs/cgroup/next/cpu.stat", "usage_usec 3000000\n");
	begin = read_column(s, TG_READ_REFRESH, "tree.cpu_ns");
	put_file(j.folder, "proc/77/cgroup", "0::/next\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(tg_sampler_means(s, &why), TG_MEANS_CGROUP);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin);
	put_file(j.folder, "sys/fs/cgroup/next/cpu.stat", "usage_usec 5000000\n");
	tg_sampler_read(s, 0, &r);
	T_EQ_I(column(&r, "tree.cpu_ns", ""), begin + 2000 * TG_NS_PER_MS);
	job_end(&j);
}

/* Another root, which has ended when it is seen first: what the old one used is not its. */
static void test_root_that_has_ended(void)
{
	struct job j = job_begin();
	struct tg_sampler *s = j.sampler;
	struct tg_reading r;

	put_file(j.folder, "proc/78/stat",
		"78 (sh) Z 1 78 78 0 -1 4194304 0 0 0 0 3 0 0 0 20 0 1 0 4100 0 0\n");
	put_file(j.folder, "proc/78/task/78/children", "");
	T_EQ_I(read_column(s, TG_READ_REFRESH, "tree.cpu_ns"), 1500 * TG_NS_PER_MS);
	tg_sampler_set_root(s, 78);
	for (int i = 0; i < 2; i++) {
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		T_EQ_I(column(&r, "tree.cpu_ns", ""), 30 * TG_NS_PER_MS);
	}
	job_end(&j);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], BURN)) {
		burn_ms(200);
		return 0;
	}
	test_cgroup();
	test_cgroup_moves();
	test_root_that_has_ended();
	truth = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_without();
	if (test_short_lives("waited for", waited)) {
		test_short_lives("SIGCHLD ignored", auto_reaped);
		test_short_lives("double fork", double_forked);
		test_short_lives("of a thread", of_a_thread);
		test_attached();
		test_begin_among_others();
		test_other_rights();
		test_still();
	}
	test_short_lives_in_group("waited for, in a group", waited);
	test_short_lives_in_group("SIGCHLD ignored, in a group", auto_reaped);
	test_short_lives_in_group("double fork, in a group", double_forked);
	munmap(truth, 4096);
	return t_done();
}
