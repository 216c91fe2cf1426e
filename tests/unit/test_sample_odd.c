/* SPDX-License-Identifier: BSD-3-Clause */
/* Captured trees with what no file should hold. */
#include "tap.h"

#include "sample_tree.h"

#include "base/mem.h"

/* Whether a value below 0 is in the reading. */
static bool has_negative(const struct tg_reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->value[i] < 0 && r->value[i] != TG_MISSING)
			return true;
	return false;
}

/* A node of 256 cores has used 2^63 ns after 14 months: the counter begins anew, as others do. */
static void test_many_core_years(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	edit(&c, "proc/stat", "cpu  10132153 290696 ", "cpu  922337203685 0 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("node.cpu_user_ns", "", INT64_C(9223372036850000000));
	T_OK(column(&r, "node.cpu_busy_ns", "") >= 0);
	edit(&c, "proc/stat", "cpu  922337203685 ", "cpu  922337203686 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("node.cpu_user_ns", "", 10000000 - (INT64_MAX - INT64_C(9223372036850000000)) - 1);
	tg_sampler_free(s);
	copy_remove(&c);
}

static void test_numbers(const char *path, const char *from, const char *to, const char *name)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	edit(&c, path, from, to);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING(name, "");
	T_OK(!has_negative(&r));
	tg_sampler_free(s);
	copy_remove(&c);
}

/* Numbers of processes that have begun anew, and are above those of the last search again. */
static void test_pids_begin_anew(void)
{
	static const char environ[] = "A=B\0MARK=1", loadavg[] = "proc/loadavg";
	struct copy c = copy_of("container_v2");
	struct tg_sampler_options options = { .root = 100, .mark = "MARK=1" };
	struct tg_sampler *s;
	struct tg_reading r;

	options.root_fd = open(c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	edit(&c, loadavg, " 103\n", " 110\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r); /* searches */
	VALUE("tree.processes", "", 4);
	edit(&c, loadavg, " 110\n", " 30\n");
	tg_sampler_read(s, 0, &r);
	run(&c, "cp -r proc/103 proc/90 && mv proc/90/task/103 proc/90/task/90");
	edit(&c, "proc/90/stat", "103 (", "90 (");
	edit(&c, "proc/90/stat", ") S 101 ", ") S 1 ");
	put_file(&c, "proc/90/environ", environ, sizeof(environ));
	edit(&c, loadavg, " 30\n", " 120\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.processes", "", 5);
	tg_sampler_free(s);
	copy_remove(&c);
}

int main(void)
{
	test_pids_begin_anew();
	test_many_core_years();
	test_numbers("sys/fs/cgroup/cpu.stat", "throttled_usec 1904321", "throttled_usec -1",
		"cgroup.throttled_ns");
	test_numbers("proc/100/io", "read_bytes: 1048576", "read_bytes: 9223372036854775807",
		"root.read_bytes");
	test_numbers("proc/100/io", "read_bytes: 1048576", "read_bytes: -1", "root.read_bytes");
	test_numbers(
		"proc/stat", "cpu  10132153 ", "cpu  9223372036854775807 ", "node.cpu_busy_ns");
	return t_done();
}
