/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of the control group that the tree runs in: what a container or a batch job is charged
 * for, which may include processes outside the tree. The group of the whole machine is no job's,
 * and is left out. A tree that is moved to another group is followed within a second.
 */
#include <errno.h>

#include "sample/group.h"
#include "sample/sampler.h"

#include "base/clock.h"
#include "base/mem.h"

enum { CPU, THROTTLED, THROTTLED_PERIODS, METRICS };

static const struct tg_metric metrics[METRICS] = {
	[CPU] = { "cgroup.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"CPU time charged to the group, short-lived processes included", TG_TICK_CLOCK },
	[THROTTLED] = { "cgroup.throttled_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"time in which the least CPU quota, of the group or one above, held it back" },
	[THROTTLED_PERIODS] = { "cgroup.throttled_periods", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"periods of that quota in which it did" },
};

struct cgroup {
	struct tg_group_place place;
	struct tg_cgroup cpu; /* where its quota is looked for; path "": nowhere */
	struct tg_group_file usage, stat;
	struct tg_group_sum sum[METRICS];
};

/* Throttled is who has a quota, which may be a group above. */
static void find_quota(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup g = c->cpu;

	if (g.path[0] && (tg_cgroup_quota_milli(env, &g) != TG_MISSING || !g.whole))
		tg_group_file_open(&c->stat, env, &g, "cpu.stat", "cpu.stat");
	else
		tg_group_file_close(&c->stat);
}

static void open_files(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup g;

	if (tg_cgroup_find(env, env->root, "cpuacct", &g) == 0 && !g.whole)
		tg_group_file_open(&c->usage, env, &g, "cpu.stat", "cpuacct.usage");
	else
		tg_group_file_close(&c->usage);
	if (tg_cgroup_find(env, env->root, "cpu", &c->cpu) < 0)
		c->cpu.path[0] = '\0';
}

static int open_cgroup(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct tg_cgroup g;
	struct cgroup *c;
	int r = tg_cgroup_find(env, env->root, "cpu", &g);

	if (r < 0) {
		snprintf(why, why_size, "no control group with CPU accounting");
		return r;
	}
	c = tg_xcalloc(1, sizeof(*c));
	c->usage.fd = c->stat.fd = -1;
	for (size_t i = 0; i < METRICS; i++)
		c->sum[i] = TG_GROUP_SUM_INIT;
	*state = c;
	return 0;
}

static void read_cgroup(void *state, struct tg_env *env, struct tg_out *out)
{
	struct cgroup *c = state;
	enum tg_group_look look;
	int64_t v;

	if (env->root <= 0)
		return;
	look = tg_group_look(&c->place, env);
	if (look == TG_GROUP_MOVED)
		open_files(c, env);
	if (look != TG_GROUP_SAME)
		find_quota(c, env);
	tg_group_sum_put(
		&c->sum[CPU], &c->usage, out, CPU, tg_cgroup_cpu_ns(env, c->usage.fd, c->usage.v2));
	if (!tg_group_file_read(&c->stat, env))
		return;
	tg_group_sum_put(&c->sum[THROTTLED_PERIODS], &c->stat, out, THROTTLED_PERIODS,
		tg_group_key(env, "nr_throttled "));
	v = tg_group_key(env, c->stat.v2 ? "throttled_usec " : "throttled_time ");
	if (v != TG_MISSING && c->stat.v2 && __builtin_mul_overflow(v, TG_NS_PER_US, &v))
		v = TG_MISSING;
	tg_group_sum_put(&c->sum[THROTTLED], &c->stat, out, THROTTLED, v);
}

static void lacks(const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	(void)state;
	struct tg_cgroup g;
	int r = tg_cgroup_find(env, env->root, metric == CPU ? "cpuacct" : "cpu", &g);

	if (r < 0)
		snprintf(why, why_size, "no control group counts it");
	else if (g.whole && metric != CPU)
		snprintf(why, why_size,
			"the processes are in no group of their own, and none above has a quota");
	else if (g.whole)
		snprintf(
			why, why_size, "the processes are in no group of their own that counts it");
}

static void close_cgroup(void *state)
{
	struct cgroup *c = state;

	tg_group_file_close(&c->usage);
	tg_group_file_close(&c->stat);
	free(c);
}

const struct tg_source tg_source_cgroup = {
	.name = "cgroup",
	.help = "CPU time of the control group of the tree: what a container or batch job is "
		"charged "
		"for",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 10 * TG_NS_PER_MS,
	.edge = true,
	.open = open_cgroup,
	.lacks = lacks,
	.read = read_cgroup,
	.close = close_cgroup,
};
