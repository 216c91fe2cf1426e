/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU and memory of the whole machine, from /proc/stat and /proc/meminfo. */
#include <errno.h>
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum {
	BUSY,
	USER,
	SYSTEM,
	IOWAIT,
	STEAL,
	CORES,
	RUNNING,
	TOTAL,
	USED,
	USED_NO_CACHE,
	CACHE,
	SHMEM,
	SWAP
};

static const struct tg_metric metrics[] = {
	[BUSY] = { "node.cpu_busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"CPU time of all cores that was neither idle nor waiting for I/O",
		TG_TICK_USER_HZ },
	[USER] = { "node.cpu_user_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"of that, in programs, virtual machines included", TG_TICK_USER_HZ },
	[SYSTEM] = { "node.cpu_system_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"of that, in the kernel, interrupts included", TG_TICK_USER_HZ },
	[IOWAIT] = { "node.cpu_iowait_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"idle while a process waited for storage; a hint only, may fall", TG_TICK_USER_HZ },
	[STEAL] = { "node.cpu_steal_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"taken by the hypervisor for other machines", TG_TICK_USER_HZ },
	[CORES] = { "node.cores", "count", TG_GAUGE, TG_SCOPE_NODE, 0, "cores that are online" },
	[RUNNING] = { "node.procs_running", "count", TG_GAUGE, TG_SCOPE_NODE, 0,
		"threads that run or wait for a core" },
	[TOTAL] = { "node.mem_total_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"memory of the machine" },
	[USED] = { "node.mem_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"memory that is not available to programs: total - available" },
	[USED_NO_CACHE] = { "node.mem_used_nocache_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"total - free - buffers - cached: what free(1) and psutil have long called used" },
	[CACHE] = { "node.mem_cache_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"file cache of the machine, which goes when programs need room: buffers + cached - "
		"shared memory" },
	[SHMEM] = { "node.mem_shmem_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"shared memory and what lies in tmpfs, as in /dev/shm: it stays" },
	[SWAP] = { "node.swap_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"swap space that is in use" },
};

struct node {
	int meminfo_fd;
};

static int open_node(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct node *n;

	if (!tg_env_stat(env)) {
		snprintf(why, why_size, "/proc/stat cannot be read");
		return -ENOENT;
	}
	n = tg_xcalloc(1, sizeof(*n));
	n->meminfo_fd = tg_env_open(env, "proc/meminfo");
	*state = n;
	return 0;
}

static void read_cpu(struct tg_env *env, struct tg_out *out)
{
	const struct tg_text *text = tg_env_stat(env);
	struct tg_cpu_line c;
	int64_t cores = 0, running;
	struct tg_cursor s;

	if (!text)
		return;
	s = tg_cursor_of(text->data, text->len);
	while (tg_procfs_cpu_next(&s, &c)) {
		int64_t user = c.user + c.nice, system = c.system + c.irq + c.softirq;

		if (c.cpu >= 0) {
			cores++;
			continue;
		}
		tg_out_put(out, 0, BUSY, (user + system + c.steal) * env->tick_ns);
		tg_out_put(out, 0, USER, user * env->tick_ns);
		tg_out_put(out, 0, SYSTEM, system * env->tick_ns);
		tg_out_put(out, 0, IOWAIT, c.iowait * env->tick_ns);
		tg_out_put(out, 0, STEAL, c.steal * env->tick_ns);
	}
	if (cores)
		tg_out_put(out, 0, CORES, cores);
	if (tg_procfs_key(text->data, text->len, "procs_running ", &running))
		tg_out_put(out, 0, RUNNING, running);
}

static void read_memory(const struct node *n, struct tg_env *env, struct tg_out *out)
{
	struct tg_meminfo m;

	if (n->meminfo_fd < 0 || tg_text_pread(env->text, n->meminfo_fd) <= 0)
		return;
	tg_procfs_meminfo(env->text->data, env->text->len, &m);
	if (m.swap_total != TG_MISSING && m.swap_free != TG_MISSING)
		tg_out_put(out, 0, SWAP, m.swap_total - m.swap_free);
	tg_out_put(out, 0, SHMEM, m.shmem);
	if (m.buffers != TG_MISSING && m.cached != TG_MISSING && m.shmem != TG_MISSING)
		tg_out_put(out, 0, CACHE, m.buffers + m.cached - m.shmem);
	if (m.total == TG_MISSING)
		return;
	tg_out_put(out, 0, TOTAL, m.total);
	if (m.available != TG_MISSING)
		tg_out_put(out, 0, USED, m.total - m.available);
	if (m.free != TG_MISSING && m.buffers != TG_MISSING && m.cached != TG_MISSING &&
		m.sreclaimable != TG_MISSING)
		tg_out_put(out, 0, USED_NO_CACHE,
			m.total - m.free - m.buffers - m.cached - m.sreclaimable);
}

static void read_node(void *state, struct tg_env *env, struct tg_out *out)
{
	read_cpu(env, out);
	read_memory(state, env, out);
}

static void close_node(void *state)
{
	struct node *n = state;

	if (n->meminfo_fd >= 0)
		close(n->meminfo_fd);
	free(n);
}

const struct tg_source tg_source_node = {
	.name = "node",
	.help = "CPU and memory of the whole machine",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 10 * TG_NS_PER_MS,
	.open = open_node,
	.read = read_node,
	.close = close_node,
};
