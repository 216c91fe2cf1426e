/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The script that captures trees such as those in tests/fixtures: what the sampler says of a
 * capture is what it says of the machine, and no name of the machine is in it.
 */
#include "tap.h"

#include "sample_tree.h"

#include "base/mem.h"

static struct copy capture(pid_t pid, const char *machine)
{
	struct copy to = { "/tmp/tg-fixture-XXXXXX" };
	char command[1400];

	T_OK(mkdtemp(to.folder) != NULL);
	snprintf(command, sizeof(command), "sh '%s/capture_fixture.sh' %d '%s' %s >/dev/null",
		t_dir(), pid, to.folder, machine);
	T_EQ_I(system(command), 0);
	return to;
}

static void just_stop(void)
{
	stop();
}

/* On this machine */
static void test_live(void)
{
	struct child c = start(just_stop);
	struct copy to = capture(c.pid, "");
	struct tg_sampler *s = sampler_at(to.folder, c.pid), *live = live_sampler(c.pid);
	struct tg_reading r, now;
	char command[128];

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	tg_sampler_read(live, TG_READ_REFRESH, &now);
	VALUE("tree.processes", "", 1);
	VALUE("tree.vms_bytes", "", column(&now, "tree.vms_bytes", ""));
	VALUE("node.cores", "", column(&now, "node.cores", ""));
	VALUE("node.mem_total_bytes", "", column(&now, "node.mem_total_bytes", ""));
	VALUE("root.write_ops", "", column(&now, "root.write_ops", ""));
	VALUE("cgroup.memory_limit_bytes", "", column(&now, "cgroup.memory_limit_bytes", ""));
	T_EQ_I(has_column(&r, "cgroup.memory_bytes", ""),
		has_column(&now, "cgroup.memory_bytes", ""));
	T_EQ_I(column(&r, "cgroup.memory_bytes", "") == TG_MISSING,
		column(&now, "cgroup.memory_bytes", "") == TG_MISSING);
	T_EQ_I(count(&r, "net."), count(&now, "net."));
	T_EQ_I(count(&r, "disk."), count(&now, "disk."));
	snprintf(command, sizeof(command), "grep -rq test_capture '%s'", to.folder);
	T_OK(system(command) != 0);
	tg_sampler_free(s);
	tg_sampler_free(live);
	finish(&c);
	copy_remove(&to);
}

/* What an instance is called in a capture */
static const char *renamed(const char *instance, char *name, size_t size)
{
	static const struct {
		const char *from, *to;
	} names[] = {
		{ "/home", "/m1" },
		{ "/home/zanzibar", "/m1" },
		{ "/scratch", "/m3" },
		{ "/mnt/fast disk", "/m4" },
		{ "/home-ro", "/m5" },
		{ "scratch", "l1" },
		{ "work-1", "l2" },
		{ "zanzibar-1", "l2" },
		{ "enx00zanzibar", "if-1" },
		{ "wg-zanzibar", "if-2" },
		{ "vethzanzibar", "veth-1" },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i].from);

		if (strncmp(instance, names[i].from, n) != 0 || (instance[n] && instance[n] != ' '))
			continue;
		snprintf(name, size, "%s%s", names[i].to, instance + n);
		return name;
	}
	return instance;
}

static int differences(const struct tg_reading *a, const struct tg_reading *b)
{
	int n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const char *metric = a->column[i].metric->name;
		char room[TG_INSTANCE_MAX + 8];
		const char *instance = renamed(a->column[i].instance, room, sizeof(room));
		int64_t v = column(b, metric, instance);

		/* of this process, and of this moment */
		if (has_column(b, metric, instance) &&
			(v == a->value[i] || !strncmp(metric, "self.", 5) ||
				!strcmp(metric, "tree.pss_age_ns")))
			continue;
		fprintf(stderr, "# %s %s: %" PRId64 ", captured %" PRId64 "\n", metric,
			a->column[i].instance, a->value[i], v);
		n++;
	}
	return n;
}

/* All that the sampler says of a tree, it says of the capture. */
static void check_same(const char *machine, const struct copy *to, pid_t root)
{
	struct tg_sampler *a = sampler_at(machine, root), *b = sampler_at(to->folder, root);
	struct tg_source_info from_a[32], from_b[32];
	struct tg_limits limits_a, limits_b;
	struct tg_reading before, after;
	size_t n;

	for (int i = 0; i < 2; i++) {
		tg_sampler_read(a, TG_READ_REFRESH, &before);
		tg_sampler_read(b, TG_READ_REFRESH, &after);
		T_OK(before.n > 20);
		T_EQ_I(after.n, before.n);
		T_EQ_I(differences(&before, &after), 0);
	}
	n = tg_sampler_sources(a, from_a, TG_ARRAY_SIZE(from_a));
	T_EQ_I(tg_sampler_sources(b, from_b, TG_ARRAY_SIZE(from_b)), n);
	for (size_t i = 0; i < n; i++) {
		T_EQ_I(from_b[i].available, from_a[i].available);
		T_EQ_S(from_b[i].why, from_a[i].why);
	}
	tg_sampler_limits(a, &limits_a);
	tg_sampler_limits(b, &limits_b);
	T_EQ_I(limits_b.cores_milli, limits_a.cores_milli);
	T_EQ_I(limits_b.memory_bytes, limits_a.memory_bytes);
	T_EQ_S(limits_b.cores_why, limits_a.cores_why);
	T_EQ_S(limits_b.memory_why, limits_a.memory_why);
	T_EQ_S(limits_b.cpus, limits_a.cpus);
	tg_sampler_free(a);
	tg_sampler_free(b);
}

static void test_same(const char *machine, pid_t root)
{
	char folder[512];
	struct copy to;

	snprintf(folder, sizeof(folder), "%s/fixtures/%s", t_dir(), machine);
	to = capture(root, folder);
	check_same(folder, &to, root);
	copy_remove(&to);
}

static struct copy planted(void)
{
	struct copy c = { "/tmp/tg-fixture-XXXXXX" };
	char command[1400];

	T_OK(mkdtemp(c.folder) != NULL);
	snprintf(command, sizeof(command), "sh '%s/plant_names.sh' '%s/fixtures' '%s'", t_dir(),
		t_dir(), c.folder);
	T_EQ_I(system(command), 0);
	return c;
}

static void keep_disk(void *ctx, int64_t t_ns, const char *name, const char *mounts)
{
	(void)t_ns;
	tg_buf_addf(ctx, "%s has", name);
	for (; *mounts; mounts += strlen(mounts) + 1)
		tg_buf_addf(ctx, " %s", mounts);
	tg_buf_adds(ctx, "\n");
}

/* How often "zanzibar" is in files, in what they are called, and in where links lead: at least */
static bool has_names(const struct copy *c, int at_least)
{
	char command[256];

	snprintf(command, sizeof(command),
		"cd '%s' && test $({ grep -raio zanzibar .; ls -lRa . | grep -o zanzibar; } | wc "
		"-l) "
		"-ge %d",
		c->folder, at_least);
	return system(command) == 0;
}

/* In each place where a machine or who uses it can be named is a name; the capture has none. */
static void test_names(void)
{
	struct copy c = planted(), to = capture(600, c.folder);
	struct tg_buf disks = TG_BUF_INIT;
	struct tg_sampler_options options = { .root = 600,
		.hooks = { .disk = keep_disk, .ctx = &disks } };
	struct tg_sampler *s = NULL;
	struct tg_reading r;

	T_OK(has_names(&c, 100));
	T_OK(!has_names(&to, 1));
	check_same(c.folder, &to, 600);
	options.root_fd = open(to.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	/* the planted tree is one that has all these */
	VALUE("tree.processes", "", 3);
	VALUE("tree.rss_bytes", "", 3 * 300 * 4096);
	MISSING("tree.cpu_unattributed_ns", "");
	VALUE("drm.engine_ns", "0000:03:00.0 gfx", 5);
	VALUE("net.rx_bytes", "enp3s0f0np1", 8);
	VALUE("net.rx_bytes", "veth-1", 8);
	VALUE("cgroup.memory_bytes", "", 77);
	VALUE("cgroup.cpu_ns", "", 99 * TG_NS_PER_S);
	T_EQ_S(disks.data, "sda has / /m6\n");
	tg_sampler_free(s);
	tg_buf_release(&disks);
	copy_remove(&c);
	copy_remove(&to);
}

/* Files that are asked only for what happens later are taken as they are. */
static void check_file(const struct copy *from, const struct copy *to, const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "cmp '%s/%s' '%s/%s'", from->folder, path, to->folder,
		path);
	T_EQ_I(system(command), 0);
}

/* A group that is the tree's alone counts for it; one with groups below it might not be. */
static void test_group(void)
{
	static const char *const later[] = { "proc/vmstat", "proc/loadavg",
		"proc/sys/kernel/perf_event_paranoid", "sys/fs/cgroup/memory.events.local",
		"sys/class/powercap/intel-rapl:0/max_energy_range_uj" };
	struct copy c = copy_of("container_v2"), to;

	run(&c, "printf '%s\n' 100 101 102 103 >sys/fs/cgroup/cgroup.procs && "
		"mkdir -p proc/sys/kernel sys/class/powercap/intel-rapl:0 && "
		"for file in proc/vmstat proc/sys/kernel/perf_event_paranoid "
		"sys/fs/cgroup/memory.events.local "
		"sys/class/powercap/intel-rapl:0/max_energy_range_uj; do echo 3 >$file; done");
	to = capture(100, c.folder);
	check_same(c.folder, &to, 100);
	for (size_t i = 0; i < TG_ARRAY_SIZE(later); i++)
		check_file(&c, &to, later[i]);
	copy_remove(&to);
	run(&c, "mkdir sys/fs/cgroup/inner");
	to = capture(100, c.folder);
	check_same(c.folder, &to, 100);
	copy_remove(&to);
	copy_remove(&c);
}

int main(void)
{
	test_live();
	test_same("cluster", 600);
	test_same("amd", 700);
	test_same("workstation", 500);
	test_same("container_v2", 100);
	test_same("batch_v1", 200);
	test_same("hybrid", 300);
	test_same("nested_v2", 400);
	test_same("bare", 60);
	test_group();
	test_names();
	return t_done();
}
