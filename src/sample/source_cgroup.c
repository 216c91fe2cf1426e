/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control group that the tree runs in: what a container or a batch job is charged for, which
 * may include processes outside the tree. The group of the whole machine is no job's, and is
 * left out. A tree that is moved to another group is followed within a second.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/cgroup.h"
#include "sample/sampler.h"

#include "base/clock.h"
#include "base/mem.h"

enum { CPU, THROTTLED, MEMORY, WORKING, LIMIT, OOM_KILLS };

static const struct tg_metric metrics[] = {
	[CPU] = { "cgroup.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"CPU time charged to the group, short-lived processes included" },
	[THROTTLED] = { "cgroup.throttled_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"time in which the CPU quota held the group back" },
	[MEMORY] = { "cgroup.memory_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"memory charged to the group, file cache included" },
	[WORKING] = { "cgroup.memory_working_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"of that, without file cache that was not used lately" },
	[LIMIT] = { "cgroup.memory_limit_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"least memory limit of the group and those above it" },
	[OOM_KILLS] = { "cgroup.oom_kills", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"processes that were killed for want of memory" },
};

enum { FD_CPU, FD_THROTTLED, FD_MEMORY, FD_MEMORY_STAT, FD_OOM, FDS };

struct cgroup {
	pid_t root;
	uint64_t group; /* of /proc/ROOT/cgroup: has the tree been moved? */
	int fd[FDS];
	bool cpu_v2, throttled_v2, memory_v2;
	int64_t limit;
};

static void close_files(struct cgroup *c)
{
	for (size_t i = 0; i < FDS; i++) {
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
}

static void open_files(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup g;

	if (tg_cgroup_find(env, env->root, "cpuacct", &g) == 0 && !g.whole) {
		c->cpu_v2 = g.v2;
		c->fd[FD_CPU] = tg_cgroup_open(env, &g, g.v2 ? "cpu.stat" : "cpuacct.usage");
	}
	if (tg_cgroup_find(env, env->root, "cpu", &g) == 0 && !g.whole) {
		c->throttled_v2 = g.v2;
		c->fd[FD_THROTTLED] = tg_cgroup_open(env, &g, "cpu.stat");
	}
	c->limit = TG_MISSING;
	if (tg_cgroup_find(env, env->root, "memory", &g) < 0 || g.whole)
		return;
	c->memory_v2 = g.v2;
	c->fd[FD_MEMORY] =
		tg_cgroup_open(env, &g, g.v2 ? "memory.current" : "memory.usage_in_bytes");
	c->fd[FD_MEMORY_STAT] = tg_cgroup_open(env, &g, "memory.stat");
	c->fd[FD_OOM] = tg_cgroup_open(env, &g, g.v2 ? "memory.events" : "memory.oom_control");
	c->limit = tg_cgroup_memory_limit(env, g);
}

/* At a new root, and once a second: limits change, and processes are moved. */
static void follow(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup g;
	uint64_t now;

	if (c->root == env->root && !(env->flags & TG_READ_REFRESH))
		return;
	if (tg_env_read(env, "proc/%d/cgroup", env->root) <= 0)
		return; /* it has ended; what it left in its group can still be read */
	now = tg_text_digest(env->text);
	if (c->root != env->root || c->group != now) {
		close_files(c);
		open_files(c, env);
		c->root = env->root;
		c->group = now;
	} else if (tg_cgroup_find(env, env->root, "memory", &g) == 0 && !g.whole) {
		c->limit = tg_cgroup_memory_limit(env, g);
	}
}

static int open_cgroup(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct tg_cgroup cpu, memory;
	struct cgroup *c;
	int r = tg_cgroup_find(env, env->root, "cpu", &cpu);
	int q = tg_cgroup_find(env, env->root, "memory", &memory);

	if (r < 0 && q < 0) {
		snprintf(why, why_size, "no control group with CPU or memory accounting");
		return r;
	}
	if ((r < 0 || cpu.whole) && (q < 0 || memory.whole) && env->root > 0) {
		snprintf(why, why_size, "the processes are in no group of their own");
		return -ENOENT;
	}
	c = tg_xcalloc(1, sizeof(*c));
	for (size_t i = 0; i < FDS; i++)
		c->fd[i] = -1;
	*state = c;
	return 0;
}

static bool again(const struct cgroup *c, struct tg_env *env, int file)
{
	return c->fd[file] >= 0 && tg_text_pread(env->text, c->fd[file]) > 0;
}

static bool key(const struct tg_env *env, const char *name, int64_t *value)
{
	return tg_procfs_key(env->text->data, env->text->len, name, value);
}

/* The whole of the file is one number. */
static bool number(const struct tg_env *env, int64_t *value)
{
	struct tg_cursor s = tg_cursor_of(env->text->data, env->text->len);

	return tg_cursor_i64(&s, value);
}

static void read_cpu(const struct cgroup *c, struct tg_env *env, struct tg_out *out)
{
	int64_t v;

	tg_out_put(out, 0, CPU, tg_cgroup_cpu_ns(env, c->fd[FD_CPU], c->cpu_v2));
	if (again(c, env, FD_THROTTLED)) {
		if (!c->throttled_v2 && key(env, "throttled_time ", &v))
			tg_out_put(out, 0, THROTTLED, v);
		if (c->throttled_v2 && key(env, "throttled_usec ", &v))
			tg_out_put(out, 0, THROTTLED, v * TG_NS_PER_US);
	}
}

static void read_memory(const struct cgroup *c, struct tg_env *env, struct tg_out *out)
{
	int64_t used, inactive, kills;

	if (!again(c, env, FD_MEMORY) || !number(env, &used))
		return;
	tg_out_put(out, 0, MEMORY, used);
	if (c->limit != TG_MISSING)
		tg_out_put(out, 0, LIMIT, c->limit);
	if (again(c, env, FD_OOM) && key(env, "oom_kill ", &kills))
		tg_out_put(out, 0, OOM_KILLS, kills);
	/* reading it makes the kernel add up all cores: not for every edge of a cell */
	if (!(env->flags & TG_READ_EDGE) && again(c, env, FD_MEMORY_STAT) &&
		key(env, c->memory_v2 ? "inactive_file " : "total_inactive_file ", &inactive))
		tg_out_put(out, 0, WORKING, TG_MAX(used - inactive, 0));
}

static void read_cgroup(void *state, struct tg_env *env, struct tg_out *out)
{
	struct cgroup *c = state;

	if (env->root <= 0)
		return;
	follow(c, env);
	read_cpu(c, env, out);
	read_memory(c, env, out);
}

static void close_cgroup(void *state)
{
	close_files(state);
	free(state);
}

const struct tg_source tg_source_cgroup = {
	.name = "cgroup",
	.help = "the control group of the tree: what a container or batch job is charged for",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 10 * TG_NS_PER_MS,
	.edge = true,
	.open = open_cgroup,
	.read = read_cgroup,
	.close = close_cgroup,
};
