/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of what kind memory is, what is shared, and what it costs to know: on captured trees, and on the
 * running machine over processes that have known amounts of it. Numbers in comments are those of
 * the list of pitfalls, and reports of wrong numbers, that sampling tools have been found in.
 */
#include "tap.h"

#include <linux/magic.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

#include "sample_tree.h"

#include "sample/share.h"

#include "base/buf.h"
#include "base/file.h"

#include "base/mem.h"

#define MB (INT64_C(1) << 20)
#define KB INT64_C(1024)

/* pitfalls 15, 16, report 15: kinds, swap and huge pages apart, in no sum with each other */
static void test_kinds(void)
{
	static const unsigned flags[] = { TG_READ_REFRESH, TG_READ_EDGE };
	struct tg_sampler *s = sampler_of("container_v2", 100);
	struct tg_reading r;

	for (size_t i = 0; i < TG_ARRAY_SIZE(flags); i++) {
		tg_sampler_read(s, flags[i], &r);
		VALUE("tree.rss_bytes", "", (40000 + 20000 + 8000 + 4000) * KB);
		VALUE("tree.anon_bytes", "", (32000 + 16000 + 6000 + 3600) * KB);
		VALUE("tree.file_bytes", "", (6000 + 2400 + 2000 + 400) * KB);
		VALUE("tree.shmem_bytes", "", (2000 + 1600) * KB);
		VALUE("tree.swap_bytes", "", (512 + 1024) * KB);
		VALUE("tree.hugetlb_bytes", "", (4096 + 2048) * KB);
	}
	/* a tick has only what every tick has: nothing stands in for what was not read */
	tg_sampler_read(s, 0, &r);
	VALUE("tree.anon_bytes", "", (32000 + 16000 + 6000 + 3600) * KB);
	MISSING("tree.file_bytes", "");
	tg_sampler_free(s);
	/* a kernel that does not tell them */
	s = sampler_of("workstation", 500);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.rss_bytes", "", 1200 * KB);
	MISSING("tree.file_bytes", "");
	MISSING("tree.swap_bytes", "");
	MISSING("tree.hugetlb_bytes", "");
	tg_sampler_free(s);
}

/* pitfall 7: a zombie has none of any kind */
static void test_zombie(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	edit(&c, "proc/101/stat", ") R ", ") Z ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.rss_bytes", "", (40000 + 8000 + 4000) * KB);
	VALUE("tree.shmem_bytes", "", 2000 * KB);
	VALUE("tree.swap_bytes", "", 512 * KB);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* A file of that many bytes on a disk, without a name; -1: there is no such place. */
static int file_on_disk(int64_t bytes)
{
	const char *dir = getenv("TG_BUILD_DIR");
	struct statfs fs;
	char page[4096];
	int fd = open(dir ? dir : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	memset(page, 'x', sizeof(page));
	if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC) {
		close(fd);
		return -1; /* its pages are shared memory */
	}
	for (int64_t at = 0; fd >= 0 && at < bytes; at += (int64_t)sizeof(page))
		if (tg_file_write_all(fd, page, sizeof(page)) < 0)
			abort();
	return fd;
}

static int disk_fd;

static void touch(const volatile char *m, int64_t bytes)
{
	for (int64_t at = 0; at < bytes; at += 4096)
		(void)m[at];
}

static char *map(int64_t bytes, int flags, int fd)
{
	char *m = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (m == MAP_FAILED)
		abort();
	return m;
}

/* A little of each kind, one after the other. */
static void map_kinds(void)
{
	char *m;

	touch(map(67 * MB, MAP_SHARED, disk_fd), 67 * MB);
	stop();
	m = map(33 * MB, MAP_SHARED | MAP_ANONYMOUS, -1);
	memset(m, 1, 33 * MB);
	stop();
	m = map(49 * MB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(m, 1, 49 * MB);
	stop();
}

static void expect_growth(const struct tg_reading *r, const int64_t *from, const int *mb)
{
	static const char *const name[] = { "tree.rss_bytes", "tree.anon_bytes", "tree.file_bytes",
		"tree.shmem_bytes" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(name); i++)
		T_NEAR((double)(column(r, name[i], "") - from[i]), mb[i] * (double)MB, 2.0 * MB);
}

/* pitfall 15: a file that is mapped grows what is resident and is no leak; what is anonymous is */
static void test_growth(void)
{
	static const int want[][4] = { { 67, 0, 67, 0 }, { 100, 0, 67, 33 }, { 149, 49, 67, 33 } };
	struct tg_reading r;
	struct tg_sampler *s;
	struct child c;
	int64_t from[4];

	disk_fd = file_on_disk(67 * MB);
	if (disk_fd < 0) {
		T_SKIP("growth by kind", "no file can be made on a disk in the build folder");
		return;
	}
	c = start(map_kinds);
	s = live_sampler(c.pid);
	tg_sampler_read(s, TG_READ_EDGE, &r);
	from[0] = column(&r, "tree.rss_bytes", "");
	from[1] = column(&r, "tree.anon_bytes", "");
	from[2] = column(&r, "tree.file_bytes", "");
	from[3] = column(&r, "tree.shmem_bytes", "");
	for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++) {
		go(&c);
		tg_sampler_read(s, i % 2 ? TG_READ_REFRESH : TG_READ_EDGE, &r);
		expect_growth(&r, from, want[i]);
	}
	close(disk_fd);
	finish(&c);
	tg_sampler_free(s);
}

/* ---- shares ---- */

/* pitfall 14, report 13: what is shared counts once; what is not known is told, and is not 0 */
static void test_shares(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.pss_bytes", "", (22400 + 10400 + 3500 + 1900) * KB);
	VALUE("tree.pss_covers_bytes", "", (40000 + 20000 + 8000 + 4000) * KB);
	VALUE("tree.pss_age_ns", "", 0);
	VALUE("tree.pss_denied", "", 0);
	VALUE("tree.swap_pss_bytes", "", (300 + 600) * KB);
	/* an edge of a cell does not look again, and says how old it is */
	edit(&c, "proc/100/smaps_rollup", "Pss:               22400", "Pss:               22000");
	tg_sampler_read(s, TG_READ_EDGE, &r);
	VALUE("tree.pss_bytes", "", (22400 + 10400 + 3500 + 1900) * KB);
	T_OK(column(&r, "tree.pss_age_ns", "") > 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.pss_bytes", "", (22000 + 10400 + 3500 + 1900) * KB);
	/* the tree has changed since: it does not stand for it any more */
	edit(&c, "proc/100/statm", "40000 10000", "40000 2000");
	tg_sampler_read(s, TG_READ_EDGE, &r);
	MISSING("tree.pss_bytes", "");
	T_OK(column(&r, "tree.pss_age_ns", "") > 0);
	edit(&c, "proc/100/statm", "40000 2000", "40000 10000");
	/* half a file is none; one of twenty parts may be unknown, and no more */
	put_file(&c, "proc/103/smaps_rollup", "Rss:  4000 kB\nPss:  19", 22);
	edit(&c, "proc/103/statm", "4000 1000 100", "4000 500 100");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.pss_bytes", "", (22000 + 10400 + 3500) * KB);
	VALUE("tree.pss_covers_bytes", "", (40000 + 20000 + 8000) * KB);
	run(&c, "rm proc/101/smaps_rollup");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("tree.pss_bytes", "");
	VALUE("tree.pss_covers_bytes", "", (40000 + 8000) * KB);
	VALUE("tree.pss_denied", "", 0);
	/* a kernel that has none */
	run(&c, "rm proc/*/smaps_rollup");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("tree.pss_covers_bytes", "");
	MISSING("tree.pss_denied", "");
	VALUE("tree.file_bytes", "", (6000 + 2400 + 2000 + 400) * KB);
	tg_sampler_free(s);
	s = sampler_at(c.folder, 100);
	T_EQ_S(said(s, "memory"),
		"+without tree.pss_bytes: this kernel has no /proc/PID/smaps_rollup");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* A tree that is captured, read as if it were the machine's: time passes, costs count. */
#define ROOT 50000100

struct fake {
	struct copy copy;
	struct tg_text text, stat;
	struct tg_sampler_hooks hooks;
	struct tg_env env;
	struct tg_sweep sweep;
};

/* Their clocks would be asked of this machine, so numbers that no machine gives out. */
static void renumber(const struct copy *c)
{
	run(c, "for p in 100 101 102 103; do"
	       " sed -i 's/^10/5000010/; s/) \\(.\\) 10\\([0-3]\\) /) \\1 5000010\\2 /' "
	       "proc/$p/stat;"
	       " mv proc/$p/task/$p proc/$p/task/50000$p && mv proc/$p proc/50000$p; done;"
	       " sed -i 's/\\<10/5000010/g' proc/*/task/*/children");
}

static void fake_open(struct fake *f)
{
	struct tg_sampler_options options = { .root = ROOT };

	*f = (struct fake){ .copy = copy_of("container_v2") };
	renumber(&f->copy);
	tg_text_init(&f->text);
	f->env = (struct tg_env){ .root_fd = open(f->copy.folder, O_RDONLY | O_DIRECTORY),
		.live = true,
		.root = ROOT,
		.tick_ns = 10 * TG_NS_PER_MS,
		.page_bytes = 4096,
		.hooks = &f->hooks,
		.text = &f->text,
		.stat = &f->stat,
		.stat_fd = -1 };
	f->env.tree = tg_tree_new(&f->env, &options);
}

static void fake_close(struct fake *f)
{
	tg_tree_free(f->env.tree);
	tg_text_release(&f->text);
	close(f->env.root_fd);
	copy_remove(&f->copy);
}

static void fake_read(struct fake *f, int64_t t_ns)
{
	f->env.t_ns = t_ns;
	tg_tree_read(f->env.tree, TG_READ_REFRESH);
	tg_sweep_read(&f->sweep, &f->env);
}

static const struct tg_share *share_of(const struct fake *f, pid_t pid)
{
	for (struct tg_process *p = tg_tree_from(f->env.tree, 0); p;
		p = tg_tree_from(f->env.tree, p->entity + 1))
		if (p->pid == pid)
			return &p->share;
	abort();
}

/* pitfall 18: a thousandth of the time and no more; who would take too long is left out */
static void test_budget(void)
{
	struct tg_process p = { .rss_bytes = 1000 * MB };
	struct fake f;
	int64_t due_ns;

	/* 16 us a MB until it is known better: with huge pages it is much less */
	T_EQ_I(tg_share_expected_ns(&p), 16 * TG_NS_PER_MS);
	p.share = (struct tg_share){ .rss_bytes = 100 * MB, .cost_ns = 20000 };
	T_EQ_I(tg_share_expected_ns(&p), 200000);

	fake_open(&f);
	fake_read(&f, 5 * TG_NS_PER_S);
	T_OK(!f.sweep.running && f.sweep.t_ns == 5 * TG_NS_PER_S);
	T_EQ_I(f.sweep.pss_bytes, (22400 + 10400 + 3500 + 1900) * KB);
	T_EQ_I(f.sweep.due_ns, 5 * TG_NS_PER_S + TG_MAX(TG_NS_PER_S, f.sweep.spent_ns * 1000));
	f.sweep.due_ns = due_ns = 35 * TG_NS_PER_S; /* as if it had taken 30 ms */
	for (int64_t t_ns = 6 * TG_NS_PER_S; t_ns < due_ns; t_ns += TG_NS_PER_S) {
		fake_read(&f, t_ns);
		T_EQ_I(f.sweep.t_ns, 5 * TG_NS_PER_S);
	}
	fake_read(&f, due_ns);
	T_EQ_I(f.sweep.t_ns, due_ns);
	/* in state D it may wait for long with what we should have to wait for */
	edit(&f.copy, "proc/50000101/stat", ") R ", ") D ");
	fake_read(&f, due_ns + 1000 * TG_NS_PER_S);
	T_OK(share_of(&f, ROOT)->known && !share_of(&f, ROOT + 1)->known);
	fake_close(&f);

	/* 240 GB of small pages would take 4 s, with its mmap_lock held */
	fake_open(&f);
	edit(&f.copy, "proc/50000100/statm", "40000 10000", "70000000 60000000");
	fake_read(&f, TG_NS_PER_S);
	T_OK(!share_of(&f, ROOT)->known && share_of(&f, ROOT + 1)->known);
	T_EQ_I(f.sweep.left_out_bytes, INT64_C(60000000) * 4096);
	T_OK(!tg_sweep_holds(&f.sweep, f.sweep.rss_bytes));
	fake_close(&f);
}

#define WORKERS 8
#define SHARED  (200 * MB)

static void wait_here(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void workers(void)
{
	char *m = map(SHARED, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int ready[2];
	char c;

	memset(m, 1, SHARED);
	stop();
	if (pipe(ready) < 0)
		_exit(98);
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0) {
			touch(m, SHARED);
			if (write(ready[1], "r", 1) == 1)
				wait_here();
			_exit(97);
		}
	for (int i = 0; i < WORKERS; i++)
		if (read(ready[0], &c, 1) != 1)
			_exit(96);
	stop();
}

/* Look until the shares are those of now, half a minute of budget and a slow machine allowed. */
static bool await_shares(struct tg_sampler *s, struct tg_reading *r)
{
	int64_t begin = tg_mono_ns();

	for (int i = 0; i < 1200; i++) {
		int64_t age;

		tg_sampler_read(s, TG_READ_REFRESH, r);
		age = column(r, "tree.pss_age_ns", "");
		if (age != TG_MISSING && r->t_ns - age >= begin)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 100 * TG_NS_PER_MS }, NULL);
	}
	return false;
}

/* pitfall 14, report 13: RSS says 1.8 GB of eight workers that share 200 MB */
static void test_workers(void)
{
	struct child c = start(workers);
	struct tg_sampler *s;
	struct tg_reading r;

	go(&c);
	go(&c);
	s = live_sampler(c.pid);
	T_OK(await_shares(s, &r));
	T_EQ_I(column(&r, "tree.processes", ""), 1 + WORKERS);
	T_OK(column(&r, "tree.rss_bytes", "") >= (1 + WORKERS) * SHARED);
	T_OK(column(&r, "tree.pss_bytes", "") >= 190 * MB);
	T_OK(column(&r, "tree.pss_bytes", "") <= 330 * MB);
	T_OK(column(&r, "tree.pss_covers_bytes", "") >= (1 + WORKERS) * SHARED);
	finish(&c);
	tg_sampler_free(s);
}

static void hold_and_exec(void)
{
	char *m = map(64 * MB, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(m, 1, 64 * MB);
	stop();
	execlp("sleep", "sleep", "600", (char *)NULL);
}

/* pitfall 11: after exec it is the memory of another program, under the same pid */
static void test_exec(void)
{
	struct child c = start(hold_and_exec);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;

	go(&c);
	T_OK(await_shares(s, &r));
	T_OK(column(&r, "tree.pss_bytes", "") > 60 * MB);
	if (write(c.go, "g", 1) != 1)
		abort();
	do
		T_OK(await_shares(s, &r));
	while (column(&r, "tree.rss_bytes", "") > 60 * MB);
	T_OK(await_shares(s, &r));
	T_OK(column(&r, "tree.pss_bytes", "") > 0 && column(&r, "tree.pss_bytes", "") < 20 * MB);
	finish(&c);
	tg_sampler_free(s);
}

static void just_stop(void)
{
	stop();
}

/* pitfall 12: as nobody over root's process: kinds are to be had, shares are denied, not 0 */
static void test_denied(void)
{
	struct child c;
	int status = 1;
	pid_t pid;

	if (geteuid() != 0) {
		T_SKIP("denied shares", "needs root, to become nobody");
		return;
	}
	c = start(just_stop);
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
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		_exit(!(column(&r, "tree.file_bytes", "") > 0 &&
			column(&r, "tree.pss_bytes", "") == TG_MISSING &&
			column(&r, "tree.pss_covers_bytes", "") == 0 &&
			column(&r, "tree.pss_denied", "") == 1));
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		T_SKIP("denied shares", "/proc is mounted with hidepid");
	else
		T_EQ_I(status, 0);
	finish(&c);
}

#define TOUCHERS 64

static char *touched;
static pthread_barrier_t all_touched;

static void *touch_part(void *arg)
{
	memset(touched + (uintptr_t)arg * 4 * MB, 1, 4 * MB);
	pthread_barrier_wait(&all_touched);
	while (pause() < 0)
		continue;
	return NULL;
}

static void many_touch(void)
{
	pthread_t t;

	touched = map(TOUCHERS * 4 * MB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	pthread_barrier_init(&all_touched, NULL, TOUCHERS + 1);
	for (uintptr_t i = 0; i < TOUCHERS; i++)
		pthread_create(&t, NULL, touch_part, (void *)i);
	pthread_barrier_wait(&all_touched);
	stop();
}

/*
 * pitfall 17: the kernel counts RSS in portions on each core, or thread, and the sum lags by them;
 * beside it is the count by page
 */
static void test_portions(void)
{
	struct child c = start(many_touch);
	struct tg_sampler *s = live_sampler(c.pid);
	int64_t cores = sysconf(_SC_NPROCESSORS_CONF);
	int64_t portions = (cores * TG_MAX(32, 2 * cores) + (TOUCHERS + 1) * 64) * 4096;
	struct tg_reading r;

	go(&c);
	T_OK(await_shares(s, &r));
	T_OK(column(&r, "tree.pss_covers_bytes", "") >= TOUCHERS * 4 * MB);
	T_NEAR((double)column(&r, "tree.rss_bytes", ""),
		(double)column(&r, "tree.pss_covers_bytes", ""), (double)(3 * portions));
	finish(&c);
	tg_sampler_free(s);
}

/* ---- I/O through memory ---- */

#define FILE_BYTES (16 * MB)

/* Take the file out of the cache, as far as it goes. */
static void forget_file(void)
{
	fsync(disk_fd);
	posix_fadvise(disk_fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void read_all(int fd)
{
	char *block = NULL;

	if (posix_memalign((void **)&block, 4096, (size_t)MB) != 0)
		_exit(95);
	for (int64_t at = 0; at < FILE_BYTES; at += MB)
		if (pread(fd, block, (size_t)MB, at) != MB)
			_exit(94);
	free(block);
}

static void read_three_ways(void)
{
	char path[64];
	int direct;

	read_all(disk_fd);
	stop();
	forget_file();
	touch(map(FILE_BYTES, MAP_SHARED, disk_fd), FILE_BYTES);
	stop();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", disk_fd);
	direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (direct >= 0)
		read_all(direct);
	stop();
}

/* What the kernel itself says of it, without us between. */
static int64_t storage_of(pid_t pid)
{
	struct tg_buf text = TG_BUF_INIT;
	char path[32], *at = NULL;
	int64_t bytes = -1;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	if (tg_file_read(AT_FDCWD, path, 4096, &text, NULL) == 0)
		at = strstr(text.data, "\nread_bytes: ");
	if (at)
		bytes = strtoll(at + strlen("\nread_bytes: "), NULL, 10);
	tg_buf_release(&text);
	return bytes;
}

/* pitfall 22: what a mapping reads is storage and no read call; O_DIRECT is both */
static void test_mapped_io(void)
{
	static const bool by_call[] = { true, false, true };
	struct tg_reading r;
	struct tg_sampler *s;
	struct child c;

	disk_fd = file_on_disk(FILE_BYTES);
	if (disk_fd < 0) {
		T_SKIP("mapped I/O", "no file can be made on a disk in the build folder");
		return;
	}
	forget_file();
	c = start(read_three_ways);
	s = live_sampler(c.pid);
	for (size_t i = 0; i < TG_ARRAY_SIZE(by_call); i++) {
		int64_t storage, calls, counted = storage_of(c.pid);

		tg_sampler_read(s, TG_READ_REFRESH, &r);
		storage = column(&r, "tree.read_bytes", "");
		calls = column(&r, "tree.rchar_bytes", "");
		go(&c);
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		storage = column(&r, "tree.read_bytes", "") - storage;
		calls = column(&r, "tree.rchar_bytes", "") - calls;
		if (storage_of(c.pid) == counted) {
			T_SKIP("mapped I/O", "the kernel does not count storage of this file");
			break;
		}
		T_OK(storage >= FILE_BYTES / 2); /* some of it may have stayed in the cache */
		T_OK(by_call[i] ? calls >= FILE_BYTES : calls < MB);
	}
	close(disk_fd);
	finish(&c);
	tg_sampler_free(s);
}

/* ---- a leading thread that has ended ---- */

static void *sit(void *arg)
{
	char *m = map(20 * MB, MAP_SHARED | MAP_ANONYMOUS, -1);

	(void)arg;
	memset(m, 1, 20 * MB);
	stop();
	while (pause() < 0)
		continue;
	return NULL;
}

static void leader_ends(void)
{
	pthread_t t;

	pthread_create(&t, NULL, sit, NULL);
	pthread_exit(NULL);
}

static bool is_zombie(pid_t pid)
{
	struct tg_buf b = TG_BUF_INIT;
	char path[64];
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	is = tg_file_read(AT_FDCWD, path, 4096, &b, NULL) == 0 && strstr(b.data, ") Z ");
	tg_buf_release(&b);
	return is;
}

/* pitfall 6: when the leading thread has ended, kinds are to be seen through one that lives */
static void test_leader_ends(void)
{
	struct child c = start(leader_ends);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;

	go(&c);
	for (int i = 0; i < 1000 && !is_zombie(c.pid); i++)
		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_MS }, NULL);
	T_OK(is_zombie(c.pid));
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_OK(column(&r, "tree.shmem_bytes", "") >= 20 * MB);
	T_OK(column(&r, "tree.pss_bytes", "") >= 20 * MB);
	finish(&c);
	tg_sampler_free(s);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_kinds();
	test_zombie();
	test_growth();
	test_shares();
	test_budget();
	test_workers();
	test_exec();
	test_denied();
	test_portions();
	test_mapped_io();
	test_leader_ends();
	return t_done();
}
