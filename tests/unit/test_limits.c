/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tree is allowed, and what holds it back: control groups of both versions, each
 * controller by itself, seen from the machine and from containers. Numbers are those of
 * docs/accuracy.md.
 */
#include "tap.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "own_group.h"
#include "sample_tree.h"

#include "recorder/facts.h"
#include "sample/cgroup.h"
#include "sample/sampler_private.h"

#include "base/mem.h"

/* ---- where a group is ---- */

#define V2(root, point)       "30 23 0:26 " root " " point " rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1(root, point, what) "35 31 0:32 " root " " point " rw - cgroup cgroup rw," what "\n"

static const struct {
	const char *groups, *mounts, *controller;
	const char *path; /* NULL: cannot be seen */
	bool limits_only; /* a group above, whose use is not ours */
} place[] = {
	{ "0::/user.slice/a.scope\n", V2("/", "/sys/fs/cgroup"), "cpu",
		"/sys/fs/cgroup/user.slice/a.scope", false },
	/* version 1, in files that hold two controllers, and a name that only begins alike */
	{ "4:cpu,cpuacct:/job\n3:cpuset:/set\n",
		V1("/", "/sys/fs/cgroup/cpuset", "cpuset")
			V1("/", "/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct"),
		"cpu", "/sys/fs/cgroup/cpu,cpuacct/job", false },
	/* hybrid: what version 1 has is its own, whatever comes first; the rest is version 2's */
	{ "0::/new\n4:memory:/old\n",
		V2("/", "/sys/fs/cgroup/unified") V1("/", "/sys/fs/cgroup/memory", "memory"),
		"memory", "/sys/fs/cgroup/memory/old", false },
	{ "0::/new\n4:memory:/old\n",
		V2("/", "/sys/fs/cgroup/unified") V1("/", "/sys/fs/cgroup/memory", "memory"), "cpu",
		"/sys/fs/cgroup/unified/new", false },
	{ "4:memory:/old\n", V2("/", "/sys/fs/cgroup/unified"), "memory", NULL, false },
	/* a container: with a namespace, with its own group only, with both views at once */
	{ "0::/\n", V2("/", "/sys/fs/cgroup"), "memory", "/sys/fs/cgroup", false },
	{ "4:memory:/docker/c1\n", V1("/docker/c1", "/sys/fs/cgroup/memory", "memory"), "memory",
		"/sys/fs/cgroup/memory", false },
	{ "4:memory:/docker/c1/sub\n",
		V1("/docker/c1", "/sys/fs/cgroup/memory", "memory") V1("/", "/host", "memory"),
		"memory", "/host/docker/c1/sub", false },
	{ "4:memory:/docker/c10\n", V1("/docker/c1", "/sys/fs/cgroup/memory", "memory"), "memory",
		"/sys/fs/cgroup/memory", false },
	/* a mount from outside our namespace, and groups that are outside of it */
	{ "0::/../b\n", V2("/..", "/mnt"), "cpu", "/mnt/b", false },
	{ "0::/../b\n", V2("/", "/mnt"), "cpu", NULL, false },
	{ "0::/../../b\n", V2("/..", "/mnt"), "cpu", NULL, false },
	{ "0::/\n", V2("/../..", "/mnt"), "cpu", "/mnt", true },
	{ "0::/a\n", V2("/..", "/mnt") V2("/", "/own"), "cpu", "/own/a", false },
	{ "0::/a\n", V2("/../other", "/mnt"), "cpu", NULL, false },
	{ "0::/..b/a\n", V2("/", "/mnt"), "cpu", "/mnt/..b/a", false },
};

/* pitfall 19: each controller by itself, from /proc/PID/cgroup and mountinfo */
static void test_places(void)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(place); i++) {
		char path[TG_PATH_MAX];
		struct tg_cgroup g = { .whole = false };
		bool v2;
		int r = tg_cgroup_path(
			place[i].groups, strlen(place[i].groups), place[i].controller, path, &v2);

		T_EQ_I(r, 0);
		r = tg_cgroup_place(place[i].mounts, strlen(place[i].mounts), place[i].controller,
			path, v2, &g);
		T_EQ_S(r == 0 ? g.path : "not seen", place[i].path ? place[i].path : "not seen");
		T_EQ_I(g.whole, place[i].limits_only);
	}
}

/* ---- how much is allowed ---- */

static struct tg_limits limits_of(const struct copy *c, pid_t root)
{
	struct tg_sampler *s = sampler_at(c->folder, root);
	struct tg_limits l;

	tg_sampler_limits(s, &l);
	tg_sampler_free(s);
	return l;
}

static void put(const struct copy *c, const char *path, const char *text)
{
	put_file(c, path, text, strlen(text));
}

/*
 * pitfall 1, report 17: of 1.5 cores allowed, 1.5 is all; what is least holds: machine, cpuset,
 * affinity, quota. Report 16: a cpuset counts as its cores, not as those of the machine.
 */
static void test_cores(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_limits l = limits_of(&c, 100);

	T_EQ_I(l.cores_milli, 1500);
	put(&c, "sys/fs/cgroup/cpu.max", "50000 100000\n");
	T_EQ_I(limits_of(&c, 100).cores_milli, 500);
	put(&c, "sys/fs/cgroup/cpu.max", "max 100000\n");
	put(&c, "sys/fs/cgroup/cpuset.cpus.effective", "0,2-3\n");
	l = limits_of(&c, 100);
	T_EQ_I(l.cores_milli, 3000);
	T_EQ_S(l.cores_why, "cpuset");
	edit(&c, "proc/100/status", "Cpus_allowed_list:\t0-3", "Cpus_allowed_list:\t2");
	l = limits_of(&c, 100);
	T_EQ_I(l.cores_milli, 1000);
	T_EQ_S(l.cores_why, "affinity");
	/* a quota of more than there is says nothing */
	edit(&c, "proc/100/status", "Cpus_allowed_list:\t2", "Cpus_allowed_list:\t0-3");
	put(&c, "sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
	put(&c, "sys/fs/cgroup/cpu.max", "6400000 100000\n");
	l = limits_of(&c, 100);
	T_EQ_I(l.cores_milli, 4000);
	T_EQ_S(l.cores_why, "machine");
	copy_remove(&c);
}

/*
 * pitfall 19, report 14: the least of all groups above, memory.high as well. What cannot be seen
 * from a container's mount is told by version 1 itself.
 */
static void test_memory_limit(void)
{
	struct copy c = copy_of("nested_v2");

	T_EQ_I(limits_of(&c, 400).memory_bytes, INT64_C(4294967296)); /* memory.high of job.scope */
	put(&c, "sys/fs/cgroup/user.slice/memory.max", "1000000\n");
	T_EQ_I(limits_of(&c, 400).memory_bytes, 1000000);
	put(&c, "sys/fs/cgroup/user.slice/job.scope/inner/memory.max", "900000\n");
	T_EQ_I(limits_of(&c, 400).memory_bytes, 900000);
	/* the same groups from inside a container, which has the innermost for its root */
	put(&c, "proc/400/cgroup", "0::/\n");
	put(&c, "proc/self/mountinfo", V2("/", "/sys/fs/cgroup/user.slice/job.scope/inner"));
	T_EQ_I(limits_of(&c, 400).memory_bytes, 900000);
	/* and one whose mount is from outside: it has their limits, and not their use */
	put(&c, "proc/self/mountinfo", V2("/../..", "/sys/fs/cgroup/user.slice"));
	T_EQ_I(limits_of(&c, 400).memory_bytes, 1000000);
	copy_remove(&c);

	c = copy_of("batch_v1");
	T_EQ_I(limits_of(&c, 200).memory_bytes, INT64_C(8589934592));
	edit(&c, "sys/fs/cgroup/memory/slurm/job_7/step_0/memory.stat", "total_cache",
		"hierarchical_memory_limit 2000000000\ntotal_cache");
	T_EQ_I(limits_of(&c, 200).memory_bytes, 2000000000);
	/* limits that are not handed down, which this version can do, too: the machine's holds */
	edit(&c, "sys/fs/cgroup/memory/slurm/job_7/step_0/memory.stat", "2000000000",
		"9223372036854771712");
	T_EQ_S(limits_of(&c, 200).memory_why, "machine");
	copy_remove(&c);
}

/* pitfall 19, report 18: raw and working set and cache; working is not only what is anonymous */
static void test_memory_use(void)
{
	struct tg_sampler *s = sampler_of("container_v2", 100);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("cgroup.memory_bytes", "", 1610612736);
	VALUE("cgroup.memory_working_bytes", "", 1610612736 - 536870912);
	VALUE("cgroup.memory_cache_bytes", "", 600000000);
	T_OK(column(&r, "cgroup.memory_working_bytes", "") > 900000000); /* anon */
	VALUE("cgroup.ooms", "", 2);
	VALUE("cgroup.oom_group_kills", "", 0);
	VALUE("cgroup.throttled_periods", "", 44);
	tg_sampler_free(s);
	s = sampler_of("batch_v1", 200);
	tg_sampler_read(s, 0, &r);
	VALUE("cgroup.memory_cache_bytes", "", 1000);
	MISSING("cgroup.ooms", "");
	MISSING("cgroup.oom_group_kills", "");
	tg_sampler_free(s);
}

/* pitfall 1: who has the quota is throttled: here a group above, and the own one says 0 */
static void test_throttled_above(void)
{
	struct copy c = copy_of("nested_v2");
	const char *inner = "sys/fs/cgroup/user.slice/job.scope/inner/cpu.stat";
	struct tg_sampler *s;
	struct tg_reading r;

	put(&c, inner, "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	put(&c, "sys/fs/cgroup/user.slice/job.scope/cpu.stat",
		"usage_usec 9\nnr_periods 30\nnr_throttled 20\nthrottled_usec 700000\n");
	s = sampler_at(c.folder, 400);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.throttled_ns", "", 700 * TG_NS_PER_MS);
	VALUE("cgroup.throttled_periods", "", 20);
	VALUE("cgroup.cpu_ns", "", 5000);
	/* a quota of its own that is less: what was counted there before is not of our time */
	put(&c, inner, "usage_usec 5\nnr_periods 7\nnr_throttled 6\nthrottled_usec 60000\n");
	put(&c, "sys/fs/cgroup/user.slice/job.scope/inner/cpu.max", "20000 100000\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.throttled_ns", "", 700 * TG_NS_PER_MS);
	put(&c, inner, "usage_usec 5\nnr_periods 9\nnr_throttled 8\nthrottled_usec 90000\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.throttled_ns", "", 730 * TG_NS_PER_MS);
	VALUE("cgroup.throttled_periods", "", 22);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 24: a tree that is moved takes no CPU time with it that another group had used */
static void test_moved(void)
{
	struct copy c = copy_of("nested_v2");
	struct tg_sampler *s = sampler_at(c.folder, 400);
	struct tg_reading r;

	tg_sampler_read(s, 0, &r);
	VALUE("cgroup.cpu_ns", "", 5000);
	put(&c, "proc/400/cgroup", "0::/user.slice\n");
	put(&c, "sys/fs/cgroup/user.slice/cpu.stat", "usage_usec 999999999\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.cpu_ns", "", 5000);
	put(&c, "sys/fs/cgroup/user.slice/cpu.stat", "usage_usec 1000000009\n");
	tg_sampler_read(s, 0, &r);
	VALUE("cgroup.cpu_ns", "", 15000);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* Limits that change while it records are said again, and only then. */
static void test_said(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_events events = { .lines = TG_BUF_INIT };
	struct tg_facts facts;

	tg_facts_init(&facts);
	tg_facts_limits(&facts, s, &events, 1);
	T_OK(strstr(events.lines.data, "\"cores\",\"value\":1.5,\"why\":\"cgroup quota\"") != NULL);
	tg_buf_clear(&events.lines);
	tg_facts_limits(&facts, s, &events, 2);
	T_EQ_I(events.lines.len, 0);
	put(&c, "sys/fs/cgroup/cpu.max", "25000 100000\n");
	tg_facts_limits(&facts, s, &events, 3);
	T_OK(strstr(events.lines.data, "\"cores\",\"value\":0.25,") != NULL);
	T_OK(strstr(events.lines.data, "memory_bytes") == NULL);
	tg_buf_clear(&events.lines);
	put(&c, "sys/fs/cgroup/memory.high", "1000000000\n");
	put(&c, "sys/fs/cgroup/cpuset.cpus.effective", "1\n");
	put(&c, "sys/fs/cgroup/cpu.max", "max 100000\n");
	tg_facts_limits(&facts, s, &events, 4);
	T_OK(strstr(events.lines.data, "\"cores\",\"value\":1,\"why\":\"cpuset\"") != NULL);
	T_OK(strstr(events.lines.data, "\"memory_bytes\",\"value\":1000000000,") != NULL);
	tg_buf_release(&events.lines);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* What a disk is called: any bytes of a name become JSON. */
static void test_disk_said(void)
{
	struct tg_events events = { .lines = TG_BUF_INIT };

	tg_facts_disk(&events, "vda", "/\0/a \"b\"\0", 5);
	T_EQ_S(events.lines.data, "{\"ev\":\"disk\",\"t\":5,\"name\":\"vda\","
				  "\"mounts\":[\"/\",\"/a \\\"b\\\"\"]}\n");
	tg_buf_release(&events.lines);
}

/* ---- pressure ---- */

/* pitfall 37: where it is switched off the files cannot be read: not available, and no 0 */
static void test_pressure_off(void)
{
	static const char *const file[] = { "cpu", "memory", "io" };
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	/* total= in us, whatever avg10= says */
	put(&c, "proc/pressure/cpu",
		"some avg10=99.00 avg60=0.00 avg300=0.00 total=1000\n"
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	tg_sampler_read(s, 0, &r);
	VALUE("psi.cpu_some_ns", "", 1000000);
	tg_sampler_free(s);
	for (size_t i = 0; i < TG_ARRAY_SIZE(file); i++) {
		char command[100];

		/* a folder can be opened, and reading it fails */
		snprintf(command, sizeof(command), "rm proc/pressure/%s && mkdir proc/pressure/%s",
			file[i], file[i]);
		run(&c, command);
	}
	s = sampler_at(c.folder, 100);
	tg_sampler_read(s, 0, &r);
	T_OK(!has_column(&r, "psi.cpu_some_ns", ""));
	T_EQ_S(said(s, "psi"), "the kernel does not account for pressure (psi=1 may help)");
	tg_sampler_free(s);
	/* newer kernels have no files then, as those that were built without it never have */
	run(&c, "rm -r proc/pressure && mkdir -p proc/sys/kernel boot lib/modules/6.1.0-9-x && "
		"echo 6.1.0-9-x > proc/sys/kernel/osrelease");
	s = sampler_at(c.folder, 100);
	T_EQ_S(said(s, "psi"),
		"this kernel has no pressure accounting, or it is switched off (psi=1)");
	tg_sampler_free(s);
	run(&c, "printf '# CONFIG_PSI is not set\\nCONFIG_X=y\\n' > boot/config-6.1.0-9-x");
	s = sampler_at(c.folder, 100);
	T_EQ_S(said(s, "psi"), "this kernel has no pressure accounting");
	tg_sampler_free(s);
	run(&c, "rm boot/config* && printf 'CONFIG_PSI=y\\nCONFIG_PSI_DEFAULT_DISABLED=y\\n' "
		"> lib/modules/6.1.0-9-x/config");
	s = sampler_at(c.folder, 100);
	T_EQ_S(said(s, "psi"), "the kernel does not account for pressure (psi=1 may help)");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* ---- on this machine ---- */

static void two_burners(void)
{
	pid_t other = fork();

	if (other == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		burn_ms(1000);
}

/*
 * pitfall 1: two burners with a quota of half a core: what they use is all that they are allowed.
 * Where the machine has not that much left for them it is less, and they are not held back.
 */
static void test_quota_live(void)
{
	char folder[TG_PATH_MAX + 32];
	const char *why = make_group("cpu", "cpu.max", "50000 100000", "cpu.cfs_quota_us", "50000",
		folder, sizeof(folder));
	struct tg_reading a, b;
	struct tg_limits l;
	struct tg_sampler *s;
	struct child c;
	int64_t used, periods;
	double allowed;
	char go_byte = 'g';

	if (why) {
		T_SKIP("a quota of half a core", why);
		return;
	}
	c = start(two_burners);
	if (!join(folder, c.pid)) {
		T_SKIP("a quota of half a core", "no process can be put into the group");
		goto out;
	}
	s = live_sampler(c.pid);
	T_OK(write(c.go, &go_byte, 1) == 1);
	tg_sampler_read(s, TG_READ_REFRESH, &a);
	used = -column(&a, "tree.cpu_ns", "");
	periods = -column(&a, "cgroup.throttled_periods", "");
	allowed = -(double)a.t_ns;
	nanosleep(&(struct timespec){ .tv_sec = 2 }, NULL);
	tg_sampler_read(s, TG_READ_REFRESH, &b);
	used += column(&b, "tree.cpu_ns", "");
	periods += column(&b, "cgroup.throttled_periods", "");
	allowed += (double)b.t_ns;
	tg_sampler_limits(s, &l);
	T_EQ_I(l.cores_milli, 500);
	T_EQ_S(l.cores_why, "cgroup quota");
	allowed *= (double)l.cores_milli / 1000;
	/* a period and a tick of each core may be borrowed at either end */
	T_OK((double)used <= allowed * 1.15);
	/* each period in which they were held back had all of its 50 ms */
	T_OK(used >= (periods - 2) * 50 * TG_NS_PER_MS);
	T_OK(column(&b, "cgroup.throttled_ns", "") > 0 || periods == 0);
	tg_sampler_free(s);
out:
	finish(&c);
	remove_group(folder);
}

static void take_too_much(void)
{
	size_t size = (size_t)192 << 20;
	char *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < size; i += 4096)
		m[i] = 1;
	stop();
}

/* pitfall 20: that another process than the root has ended is remembered */
static void test_vanished(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = sampler_at(c.folder, 100);
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(s->env.vanished_ns, 0);
	run(&c, "rm -r proc/103");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(s->env.vanished_ns, r.t_ns);
	tg_sampler_free(s);
	run(&c, "rm -r proc/10[12]");
	s = sampler_at(c.folder, 100);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	run(&c, "rm -r proc/100");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(s->env.vanished_ns, 0);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 20: a process of 192 MB in a group of 64 MB is killed, and it is known by what */
static void test_oom_live(void)
{
	char folder[TG_PATH_MAX + 32], text[TG_OOM_WHY];
	const char *why = make_group("memory", "memory.max", "67108864", "memory.limit_in_bytes",
		"67108864", folder, sizeof(folder));
	struct tg_sampler *s;
	struct tg_reading r;
	struct child c;
	int status;

	if (why) {
		T_SKIP("a kill for want of memory", why);
		return;
	}
	c = start(take_too_much);
	if (!join(folder, c.pid)) {
		T_SKIP("a kill for want of memory", "no process can be put into the group");
		finish(&c);
		remove_group(folder);
		return;
	}
	s = live_sampler(c.pid);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("cgroup.memory_limit_bytes", "", 67108864);
	go(&c);
	close(c.go);
	close(c.stopped);
	kill(c.pid, SIGTERM); /* where it could swap, it lives */
	waitpid(c.pid, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		T_EQ_I(tg_sampler_oom(s, false, text, sizeof(text)), TG_OOM_YES);
		T_OK(strstr(text, "a process of its control group was killed") == text);
		T_OK(strstr(text, "; its limit was reached (") != NULL);
	} else {
		T_SKIP("a kill for want of memory", "the group can swap");
	}
	tg_sampler_free(s);
	remove_group(folder);
}

int main(void)
{
	test_places();
	test_cores();
	test_memory_limit();
	test_memory_use();
	test_throttled_above();
	test_moved();
	test_said();
	test_disk_said();
	test_pressure_off();
	test_quota_live();
	test_vanished();
	test_oom_live();
	return t_done();
}
