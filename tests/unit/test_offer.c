/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be had on a machine, how finely, why not the rest, and what could be allowed. */
#include "tap.h"

#include <sys/stat.h>

#include "sample_tree.h"

#include "base/json.h"
#include "sample/sampler_private.h"

#include "base/mem.h"

static struct tg_metric_info offer_of(struct tg_sampler *s, const char *name)
{
	struct tg_source_info info[32];
	size_t n = tg_sampler_sources(s, info, TG_ARRAY_SIZE(info));
	struct tg_metric_info found = { .resolution_ns = -1 };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < info[i].n_metrics; k++)
			if (!strcmp(info[i].metric[k].name, name))
				tg_sampler_metric(s, i, k, &found);
	return found;
}

/* What could be allowed, with blanks behind. */
static const char *advised(struct tg_sampler *s)
{
	static char text[400];
	struct tg_advice a[TG_ADVICE_MAX];
	size_t n = tg_sampler_advice(s, a, TG_ADVICE_MAX), at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s; ", a[i].what);
	return text;
}

static struct tg_sampler *read_at(const char *folder, pid_t root)
{
	struct tg_sampler *s = sampler_at(folder, root);
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	return s;
}

#define RESOLUTION(name, ns) T_EQ_I(offer_of(s, name).resolution_ns, ns)
#define WHY(name, text)      T_EQ_S(offer_of(s, name).why, text)

/* pitfall 3: of what is told in ticks, the tick is told, too */
static void test_resolution(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = read_at(c.folder, 100);

	RESOLUTION("tree.rss_bytes", 10 * TG_NS_PER_MS);
	RESOLUTION("tree.cpu_ns", 10 * TG_NS_PER_MS); /* no perf on a captured tree */
	RESOLUTION("root.read_bytes", 10 * TG_NS_PER_MS);
	T_OK(offer_of(s, "tree.pss_bytes").resolution_ns >=
		TG_NS_PER_S); /* it costs what it costs */
	RESOLUTION("node.cpu_busy_ns", 10 * TG_NS_PER_MS); /* 1 / USER_HZ */
	RESOLUTION("core.busy_ns", 10 * TG_NS_PER_MS);
	RESOLUTION("psi.io_some_ns", 100 * TG_NS_PER_MS);
	RESOLUTION("nfs.read_bytes", TG_NS_PER_S);
	RESOLUTION("gpu.util_pct", TG_NS_PER_S); /* NVML's window */
	RESOLUTION("gpu.energy_j", 100 * TG_NS_PER_MS);
	T_OK(offer_of(s, "node.cpu_busy_ns").available);
	T_OK(!offer_of(s, "gpu.energy_j").available);
	WHY("gpu.energy_j", "there is no NVIDIA driver");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* Of this machine: perf has no tick, the clocks of processes have the kernel's. */
static void test_live(void)
{
	struct tg_sampler *s = live_sampler(getpid());
	struct tg_metric_info cpu;
	struct tg_reading r;
	const char *why;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	cpu = offer_of(s, "tree.cpu_ns");
	T_OK(cpu.available);
	if (tg_sampler_means(s, &why) == TG_MEANS_PROCESSES) {
		T_OK(cpu.resolution_ns >= 10 * TG_NS_PER_MS);
		T_OK(strstr(cpu.why, "perf events are switched off") != NULL);
		T_OK(!offer_of(s, "tree.cpu_unattributed_ns").available);
	} else {
		T_OK(cpu.resolution_ns > 0);
	}
	T_OK(offer_of(s, "node.cpu_busy_ns").resolution_ns >=
		TG_MAX(TG_NS_PER_S / sysconf(_SC_CLK_TCK), 10 * TG_NS_PER_MS));
	tg_sampler_free(s);
}

/* So many lines that one look at shares is over with the first process. */
static void put_long_rollup(const struct copy *c, pid_t pid)
{
	size_t len = 4000000;
	char path[64], *text = tg_xcalloc(len, 1);
	int n = snprintf(text, len, "Rss: 1000 kB\nPss: 500 kB\n");

	memset(text + n, '\n', len - (size_t)n);
	snprintf(path, sizeof(path), "proc/%d/smaps_rollup", (int)pid);
	put_file(c, path, text, len);
	free(text);
}

static struct opened *opened_of(struct tg_sampler *s, const char *name)
{
	size_t i = 0;

	while (strcmp(tg_source_list[i]->name, name) != 0)
		i++;
	return &s->source[i];
}

/* What is dear is looked for more seldom, and so is coarser than it is meant to be. */
static void test_stretched(void)
{
	struct tg_sampler *s = live_sampler(getpid());
	struct copy c = copy_of("container_v2");

	tg_sampler_look(s, TG_NS_PER_S);
	opened_of(s, "node_memory")->period_ns = 7 * TG_NS_PER_S;
	RESOLUTION("node.mem_used_bytes", 7 * TG_NS_PER_S);
	opened_of(s, "memory")->period_ns = 3 * TG_NS_PER_S;
	RESOLUTION("tree.swap_bytes", 3 * TG_NS_PER_S);
	tg_sampler_free(s);
	put_long_rollup(&c, 100);
	s = sampler_at(c.folder, 100);
	tg_sampler_look(s, TG_NS_PER_S);
	T_OK(offer_of(s, "tree.pss_bytes").resolution_ns > TG_NS_PER_S);
	RESOLUTION("tree.swap_bytes", TG_NS_PER_S);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 12: why one metric of a source is not there, while others are */
static void test_lacks(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s;

	run(&c, "rm -f proc/*/io proc/*/schedstat");
	s = read_at(c.folder, 100);
	T_OK(offer_of(s, "tree.rss_bytes").available);
	T_OK(!offer_of(s, "tree.read_bytes").available);
	WHY("tree.read_bytes",
		"this kernel counts no I/O of processes (CONFIG_TASK_IO_ACCOUNTING)");
	WHY("root.write_ops", "this kernel counts no I/O of processes (CONFIG_TASK_IO_ACCOUNTING)");
	WHY("root.runqueue_ns", "this kernel has no /proc/PID/schedstat");
	WHY("tree.minor_faults", "");
	T_OK(strstr(advised(s), "I/O of processes; ") != NULL);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 12: controllers have groups of their own: what each lacks is another matter */
static void test_lacks_groups(void)
{
	struct copy c = copy_of("hybrid");
	struct tg_sampler *s = read_at(c.folder, 300);

	T_OK(offer_of(s, "cgroup.memory_bytes").available);
	WHY("cgroup.cpu_ns", "the processes are in no group of their own that counts it");
	T_OK(strstr(advised(s), "a control group for the job; ") != NULL);
	tg_sampler_free(s);
	run(&c, "for f in $(find sys/fs/cgroup/memory -name "
		"memory.limit_in_bytes); do echo 9223372036854771712 > $f; done");
	s = read_at(c.folder, 300);
	WHY("cgroup.memory_limit_bytes", "neither the group nor one above it has a limit");
	WHY("cgroup.ooms", "control groups of version 1 do not count it");
	WHY("cgroup.oom_group_kills", "control groups of version 1 do not count it");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 12, 29: denied is denied, and who could allow it is told how */
static void test_denied(void)
{
	struct copy c = copy_of("cluster");
	bool root = geteuid() == 0;
	struct tg_sampler *s;

	run(&c, "cp -r sys/class/powercap power && chmod -R a+rX . && "
		"chmod 0 sys/class/powercap/intel-rapl*/energy_uj proc/600/io sys/kernel/debug");
	if (root)
		T_EQ_I(seteuid(65534), 0);
	s = read_at(c.folder, 600);
	T_OK(!strncmp(offer_of(s, "energy.cpu_j").why, "denied: ", 8));
	T_OK(!strncmp(offer_of(s, "tree.read_bytes").why, "denied: ", 8));
	T_OK(!offer_of(s, "tree.read_bytes").available);
	T_OK(strstr(advised(s), "RAPL; ") != NULL);
	T_OK(strstr(advised(s), "I/O of processes; ") == NULL); /* the kernel has it */
	tg_sampler_free(s);
	if (root)
		T_EQ_I(seteuid(0), 0);
	run(&c, "chmod -R u+rwX .");
	copy_remove(&c);
}

/* Shares of memory are looked at in several readings: list has one moment, and goes on. */
static void test_shares(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s;
	struct tg_reading r;

	for (pid_t pid = 100; pid <= 103; pid++)
		put_long_rollup(&c, pid);
	s = sampler_at(c.folder, 100);
	for (int i = 0; i < 2; i++)
		tg_sampler_read(s, TG_READ_REFRESH | TG_READ_ALL, &r);
	T_OK(!offer_of(s, "tree.pss_bytes").available);
	WHY("tree.pss_bytes",
		"not found yet: processes are looked at bit by bit, 16 us for each MB");
	tg_sampler_look(s, 60 * TG_NS_PER_S);
	T_OK(offer_of(s, "tree.pss_bytes").available);
	tg_sampler_free(s);
	/* too large, as far as can be told on a captured tree */
	run(&c, "rm proc/10[123]/smaps_rollup");
	s = sampler_at(c.folder, 100);
	tg_sampler_look(s, 0);
	tg_sampler_read(s, TG_READ_REFRESH | TG_READ_ALL, &r);
	T_OK(!offer_of(s, "tree.pss_bytes").available);
	T_OK(strstr(offer_of(s, "tree.pss_bytes").why, "of processes that are too large") != NULL);
	run(&c, "rm -f proc/100/smaps_rollup proc/self/smaps_rollup");
	tg_sampler_free(s);
	s = read_at(c.folder, 100);
	T_OK(!offer_of(s, "tree.pss_covers_bytes").available);
	WHY("tree.swap_pss_bytes", "this kernel has no /proc/PID/smaps_rollup");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* What has instances has its metrics by what was read: none of them, or not all of them. */
static void test_instances(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s;

	run(&c, "echo > proc/100/mountstats");
	s = read_at(c.folder, 100);
	T_OK(offer_of(s, "core.busy_ns").available);
	WHY("core.busy_ns", "");
	T_OK(!offer_of(s, "nfs.read_bytes").available);
	WHY("nfs.read_bytes", "no NFS mount now");
	tg_sampler_free(s);
	/* a driver is only asked by a recording: it is not known what it has */
	run(&c, "mkdir -p dev && touch dev/nvidiactl && echo > proc/diskstats");
	s = read_at(c.folder, 100);
	T_OK(!offer_of(s, "disk.read_bytes").available);
	WHY("disk.read_bytes", "nothing of that kind is here now");
	T_OK(offer_of(s, "gpu.power_w").available);
	WHY("gpu.power_w", "if the driver has it, which only a recording asks");
	tg_sampler_free(s);
	copy_remove(&c);
	c = copy_of("amd");
	run(&c, "rm -r sys/class/drm/card*/device/hwmon");
	s = read_at(c.folder, 100);
	T_OK(offer_of(s, "amdgpu.util_pct").available);
	T_OK(!offer_of(s, "amdgpu.power_w").available);
	WHY("amdgpu.power_w", "none of them has it");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* Each thing that could be allowed is told where it is in the way, and nowhere else. */
static void test_advice(void)
{
	struct copy c = copy_of("container_v2");
	struct tg_sampler *s = read_at(c.folder, 100);

	T_EQ_S(advised(s), "");
	tg_sampler_free(s);
	run(&c, "mkdir -p proc/sys/kernel proc/driver/nvidia && rm -r sys/fs/cgroup "
		"proc/pressure/* && mkdir proc/pressure/cpu && "
		"echo 4 > proc/sys/kernel/perf_event_paranoid && rm proc/100/cgroup && "
		"echo '24 30 0:22 / /proc rw - proc proc rw,hidepid=invisible' > "
		"proc/self/mountinfo");
	s = read_at(c.folder, 100);
	T_EQ_S(advised(s), "perf events; a control group for the job; hidepid; NVIDIA's devices; "
			   "pressure; ");
	tg_sampler_free(s);
	run(&c, "echo 3 > proc/sys/kernel/perf_event_paranoid && mkdir -p dev && "
		"touch dev/nvidiactl && "
		"echo '24 30 0:22 / /proc rw - proc proc rw,hidepid=0' > proc/self/mountinfo");
	s = read_at(c.folder, 100);
	T_EQ_S(advised(s), "perf events; a control group for the job; pressure; ");
	tg_sampler_free(s);
	run(&c, "echo 2 > proc/sys/kernel/perf_event_paranoid");
	s = read_at(c.folder, 100);
	T_EQ_S(advised(s), "a control group for the job; pressure; ");
	tg_sampler_free(s);
	run(&c, "rm -r proc/pressure"); /* a kernel without it cannot be told to have it */
	s = read_at(c.folder, 100);
	T_EQ_S(advised(s), "a control group for the job; ");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* What a command prints. */
static struct tg_buf said_by(const char *line)
{
	struct tg_buf out = TG_BUF_INIT;
	char part[4096];
	FILE *f = popen(line, "r");
	size_t n;

	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		tg_buf_add(&out, part, n);
	T_EQ_I(f ? pclose(f) : -1, 0);
	return out;
}

/* Characters of the longest line. */
static size_t longest(const char *text)
{
	size_t most = 0, n = 0;

	for (; *text; text++) {
		n = *text == '\n' ? 0 : n + ((*text & 0xc0) != 0x80);
		most = TG_MAX(most, n);
	}
	return most;
}

static void test_command_line(void)
{
	struct tg_buf text = said_by("\"$TG_EXE\" list"), json = said_by("\"$TG_EXE\" list --json");
	struct tg_err err = { 0 };
	struct tg_json *j;

	T_OK(strstr(text.data, "tree.rss_bytes") != NULL);
	T_OK(strstr(text.data, "administrator could allow") != NULL);
	T_OK(longest(text.data) <= 100);
	j = tg_json_parse(json.data, json.len, &err);
	T_OK(j != NULL);
	tg_json_free(j);
	T_OK(strstr(json.data, "\"resolution_ns\":1000000") != NULL);
	T_OK(strstr(json.data, "\"advice\":[") != NULL);
	tg_buf_release(&text);
	tg_buf_release(&json);
}

/* In a container whose filter does not let us ask for perf events. */
static void test_filter(void)
{
	char line[600];
	struct tg_buf text;

	snprintf(line, sizeof(line), "python3 '%s/e2e/without_calls.py' EPERM \"$TG_EXE\" list",
		t_dir());
	text = said_by(line);
	T_OK(strstr(text.data, "perf events: ") != NULL);
	T_OK(strstr(text.data, "adds all CPU time of the tree") != NULL);
	tg_buf_release(&text);
}

int main(void)
{
	test_resolution();
	test_live();
	test_stretched();
	test_lacks();
	test_lacks_groups();
	test_denied();
	test_shares();
	test_instances();
	test_advice();
	if (getenv("TG_EXE")) {
		test_command_line();
		test_filter();
	}
	return t_done();
}
