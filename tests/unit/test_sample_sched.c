/* SPDX-License-Identifier: BSD-3-Clause */
/* Page faults of a tree, whoever of it has come and gone; how its root is scheduled. */
#include "tap.h"

#include "sample_tree.h"

#include "base/mem.h"

static void test_captured(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	T_EQ_S(said(s, "sched"), "+");
	tg_sampler_read(s, TG_READ_EDGE, &r);
	/* own and waited-for, of four processes */
	VALUE("tree.minor_faults", "", 4 * (1503 + 20441));
	VALUE("tree.major_faults", "", 4 * 3);
	VALUE("root.voluntary_switches", "", 812);
	VALUE("root.involuntary_switches", "", 39);
	VALUE("root.runqueue_ns", "", 123456789);
	/* a kernel that does not count says 0 of all */
	put_file(&c, "proc/100/schedstat", "0 0 0\n", 6);
	tg_sampler_read(s, 0, &r);
	MISSING("root.runqueue_ns", "");
	VALUE("root.voluntary_switches", "", 812);
	/* another root, which has no such files */
	tg_sampler_set_root(s, 101);
	tg_sampler_read(s, 0, &r);
	VALUE("tree.major_faults", "", 2 * 3);
	MISSING("root.voluntary_switches", "");
	MISSING("root.runqueue_ns", "");
	tg_sampler_free(s);
	s = sampler_at(c.folder, 101);
	T_EQ_S(said(s, "sched"),
		"+without root.runqueue_ns: this kernel has no /proc/PID/schedstat");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* One that was waited for is in its parent's figures, at once or a reading later; else it is kept.
 */
static void test_ends(bool waited, bool shown_at_once)
{
	const int64_t before = 4 * (1503 + 20441);
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	edit(&c, "proc/103/stat", " 10 0 0 0 ", " 200 100 0 0 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.minor_faults", "", before);
	if (waited && !shown_at_once) {
		edit(&c, "proc/103/stat", ") S 101 ", ") X 0 ");
		edit(&c, "proc/103/stat", " 20 0 4 0 ", " 20 0 1 0 ");
		tg_sampler_read(s, 0, &r);
		VALUE("tree.minor_faults", "", before);
	}
	run(&c, "rm -r proc/103");
	if (waited) {
		edit(&c, "proc/101/stat", " 1503 20441 0 3 1000 0 0 0 ",
			" 1503 42385 0 6 1000 0 200 100 ");
		edit(&c, "proc/101/io", "rchar: 1000", "rchar: 9000000");
	}
	for (int i = 0; i < 2; i++) {
		tg_sampler_read(s, 0, &r);
		VALUE("tree.minor_faults", "", before);
		VALUE("tree.major_faults", "", 4 * 3);
	}
	tg_sampler_free(s);
	copy_remove(&c);
}

#define TOUCHED (8 << 20)

static void touch(void)
{
	char *p = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	madvise(p, TOUCHED, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < TOUCHED; i += 4096)
		p[i] = 1;
	munmap(p, TOUCHED);
}

static void touch_and_wait(void)
{
	pid_t pid;

	stop();
	touch();
	stop();
	pid = fork();
	if (pid == 0) {
		touch();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	stop();
}

static void test_live(void)
{
	struct child c = start(touch_and_wait);
	struct tg_sampler *s = live_sampler(c.pid);
	const int64_t pages = TOUCHED / sysconf(_SC_PAGESIZE);
	int64_t faults[3], switches;
	struct tg_reading r;

	go(&c);
	for (int i = 0; i < 3; i++) {
		tg_sampler_read(s, TG_READ_EDGE, &r);
		faults[i] = column(&r, "tree.minor_faults", "");
		if (i == 0)
			switches = column(&r, "root.voluntary_switches", "");
		if (i < 2)
			go(&c);
	}
	T_OK(faults[0] > 0);
	T_OK(faults[1] - faults[0] >= pages);
	T_OK(faults[2] - faults[1] >= pages); /* those of a child that nobody saw */
	T_OK(faults[2] - faults[1] < 2 * pages);
	T_OK(column(&r, "tree.major_faults", "") >= 0);
	T_OK(switches > 0 && column(&r, "root.voluntary_switches", "") > switches);
	tg_sampler_free(s);
	finish(&c);
}

int main(void)
{
	test_captured();
	test_ends(false, false);
	test_ends(true, true);
	test_ends(true, false);
	test_live();
	test_truncated("container_v2", 100, "proc/100/schedstat");
	test_truncated("container_v2", 100, "proc/100/status");
	return t_done();
}
