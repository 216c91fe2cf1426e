/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control group that the tree runs in: what a container or a batch job is charged for, which
 * may include processes outside the tree. The group of the whole machine is no job's, and is
 * left out. A tree that is moved to another group is followed within a second, and counters go on
 * from where they were.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/cgroup.h"
#include "sample/sampler.h"

#include "base/clock.h"
#include "base/mem.h"

enum {
	CPU,
	THROTTLED,
	THROTTLED_PERIODS,
	MEMORY,
	WORKING,
	CACHE,
	LIMIT,
	OOMS,
	OOM_KILLS,
	OOM_GROUP_KILLS,
	METRICS
};

static const struct tg_metric metrics[METRICS] = {
	[CPU] = { "cgroup.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"CPU time charged to the group, short-lived processes included", TG_TICK_CLOCK },
	[THROTTLED] = { "cgroup.throttled_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"time in which the least CPU quota, of the group or one above, held it back" },
	[THROTTLED_PERIODS] = { "cgroup.throttled_periods", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"periods of that quota in which it did" },
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

enum { FILE_CPU, FILE_THROTTLED, FILE_MEMORY, FILE_MEMORY_STAT, FILE_OOM, FILES };

struct file {
	int fd;
	unsigned opened; /* how often as another one than before */
	bool v2;
	char path[TG_PATH_MAX]; /* of its group */
};

struct cgroup {
	pid_t root;
	uint64_t group; /* of /proc/ROOT/cgroup: has the tree been moved? */
	struct tg_cgroup cpu, memory; /* where its limits are; path "": nowhere */
	struct file file[FILES];
	int64_t limit;
	struct sum {
		unsigned opened; /* of its file, as it was read last */
		int64_t last, shift;
	} sum[METRICS];
};

static void close_file(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Keep what is open already, so that one that was removed can still be read. */
static void open_file(struct file *f, struct tg_env *env, const struct tg_cgroup *g,
	const char *name_v2, const char *name_v1)
{
	if (f->fd >= 0 && f->v2 == g->v2 && !strcmp(f->path, g->path))
		return;
	f->opened += f->v2 != g->v2 || strcmp(f->path, g->path) != 0;
	close_file(f);
	f->v2 = g->v2;
	memcpy(f->path, g->path, sizeof(f->path));
	f->fd = tg_cgroup_open(env, g, g->v2 ? name_v2 : name_v1);
}

/* Throttled is who has a quota, which may be a group above. */
static void look_at_limits(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup g = c->cpu;

	if (g.path[0] && (tg_cgroup_quota_milli(env, &g) != TG_MISSING || !g.whole))
		open_file(&c->file[FILE_THROTTLED], env, &g, "cpu.stat", "cpu.stat");
	else
		close_file(&c->file[FILE_THROTTLED]);
	c->limit = c->memory.path[0] ? tg_cgroup_memory_limit(env, c->memory) : TG_MISSING;
}

static void open_files(struct cgroup *c, struct tg_env *env)
{
	struct tg_cgroup g;

	if (tg_cgroup_find(env, env->root, "cpuacct", &g) == 0 && !g.whole)
		open_file(&c->file[FILE_CPU], env, &g, "cpu.stat", "cpuacct.usage");
	else
		close_file(&c->file[FILE_CPU]);
	if (tg_cgroup_find(env, env->root, "cpu", &c->cpu) < 0)
		c->cpu.path[0] = '\0';
	if (tg_cgroup_find(env, env->root, "memory", &c->memory) < 0 || c->memory.whole) {
		c->memory.path[0] = '\0';
		for (int i = FILE_MEMORY; i <= FILE_OOM; i++)
			close_file(&c->file[i]);
		return;
	}
	g = c->memory;
	open_file(&c->file[FILE_MEMORY], env, &g, "memory.current", "memory.usage_in_bytes");
	open_file(&c->file[FILE_MEMORY_STAT], env, &g, "memory.stat", "memory.stat");
	open_file(&c->file[FILE_OOM], env, &g, "memory.events", "memory.oom_control");
}

/* At a new root, and once a second: limits change, and processes are moved. */
static void follow(struct cgroup *c, struct tg_env *env)
{
	uint64_t now;

	if (c->root == env->root && !(env->flags & TG_READ_REFRESH))
		return;
	if (tg_env_read(env, "proc/%d/cgroup", env->root) <= 0)
		return; /* it has ended; what it left in its group can still be read */
	now = tg_text_digest(env->text);
	if (c->root != env->root || c->group != now)
		open_files(c, env);
	c->root = env->root;
	c->group = now;
	look_at_limits(c, env);
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
	for (size_t i = 0; i < FILES; i++)
		c->file[i].fd = -1;
	for (size_t i = 0; i < METRICS; i++)
		c->sum[i].last = TG_MISSING;
	*state = c;
	return 0;
}

static bool again(const struct cgroup *c, struct tg_env *env, int file)
{
	return c->file[file].fd >= 0 && tg_text_pread(env->text, c->file[file].fd) > 0;
}

static int64_t key(const struct tg_env *env, const char *name)
{
	int64_t v;

	return tg_procfs_key(env->text->data, env->text->len, name, &v) ? v : TG_MISSING;
}

/* The whole of the file is one number. */
static bool number(const struct tg_env *env, int64_t *value)
{
	struct tg_cursor s = tg_cursor_of(env->text->data, env->text->len);

	return tg_cursor_i64(&s, value);
}

/* What another group had counted before we came to it is not ours. */
static void put_sum(struct cgroup *c, struct tg_out *out, int metric, int file, int64_t v)
{
	struct sum *sum = &c->sum[metric];

	if (v == TG_MISSING)
		return;
	if (sum->opened != c->file[file].opened && sum->last != TG_MISSING)
		sum->shift = (int64_t)((uint64_t)sum->last - (uint64_t)v);
	sum->opened = c->file[file].opened;
	sum->last = (int64_t)((uint64_t)v + (uint64_t)sum->shift);
	tg_out_put(out, 0, (size_t)metric, sum->last);
}

static void read_cpu(struct cgroup *c, struct tg_env *env, struct tg_out *out)
{
	const struct file *cpu = &c->file[FILE_CPU];
	int64_t v;

	put_sum(c, out, CPU, FILE_CPU, tg_cgroup_cpu_ns(env, cpu->fd, cpu->v2));
	if (!again(c, env, FILE_THROTTLED))
		return;
	put_sum(c, out, THROTTLED_PERIODS, FILE_THROTTLED, key(env, "nr_throttled "));
	v = key(env, c->file[FILE_THROTTLED].v2 ? "throttled_usec " : "throttled_time ");
	if (v != TG_MISSING && c->file[FILE_THROTTLED].v2 &&
		__builtin_mul_overflow(v, TG_NS_PER_US, &v))
		v = TG_MISSING;
	put_sum(c, out, THROTTLED, FILE_THROTTLED, v);
}

static void read_memory(struct cgroup *c, struct tg_env *env, struct tg_out *out)
{
	bool v2 = c->file[FILE_MEMORY].v2;
	int64_t used, inactive;

	if (!again(c, env, FILE_MEMORY) || !number(env, &used))
		return;
	tg_out_put(out, 0, MEMORY, used);
	tg_out_put(out, 0, LIMIT, c->limit);
	if (again(c, env, FILE_OOM)) {
		put_sum(c, out, OOMS, FILE_OOM, key(env, "oom "));
		put_sum(c, out, OOM_KILLS, FILE_OOM, key(env, "oom_kill "));
		put_sum(c, out, OOM_GROUP_KILLS, FILE_OOM, key(env, "oom_group_kill "));
	}
	/* reading it makes the kernel add up all cores: not for every edge of a cell */
	if ((env->flags & TG_READ_EDGE) || !again(c, env, FILE_MEMORY_STAT))
		return;
	inactive = key(env, v2 ? "inactive_file " : "total_inactive_file ");
	if (inactive != TG_MISSING)
		tg_out_put(out, 0, WORKING, used > inactive ? used - inactive : 0);
	tg_out_put(out, 0, CACHE, key(env, v2 ? "file " : "total_cache "));
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

static void lacks(struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	bool throttled = metric == THROTTLED || metric == THROTTLED_PERIODS;
	struct tg_cgroup g;
	int r = tg_cgroup_find(env, env->root,
		metric == CPU ? "cpuacct"
		: throttled   ? "cpu"
			      : "memory",
		&g);

	if (r < 0)
		snprintf(why, why_size, "no control group counts it");
	else if (g.whole && throttled)
		snprintf(why, why_size,
			"the processes are in no group of their own, and none above has a quota");
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

	for (size_t i = 0; i < FILES; i++)
		close_file(&c->file[i]);
	free(c);
}

const struct tg_source tg_source_cgroup = {
	.name = "cgroup",
	.help = "the control group of the tree: what a container or batch job is charged for",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 10 * TG_NS_PER_MS,
	.edge = true,
	.open = open_cgroup,
	.lacks = lacks,
	.read = read_cgroup,
	.close = close_cgroup,
};
