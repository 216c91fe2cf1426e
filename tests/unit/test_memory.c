/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of what kind memory is, what is shared, and what it costs to know: on captured trees, and on the
 * running machine over processes that have known amounts of it. Numbers in comments are those of
 * the list of pitfalls, and reports of wrong numbers, that sampling tools have been found in.
 */
#include "tap.h"

#include <linux/magic.h>
#include <pthread.h>
#include <sys/vfs.h>

#include "sample_tree.h"

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
	finish(&c);
	tg_sampler_free(s);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_kinds();
	test_zombie();
	test_growth();
	test_leader_ends();
	return t_done();
}
