/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU of the whole machine, from /proc/stat, which source core reads as well, once for both. */
#include <errno.h>
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum { BUSY, USER, SYSTEM, IOWAIT, STEAL, CORES, RUNNING };

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
};

static int open_node(struct tg_env *env, void **state, char *why, size_t why_size)
{
	*state = NULL;
	if (tg_env_stat(env))
		return 0;
	snprintf(why, why_size, "/proc/stat cannot be read");
	return -ENOENT;
}

static void read_node(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_text *text = tg_env_stat(env);
	struct tg_cpu_line c;
	int64_t cores = 0, running;
	struct tg_cursor s;

	(void)state;
	if (!text)
		return;
	s = tg_cursor_of(text->data, text->len);
	while (tg_procfs_cpu_next(&s, &c)) {
		int64_t user = c.user + c.nice, system = c.system + c.irq + c.softirq;

		if (c.cpu >= 0) {
			cores++;
			continue;
		}
		tg_out_put(out, 0, BUSY, tg_scaled(user + system + c.steal, env->tick_ns));
		tg_out_put(out, 0, USER, tg_scaled(user, env->tick_ns));
		tg_out_put(out, 0, SYSTEM, tg_scaled(system, env->tick_ns));
		tg_out_put(out, 0, IOWAIT, tg_scaled(c.iowait, env->tick_ns));
		tg_out_put(out, 0, STEAL, tg_scaled(c.steal, env->tick_ns));
	}
	if (cores)
		tg_out_put(out, 0, CORES, cores);
	if (tg_procfs_key(text->data, text->len, "procs_running ", &running))
		tg_out_put(out, 0, RUNNING, running);
}

static void close_node(void *state)
{
	(void)state;
}

const struct tg_source tg_source_node = {
	.name = "node",
	.help = "CPU of the whole machine",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 10 * TG_NS_PER_MS,
	.open = open_node,
	.read = read_node,
	.close = close_node,
};
