/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampler on captured trees in tests/fixtures, whose right values are known. Numbers in
 * comments are those of the list of pitfalls that sampling tools have been found in.
 */
#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "sample_tree.h"

#include "base/mem.h"

/* pitfall 21, reports 20 and 21: storage, calls and what was cancelled are told apart */
static void test_container(void)
{
	struct tg_sampler *s = sampler_of("container_v2", 100);
	struct tg_limits limits;
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	/* own and waited-for, in ticks of 10 ms: 550 + 1000 + 100 + 10 */
	VALUE("tree.cpu_ns", "", INT64_C(16600000000));
	VALUE("tree.processes", "", 4);
	VALUE("tree.threads", "", 8);
	VALUE("tree.rss_bytes", "", 18000 * 4096);
	VALUE("tree.vms_bytes", "", 4 * 18000 * 4096);
	VALUE("tree.anon_bytes", "", (18000 - 3600) * 4096);
	/* 21: storage and system calls are different things */
	VALUE("tree.read_bytes", "", 1048576 + 2 * 4096);
	VALUE("tree.write_bytes", "", 323932160 + 2 * 8192);
	VALUE("tree.cancelled_write_bytes", "", 7000 + 500); /* and not taken off those written */
	VALUE("tree.rchar_bytes", "", 323934931 + 2 * 1000);
	VALUE("tree.write_ops", "", 632675 + 2 * 20);
	/* 12: a process whose I/O we may not read is counted, and not as 0 of its own */
	VALUE("tree.denied", "", 1);
	VALUE("root.read_bytes", "", 1048576);
	VALUE("root.write_bytes", "", 323932160);
	VALUE("root.read_ops", "", 632687);
	VALUE("root.write_ops", "", 632675);
	VALUE("cgroup.cpu_ns", "", INT64_C(73211000000));
	VALUE("cgroup.throttled_ns", "", INT64_C(1904321000));
	VALUE("cgroup.memory_bytes", "", 1610612736);
	VALUE("cgroup.memory_working_bytes", "", 1610612736 - 536870912);
	VALUE("cgroup.memory_limit_bytes", "", INT64_C(2147483648));
	VALUE("cgroup.oom_kills", "", 2);
	VALUE("disk.read_bytes", "nvme0n1", INT64_C(3230962) * 512);
	VALUE("disk.write_bytes", "nvme0n1", INT64_C(2322280) * 512);
	VALUE("disk.read_ops", "nvme0n1", 52483);
	VALUE("disk.write_ops", "nvme0n1", 17667);
	VALUE("disk.busy_ns", "nvme0n1", INT64_C(10188000000));
	VALUE("net.rx_bytes", "eth0", 200513349);
	VALUE("net.tx_packets", "eth0", 3346);
	T_OK(!has_column(&r, "net.rx_bytes", "lo"));
	VALUE("psi.cpu_some_ns", "", INT64_C(10923781000));
	VALUE("psi.memory_full_ns", "", 1900000);
	VALUE("psi.io_some_ns", "", 555000000);
	tg_sampler_limits(s, &limits);
	T_EQ_I(limits.cores_milli, 1500);
	T_EQ_S(limits.cores_why, "cgroup quota");
	T_EQ_I(limits.memory_bytes, INT64_C(2147483648));
	T_EQ_S(limits.memory_why, "cgroup limit");
	tg_sampler_free(s);
}

/* pitfall 5, report 31: guest time is inside user time already */
static void test_node(void)
{
	struct tg_sampler *s = sampler_of("container_v2", 100);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("node.cpu_user_ns", "", (INT64_C(10132153) + 290696) * 10000000);
	VALUE("node.cpu_system_ns", "", (INT64_C(3084719) + 5195 + 25195) * 10000000);
	VALUE("node.cpu_iowait_ns", "", INT64_C(166830000000));
	VALUE("node.cpu_steal_ns", "", 170000000);
	VALUE("node.cpu_busy_ns", "",
		(INT64_C(10132153) + 290696 + 3084719 + 5195 + 25195 + 17) * 10000000);
	VALUE("core.busy_ns", "cpu1", (INT64_C(1335498) + 38966 + 575001 + 2800 + 4) * 10000000);
	VALUE("node.cores", "", 4);
	VALUE("node.procs_running", "", 3);
	VALUE("node.mem_total_bytes", "", INT64_C(16384000) * 1024);
	VALUE("node.mem_used_bytes", "", INT64_C(6144000) * 1024);
	VALUE("node.mem_used_nocache_bytes", "",
		(INT64_C(16384000) - 4096000 - 102400 - 6144000 - 409600) * 1024);
	VALUE("node.swap_used_bytes", "", 512000 * 1024);
	/* 15: cache is what can go; shared memory and tmpfs, which Cached has in it, cannot */
	VALUE("node.mem_cache_bytes", "", (INT64_C(102400) + 6144000 - 204800) * 1024);
	VALUE("node.mem_shmem_bytes", "", 204800 * 1024);
	/* an edge of a cell reads what belongs to the job and its devices, no more */
	tg_sampler_read(s, TG_READ_EDGE, &r);
	MISSING("node.cpu_busy_ns", "");
	MISSING("core.busy_ns", "cpu1");
	MISSING("cgroup.memory_working_bytes", "");
	VALUE("cgroup.memory_bytes", "", 1610612736);
	VALUE("disk.read_ops", "nvme0n1", 52483);
	VALUE("net.rx_bytes", "eth0", 200513349);
	VALUE("tree.processes", "", 4);
	tg_sampler_free(s);
}

/* pitfall 19: limits are the least over the groups above, each controller by itself */
static void test_limits(void)
{
	static const struct {
		const char *machine;
		pid_t root;
		int64_t cores_milli, memory_bytes;
		const char *cores_why, *memory_why, *cpus;
	} want[] = {
		{ "batch_v1", 200, 2000, INT64_C(8589934592), "affinity", "cgroup limit", "0,2" },
		{ "hybrid", 300, 4000, 1073741824, "machine", "cgroup limit", "0-3" },
		{ "nested_v2", 400, 500, INT64_C(4294967296), "cgroup quota", "cgroup limit",
			"0-3" },
		{ "workstation", 500, 4000, INT64_C(16777216000), "machine", "machine", "0-3" },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++) {
		struct tg_sampler *s = sampler_of(want[i].machine, want[i].root);
		struct tg_limits limits;

		tg_sampler_limits(s, &limits);
		T_EQ_I(limits.cores_milli, want[i].cores_milli);
		T_EQ_S(limits.cores_why, want[i].cores_why);
		T_EQ_I(limits.memory_bytes, want[i].memory_bytes);
		T_EQ_S(limits.memory_why, want[i].memory_why);
		T_EQ_S(limits.cpus, want[i].cpus);
		tg_sampler_free(s);
	}
}

static void test_cgroup_v1(void)
{
	struct tg_sampler *s = sampler_of("batch_v1", 200);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("cgroup.cpu_ns", "", INT64_C(6123456789));
	VALUE("cgroup.throttled_ns", "", 1250000000); /* of job_7, whose quota it is */
	VALUE("cgroup.memory_bytes", "", INT64_C(4294967296));
	VALUE("cgroup.memory_working_bytes", "", INT64_C(4294967296) - 1073741824);
	VALUE("cgroup.memory_limit_bytes", "", INT64_C(8589934592));
	VALUE("cgroup.oom_kills", "", 1);
	tg_sampler_free(s);
	s = sampler_of("hybrid", 300);
	tg_sampler_read(s, 0, &r);
	MISSING("cgroup.cpu_ns", ""); /* the whole machine's, not the job's */
	VALUE("cgroup.memory_bytes", "", 104857600);
	VALUE("cgroup.memory_limit_bytes", "", 1073741824);
	tg_sampler_free(s);
}

/* The job is moved to another group while it runs; its limit is changed. */
static void test_cgroup_moves(void)
{
	struct copy c = copy_of("batch_v1");
	struct tg_sampler *s = sampler_at(c.folder, 200);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("cgroup.memory_limit_bytes", "", INT64_C(8589934592));
	put_file(&c, "sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "5000000\n", 8);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.memory_limit_bytes", "", 5000000);
	edit(&c, "proc/200/cgroup", "memory:/slurm/job_7/step_0", "memory:/slurm");
	put_file(&c, "sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "77\n", 3);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.memory_bytes", "", 77);
	MISSING("cgroup.memory_limit_bytes", "");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfalls 23 and 27, report 19: what passes several layers counts once */
static void test_devices(void)
{
	struct tg_sampler *s = sampler_of("workstation", 500);
	struct tg_reading r;
	char names[512];

	tg_sampler_read(s, 0, &r);
	T_EQ_I(sum(&r, "disk.read_ops", names, sizeof(names)), 1000 + 300 + 70 + 30 + 40 + 41 + 5);
	T_EQ_S(names, "nvme0n1 nvme1n1 nvme2n1 sda sdb cciss/c0d0 ");
	/* fields grew from 11 to 15 to 17: the first ones are the same */
	VALUE("disk.write_bytes", "sda", 30 * 16 * 512);
	VALUE("disk.write_bytes", "nvme0n1", 500 * 16 * 512);
	/* a disk of several paths, of which an older kernel counts only those */
	VALUE("disk.read_bytes", "nvme2n1", (560 + 240) * 512);
	VALUE("disk.busy_ns", "nvme2n1", 900 * TG_NS_PER_MS);
	T_EQ_I(sum(&r, "net.rx_bytes", names, sizeof(names)), 2000 + 3000 + 4000 + 9000);
	T_EQ_S(names, "eth0 eth1 eth2 wlan0 ");
	tg_sampler_free(s);
}

/* pitfall 23: where a disk of several paths counts for itself, its paths are left out, whatever
 * comes first
 */
static void test_paths(void)
{
	struct copy c = copy_of("workstation");
	struct tg_sampler *s = sampler_at(c.folder, 500);
	struct tg_reading r;

	for (int i = 0; i < 3; i++) {
		tg_sampler_read(s, 0, &r);
		VALUE("disk.read_ops", "nvme1n1", 300);
		VALUE("disk.read_ops", "nvme2n1", i < 1 ? 100 : 101);
		T_OK(!has_column(&r, "disk.read_ops", "nvme2c2n1"));
		if (i == 0)
			edit(&c, "proc/diskstats", "nvme2n1 0 0 0", "nvme2n1 101 0 808");
	}
	tg_sampler_free(s);
	copy_remove(&c);
}

/*
 * pitfall 27: in a container there is no device: its veths are what it has. An inner bridge and its
 * port are not, nor a VLAN or a bond, which stand on those.
 */
static void test_container_in_container(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s;
	struct tg_reading r;
	char names[128];

	edit(&c, "proc/100/net/dev", "    lo:",
		"docker0: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\nveth9: 6 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n"
		"bond0: 8 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\neth1: 8 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
		"eth0.7: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n    lo:");
	run(&c, "cd sys/class/net && mkdir -p docker0/bridge veth9/brport bond0/lower_eth1 "
		"eth1/upper_bond0 eth1/bonding_slave eth0.7/lower_eth0");
	s = sampler_at(c.folder, 100);
	tg_sampler_read(s, 0, &r);
	T_EQ_I(sum(&r, "net.rx_bytes", names, sizeof(names)), 8 + 200513349);
	T_EQ_S(names, "eth1 eth0 ");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 8: cores go and come: a row belongs to its name, not to its place */
static void test_hotplug(void)
{
	struct copy c = copy_of("workstation");
	struct tg_sampler *s = sampler_at(c.folder, 500);
	struct tg_reading r;
	unsigned generation;
	int64_t cpu3;

	tg_sampler_read(s, 0, &r);
	generation = r.generation;
	cpu3 = column(&r, "core.busy_ns", "cpu3");
	T_OK(cpu3 > 0);
	edit(&c, "proc/stat", "cpu1 1335498 38966 575001 11155401 3320 0 2800 4 100 24\n", "");
	tg_sampler_read(s, 0, &r);
	T_EQ_I(r.generation, generation);
	MISSING("core.busy_ns", "cpu1");
	VALUE("core.busy_ns", "cpu3", cpu3);
	VALUE("node.cores", "", 3);
	edit(&c, "proc/stat", "intr ", "cpu7 1 0 0 0 0 0 0 0 0 0\nintr ");
	tg_sampler_read(s, 0, &r);
	T_OK(r.generation != generation);
	VALUE("core.busy_ns", "cpu7", 10000000);
	VALUE("core.busy_ns", "cpu3", cpu3);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 24: a counter that was reset is shown as it is; a device that is gone is missing, not 0
 */
static void test_resets(void)
{
	struct copy c = copy_of("workstation");
	struct tg_sampler *s = sampler_at(c.folder, 500);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("disk.read_ops", "sda", 40);
	edit(&c, "proc/diskstats", "sda 40 9906 320", "sda 3 1 24");
	edit(&c, "proc/diskstats", "nvme1n1 300", "gone");
	tg_sampler_read(s, 0, &r);
	VALUE("disk.read_ops", "sda", 3);
	VALUE("disk.read_bytes", "sda", 24 * 512);
	MISSING("disk.read_ops", "nvme1n1");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfalls 12, 37: what is not to be had is missing, and the source says why */
static void test_bare(void)
{
	struct tg_sampler *s = sampler_of("bare", 60);
	struct tg_source_info info[32];
	struct tg_reading r;
	size_t n = tg_sampler_sources(s, info, TG_ARRAY_SIZE(info));
	int unavailable = 0;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	/* a kernel without children files: found by their parents, whatever their numbers */
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.processes", "", 3);
	VALUE("tree.cpu_ns", "", (10 + 10 + 2) * INT64_C(10000000));
	MISSING("tree.read_bytes", "");
	MISSING("root.read_bytes", "");
	VALUE("tree.denied", "", 3);
	MISSING("node.procs_running", "");
	MISSING("node.mem_used_bytes", "");
	MISSING("node.swap_used_bytes", "");
	T_OK(!has_column(&r, "psi.cpu_some_ns", ""));
	T_OK(!has_column(&r, "cgroup.cpu_ns", ""));
	for (size_t i = 0; i < n; i++) {
		unavailable += !info[i].available;
		T_OK(info[i].available || info[i].why[0]);
		/* there, and a part of it is not */
		T_OK(!info[i].available || !info[i].why[0] || !strcmp(info[i].name, "sched") ||
			!strcmp(info[i].name, "memory"));
	}
	/* cgroup, cgroup_memory, disk, net, nfs, lustre, infiniband, energy, psi, gpu, amdgpu, drm
	 */
	T_EQ_I(unavailable, 12);
	tg_sampler_free(s);
}

/* pitfall 2: no root yet, then one; one that is not there */
static void test_root(void)
{
	struct tg_sampler *s = sampler_of("container_v2", 0);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	MISSING("tree.cpu_ns", "");
	MISSING("root.read_bytes", "");
	MISSING("cgroup.cpu_ns", "");
	VALUE("node.cores", "", 4);
	T_OK(r.t_ns > 0);
	tg_sampler_set_root(s, 100);
	tg_sampler_read(s, 0, &r);
	VALUE("tree.processes", "", 4);
	VALUE("cgroup.oom_kills", "", 2);
	tg_sampler_set_root(s, 101);
	tg_sampler_read(s, 0, &r);
	VALUE("tree.processes", "", 2);
	tg_sampler_set_root(s, 99999);
	tg_sampler_read(s, 0, &r);
	MISSING("tree.cpu_ns", "");
	tg_sampler_free(s);
}

/* pitfall 4, report 4: user time goes on while system time steps back; then their sum does */
static void test_steps_back(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 103);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", 100 * TG_NS_PER_MS);
	edit(&c, "proc/103/stat", "20441 0 3 10 0 0", "20441 0 3 17 8 0");
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", 250 * TG_NS_PER_MS);
	edit(&c, "proc/103/stat", "20441 0 3 17 8 0", "20441 0 3 21 6 0");
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", 270 * TG_NS_PER_MS);
	edit(&c, "proc/103/stat", "20441 0 3 21 6 0", "20441 0 3 21 4 0");
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", 270 * TG_NS_PER_MS);
	tg_sampler_free(s);
	copy_remove(&c);
}

struct late {
	char path[128];
	int64_t first_ns;
	_Atomic bool done;
};

/* Who reads the FIFO waits for us, the first time long. */
static void *let_read(void *arg)
{
	struct late *l = arg;

	nanosleep(&(struct timespec){ .tv_nsec = 50 * TG_NS_PER_MS }, NULL);
	l->first_ns = tg_mono_ns();
	while (!atomic_load(&l->done)) {
		int fd = open(l->path, O_WRONLY | O_CLOEXEC);

		if (fd >= 0)
			close(fd);
		sched_yield();
	}
	return NULL;
}

/* A row at an edge that waited in its middle is taken again: it may have what came since. */
static void test_late_edge(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct late l = { .done = false };
	struct tg_reading r;
	pthread_t thread;
	int fd;

	tg_sampler_read(s, 0, &r);
	snprintf(l.path, sizeof(l.path), "%s/proc/100/io", c.folder);
	T_EQ_I(unlink(l.path), 0);
	T_EQ_I(mkfifo(l.path, 0600), 0);
	T_EQ_I(pthread_create(&thread, NULL, let_read, &l), 0);
	tg_sampler_free(s); /* it has the file open that was there */
	s = sampler_at(c.folder, 100);
	tg_sampler_read(s, TG_READ_EDGE, &r);
	T_OK(l.first_ns > 0 && r.t_ns >= l.first_ns);
	atomic_store(&l.done, true);
	fd = open(l.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pthread_join(thread, NULL);
	close(fd);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 14: just forked it has its parent's memory, which is the same until it writes to it */
static void test_just_forked(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 103);
	struct tg_reading r;
	int64_t rss;

	tg_sampler_read(s, 0, &r);
	rss = column(&r, "tree.rss_bytes", "");
	T_OK(rss > 0);
	run(&c, "cp -r proc/103 proc/110 && mv proc/110/task/103 proc/110/task/110 &&"
		" sed -i 's/^103/110/; s/) S 101 /) S 103 /' proc/110/stat &&"
		" printf '110 ' >proc/103/task/103/children");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.processes", "", 2);
	VALUE("tree.rss_bytes", "", rss);
	/* it lives on, and so it will write */
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.rss_bytes", "", 2 * rss);
	tg_sampler_free(s);
	copy_remove(&c);
}

static void count_note(void *ctx, int64_t t_ns, const char *text)
{
	int *notes = ctx;

	(void)t_ns;
	T_EQ_S(text, "of its processes no more than 32768 are followed");
	(*notes)++;
}

/* More processes than are followed: that is said, once. */
static void test_too_many(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_buf children = TG_BUF_INIT;
	int notes = 0;
	struct tg_sampler_options options = { .root = 103,
		.hooks = { .note = count_note, .ctx = &notes } };
	struct tg_sampler *s = NULL;
	struct tg_reading r;

	for (int pid = 1000000; pid < 1033000; pid++)
		tg_buf_addf(&children, "%d ", pid);
	put_file(&c, "proc/103/task/103/children", children.data, children.len);
	options.root_fd = open(c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	for (int i = 0; i < 2; i++)
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(notes, 1);
	VALUE("tree.processes", "", 1);
	tg_sampler_free(s);
	close(options.root_fd);
	tg_buf_release(&children);
	copy_remove(&c);
}

struct told {
	int births, deaths;
	char line[8][256];
	int64_t value[8][TG_FIELDS];
	int64_t death_cpu_ns;
};

static void on_birth(void *ctx, const struct tg_birth *b)
{
	struct told *t = ctx;

	if (b->entity < 8)
		snprintf(t->line[b->entity], sizeof(t->line[0]), "%d %d %s [%s]", b->pid, b->ppid,
			b->comm, b->args ? b->args : "-");
	t->births++;
}

static void on_death(void *ctx, int64_t t_ns, uint32_t entity, pid_t pid, int64_t cpu_ns)
{
	struct told *t = ctx;

	(void)t_ns;
	(void)entity;
	(void)pid;
	t->death_cpu_ns = cpu_ns;
	t->deaths++;
}

static void on_value(void *ctx, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value)
{
	struct told *t = ctx;

	(void)t_ns;
	if (entity < 8 && field < TG_FIELDS)
		t->value[entity][field] = value;
}

static struct tg_sampler *told_sampler(const char *folder, struct told *t, bool no_args)
{
	struct tg_sampler_options options = {
		.root = 100, .no_args = no_args, .hooks = { on_birth, on_death, on_value, .ctx = t }
	};
	struct tg_sampler *s = NULL;

	options.root_fd = open(folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	return s;
}

static void test_hooks(void)
{
	struct copy c = copy_of("container_v2");
	struct told t = { 0 };
	struct tg_sampler *s = told_sampler(c.folder, &t, false);
	struct tg_reading r;
	char command[128];

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(t.births, 4);
	T_EQ_S(t.line[0], "100 1 python3 [python3 -m ipykernel_launcher --token=***]");
	T_EQ_S(t.line[1], "101 100 a) b (c [work a b]");
	T_EQ_S(t.line[2], "102 100 thread child [sleep 60]");
	T_EQ_S(t.line[3], "103 101 grandchild [x]");
	T_EQ_I(t.value[0][TG_FIELD_CPU_NS], INT64_C(5000000000));
	T_EQ_I(t.value[0][TG_FIELD_HWM_BYTES], 40000 * 1024);
	T_EQ_I(t.value[0][TG_FIELD_READ_BYTES], 1048576);
	T_EQ_I(t.value[0][TG_FIELD_THREADS], 2);
	/* 11: after exec it is the same process by another name */
	edit(&c, "proc/102/stat", "thread child", "other");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(t.births, 5);
	T_EQ_S(t.line[2], "102 100 other [sleep 60]");
	/* 7: a zombie keeps its CPU time, has no memory, does not run */
	edit(&c, "proc/101/stat", ") R ", ") Z ");
	tg_sampler_read(s, 0, &r);
	VALUE("tree.processes", "", 3);
	VALUE("tree.cpu_ns", "", INT64_C(16600000000));
	VALUE("tree.rss_bytes", "", 13000 * 4096);
	T_EQ_I(t.deaths, 1);
	T_EQ_I(t.death_cpu_ns, INT64_C(10000000000));
	/* waited for: its 10 s move into its parent's figures */
	snprintf(command, sizeof(command), "rm -r '%s/proc/101'", c.folder);
	T_EQ_I(system(command), 0);
	edit(&c, "proc/100/stat", "400 100 30 20 ", "400 100 930 120 ");
	edit(&c, "proc/100/io", "rchar: 323934931", "rchar: 323935931");
	edit(&c, "proc/100/io", "wchar: 323929600", "wchar: 323931600");
	edit(&c, "proc/100/io", "syscr: 632687", "syscr: 632697");
	edit(&c, "proc/100/io", "syscw: 632675", "syscw: 632695");
	edit(&c, "proc/100/io", "read_bytes: 1048576", "read_bytes: 1052672");
	edit(&c, "proc/100/io", "\nwrite_bytes: 323932160", "\nwrite_bytes: 323940352");
	edit(&c, "proc/100/io", "cancelled_write_bytes: 7000", "cancelled_write_bytes: 7500");
	tg_sampler_read(s, 0, &r);
	T_EQ_I(t.deaths, 1);
	VALUE("tree.cpu_ns", "", INT64_C(16600000000));
	VALUE("tree.rchar_bytes", "", 323934931 + 2 * 1000);
	VALUE("tree.read_bytes", "", 1048576 + 2 * 4096);
	/* one that goes without anybody waiting for it is kept */
	snprintf(command, sizeof(command), "rm -r '%s/proc/102'", c.folder);
	T_EQ_I(system(command), 0);
	tg_sampler_read(s, 0, &r);
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", INT64_C(16600000000));
	VALUE("tree.read_bytes", "", 1048576 + 2 * 4096);
	VALUE("tree.processes", "", 2);
	tg_sampler_free(s);
	memset(&t, 0, sizeof(t));
	s = told_sampler(c.folder, &t, true);
	tg_sampler_read(s, 0, &r);
	T_EQ_S(t.line[0], "100 1 python3 [-]");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* A kernel that starts again: the new process with another start time under the same number */
static void test_reuse(void)
{
	struct copy c = copy_of("container_v2");
	struct told t = { 0 };
	struct tg_sampler *s = told_sampler(c.folder, &t, false);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	edit(&c, "proc/102/stat", " 81400 ", " 99999 ");
	edit(&c, "proc/102/stat", " 50 50 0 0 ", " 1 0 0 0 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(t.births, 5);
	T_EQ_I(t.deaths, 1);
	VALUE("tree.cpu_ns", "", INT64_C(16600000000) + 10000000);
	VALUE("tree.processes", "", 4);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* Nothing that may wait for a process is read of one that hangs: its place is told by its clock. */
static void test_hanging(void)
{
	struct copy c = copy_of("container_v2");
	struct told t = { 0 };
	struct tg_sampler *s = told_sampler(c.folder, &t, false);
	const int64_t others = 323934931 + 1000;
	struct tg_reading r;

	edit(&c, "proc/102/stat", ") S ", ") D ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_S(t.line[2], "102 100 thread child [-]");
	VALUE("tree.rchar_bytes", "", others);
	VALUE("tree.rss_bytes", "", 18000 * 4096);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(t.births, 4);
	edit(&c, "proc/102/stat", ") D ", ") S ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_S(t.line[2], "102 100 thread child [sleep 60]");
	T_EQ_I(t.births, 5);
	VALUE("tree.rchar_bytes", "", others + 1000);
	edit(&c, "proc/102/stat", ") S ", ") D ");
	edit(&c, "proc/102/io", "rchar: 1000", "rchar: 9000");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.rchar_bytes", "", others + 1000);
	edit(&c, "proc/102/stat", " 50 50 0 0 ", " 51 50 0 0 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.rchar_bytes", "", others + 9000);
	tg_sampler_free(s);
	copy_remove(&c);
}

/*
 * A child that has ended, whose parent ends between the first and the second look at it: what the
 * child had used goes with what its parent had, wherever that goes.
 */
struct ending {
	const struct copy *c;
	int deaths;
};

static void parent_ends_too(void *ctx, int64_t t_ns, uint32_t entity, pid_t pid, int64_t cpu_ns)
{
	struct ending *e = ctx;
	char command[128];

	(void)t_ns;
	(void)entity;
	(void)cpu_ns;
	e->deaths++;
	snprintf(command, sizeof(command), "rm -rf '%s/proc/101'", e->c->folder);
	if (pid == 103)
		T_EQ_I(system(command), 0);
}

static void ignore_birth(void *ctx, const struct tg_birth *b)
{
	(void)ctx;
	(void)b;
}

static void test_parent_ends_meanwhile(void)
{
	struct copy c = copy_of("container_v2");
	struct ending e = { .c = &c };
	struct tg_sampler_options options = { .root = 100,
		.hooks = { .birth = ignore_birth, .death = parent_ends_too, .ctx = &e } };
	struct tg_sampler *s = NULL;
	struct tg_reading r;
	char command[128];

	options.root_fd = open(c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	edit(&c, "proc/103/stat", " 10 0 0 0 ", " 200 100 0 0 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.cpu_ns", "", INT64_C(19500000000));
	snprintf(command, sizeof(command), "rm -r '%s/proc/103'", c.folder);
	T_EQ_I(system(command), 0);
	tg_sampler_read(s, 0, &r);
	T_EQ_I(e.deaths, 1);
	VALUE("tree.cpu_ns", "", INT64_C(19500000000));
	/* nobody has waited for the two, and the root works on */
	edit(&c, "proc/100/stat", " 400 100 ", " 500 100 ");
	tg_sampler_read(s, 0, &r);
	T_EQ_I(e.deaths, 2);
	VALUE("tree.cpu_ns", "", INT64_C(20500000000));
	tg_sampler_free(s);
	copy_remove(&c);
}

/*
 * State X: a child was waited for and is still to be seen. Its parent may show what it used
 * already, or only at the next reading, or never; in no reading does it count twice.
 */
static void test_leaving(bool shown_at_once, bool waited)
{
	const int64_t tick = 10 * TG_NS_PER_MS, before = INT64_C(19500000000);
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;
	char command[128];

	edit(&c, "proc/103/stat", " 10 0 0 0 ", " 200 100 0 0 ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("tree.cpu_ns", "", before);
	edit(&c, "proc/103/stat", ") S 101 ", ") X 0 ");
	edit(&c, "proc/103/stat", " 20 0 4 0 ", " 20 0 1 0 ");
	if (waited && shown_at_once)
		edit(&c, "proc/101/stat", " 1000 0 0 0 ", " 1001 0 200 100 ");
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", before + (waited && shown_at_once ? tick : 0));
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", before + (waited && shown_at_once ? tick : 0));
	if (waited && !shown_at_once)
		edit(&c, "proc/101/stat", " 1000 0 0 0 ", " 1001 0 200 100 ");
	snprintf(command, sizeof(command), "rm -r '%s/proc/103'", c.folder);
	T_EQ_I(system(command), 0);
	for (int i = 0; i < 2; i++) {
		tg_sampler_read(s, 0, &r);
		VALUE("tree.cpu_ns", "", before + (waited ? tick : 0));
	}
	edit(&c, "proc/100/stat", " 400 100 ", " 401 100 ");
	tg_sampler_read(s, 0, &r);
	VALUE("tree.cpu_ns", "", before + (waited ? 2 : 1) * tick);
	tg_sampler_free(s);
	copy_remove(&c);
}

static void test_declarations(void)
{
	static const char *const unit[] = { "ns", "bytes", "ops", "count", "pct", "W", "J", "C",
		"MHz", "bits", "bytes/s" };
	struct tg_sampler *s = sampler_of("container_v2", 100);
	struct tg_source_info info[32];
	size_t n = tg_sampler_sources(s, info, TG_ARRAY_SIZE(info));

	T_OK(n > 5 && n <= TG_ARRAY_SIZE(info));
	for (size_t i = 0; i < n; i++) {
		T_OK(info[i].help[0] && info[i].n_metrics > 0);
		for (size_t k = 0; k < info[i].n_metrics; k++) {
			const struct tg_metric *m = &info[i].metric[k];
			bool known = false;

			for (size_t u = 0; u < TG_ARRAY_SIZE(unit); u++)
				known |= !strcmp(m->unit, unit[u]);
			if (!known || !m->help[0] || !strchr(m->name, '.'))
				T_EQ_S(m->name, "a metric with a unit, help and a dotted name");
			/* the name says the unit, so that no one has to look it up */
			if (!strcmp(m->unit, "ns") || !strcmp(m->unit, "bytes"))
				T_OK(strstr(m->name, m->unit) != NULL);
		}
	}
	tg_sampler_free(s);
}

int main(void)
{
	test_container();
	test_node();
	test_limits();
	test_cgroup_v1();
	test_cgroup_moves();
	test_devices();
	test_paths();
	test_container_in_container();
	test_hotplug();
	test_resets();
	test_bare();
	test_root();
	test_steps_back();
	test_too_many();
	test_late_edge();
	test_just_forked();
	test_hooks();
	test_reuse();
	test_hanging();
	test_parent_ends_meanwhile();
	test_leaving(true, true);
	test_leaving(false, true);
	test_leaving(false, false);
	test_truncated("container_v2", 100, "proc/stat");
	test_truncated("container_v2", 100, "proc/meminfo");
	test_truncated("container_v2", 100, "proc/100/net/dev");
	test_truncated("container_v2", 100, "proc/diskstats");
	test_truncated("container_v2", 100, "proc/100/stat");
	test_truncated("container_v2", 100, "proc/100/statm");
	test_truncated("container_v2", 100, "proc/100/io");
	test_truncated("container_v2", 100, "proc/100/task/100/children");
	test_truncated("container_v2", 100, "proc/self/mountinfo");
	test_truncated("container_v2", 100, "proc/pressure/io");
	test_truncated("container_v2", 100, "sys/fs/cgroup/cpu.stat");
	test_truncated("container_v2", 100, "sys/fs/cgroup/memory.current");
	test_truncated("container_v2", 100, "sys/fs/cgroup/memory.max");
	test_truncated("container_v2", 100, "sys/fs/cgroup/memory.stat");
	test_truncated("container_v2", 100, "sys/fs/cgroup/memory.events");
	test_truncated(
		"batch_v1", 200, "sys/fs/cgroup/memory/slurm/job_7/step_0/memory.usage_in_bytes");
	test_declarations();
	return t_done();
}
