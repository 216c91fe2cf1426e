/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the control group that the tree runs in, as source_cgroup.c has its CPU time; and what
 * of it came to an end for want of memory.
 */
#include <errno.h>

#include "sample/group.h"
#include "sample/sampler.h"

#include "base/clock.h"
#include "base/mem.h"

enum { MEMORY, WORKING, CACHE, LIMIT, OOMS, OOM_KILLS, OOM_GROUP_KILLS, METRICS };

static const struct tg_metric metrics[METRICS] = {
	[MEMORY] = { "cgroup.memory_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"memory charged to the group, file cache included" },
	[WORKING] = { "cgroup.memory_working_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"of that, without file cache that was not used lately" },
	[CACHE] = { "cgroup.memory_cache_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"of that, file cache, tmpfs and shared memory included" },
	[LIMIT] = { "cgroup.memory_limit_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"least memory limit of the group and those above it" },
	[OOMS] = { "cgroup.ooms", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"times that its limit, or one of a group below, left no memory to be had" },
	[OOM_KILLS] = { "cgroup.oom_kills", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"processes that were killed for want of memory" },
	[OOM_GROUP_KILLS] = { "cgroup.oom_group_kills", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"times that a whole group was killed for want of memory" },
};

struct cgroup {
	struct tg_group_place place;
	struct tg_cgroup group; /* path "": none of its own */
	struct tg_group_file used, stat, events;
	struct tg_group_sum sum[METRICS];
	int64_t limit;
};

static void close_files(struct cgroup *c)
{
	tg_group_file_close(&c->used);
	tg_group_file_close(&c->stat);
	tg_group_file_close(&c->events);
}

static void open_files(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup *g = &c->group;

	if (tg_cgroup_find(env, env->root, "memory", g) < 0 || g->whole) {
		g->path[0] = '\0';
		close_files(c);
		return;
	}
	tg_group_file_open(&c->used, env, g, "memory.current", "memory.usage_in_bytes");
	tg_group_file_open(&c->stat, env, g, "memory.stat", "memory.stat");
	tg_group_file_open(&c->events, env, g, "memory.events", "memory.oom_control");
}

static int open_cgroup(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct tg_cgroup g;
	struct cgroup *c;
	int r = tg_cgroup_find(env, env->root, "memory", &g);

	if (r < 0) {
		snprintf(why, why_size, "no control group with memory accounting");
		return r;
	}
	c = tg_xcalloc(1, sizeof(*c));
	c->used.fd = c->stat.fd = c->events.fd = -1;
	c->limit = TG_MISSING;
	for (size_t i = 0; i < METRICS; i++)
		c->sum[i] = TG_GROUP_SUM_INIT;
	*state = c;
	return 0;
}

static void read_events(struct cgroup *c, struct tg_env *env, struct tg_out *out)
{
	static const char *const name[METRICS] = {
		[OOMS] = "oom ", [OOM_KILLS] = "oom_kill ", [OOM_GROUP_KILLS] = "oom_group_kill "
	};

	if (!tg_group_file_read(&c->events, env))
		return;
	for (size_t i = OOMS; i <= OOM_GROUP_KILLS; i++)
		tg_group_sum_put(&c->sum[i], &c->events, out, i, tg_group_key(env, name[i]));
}

static void read_cgroup(void *state, struct tg_env *env, struct tg_out *out)
{
	struct cgroup *c = state;
	enum tg_group_look look;
	int64_t used, inactive;

	if (env->root <= 0)
		return;
	look = tg_group_look(&c->place, env);
	if (look == TG_GROUP_MOVED)
		open_files(c, env);
	if (look != TG_GROUP_SAME)
		c->limit = c->group.path[0] ? tg_cgroup_memory_limit(env, c->group) : TG_MISSING;
	if (!tg_group_file_read(&c->used, env) ||
		!tg_procfs_number(env->text->data, env->text->len, &used))
		return;
	tg_out_put(out, 0, MEMORY, used);
	tg_out_put(out, 0, LIMIT, c->limit);
	read_events(c, env, out);
	/* reading it makes the kernel add up all cores: not for every edge of a cell */
	if ((env->flags & TG_READ_EDGE) || !tg_group_file_read(&c->stat, env))
		return;
	inactive = tg_group_key(env, c->used.v2 ? "inactive_file " : "total_inactive_file ");
	if (inactive != TG_MISSING)
		tg_out_put(out, 0, WORKING, used > inactive ? used - inactive : 0);
	tg_out_put(out, 0, CACHE, tg_group_key(env, c->used.v2 ? "file " : "total_cache "));
}

static void lacks(const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	(void)state;
	struct tg_cgroup g;
	int r = tg_cgroup_find(env, env->root, "memory", &g);

	if (r < 0)
		snprintf(why, why_size, "no control group counts it");
	else if (g.whole)
		snprintf(
			why, why_size, "the processes are in no group of their own that counts it");
	else if (metric == LIMIT)
		snprintf(why, why_size, "neither the group nor one above it has a limit");
	else if (metric == OOMS && !g.v2)
		snprintf(why, why_size, "control groups of version 1 do not count it");
	else if (metric == OOM_GROUP_KILLS)
		snprintf(why, why_size,
			g.v2 ? "this kernel does not count it"
			     : "control groups of version 1 do not count it");
}

static void close_cgroup(void *state)
{
	struct cgroup *c = state;

	close_files(c);
	free(c);
}

const struct tg_source tg_source_cgroup_memory = {
	.name = "cgroup_memory",
	.help = "memory of the control group of the tree, and what was killed for want of it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.edge = true,
	.open = open_cgroup,
	.lacks = lacks,
	.read = read_cgroup,
	.close = close_cgroup,
};
