/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/limits.h"

#include "sample/cgroup.h"
#include "sample/procfs.h"

#include "base/mem.h"

static void lower(int64_t *limit, char *why, size_t size, int64_t by, const char *name)
{
	if (by <= 0 || (*limit != TG_MISSING && by >= *limit))
		return;
	*limit = by;
	snprintf(why, size, "%s", name);
}

static int64_t machine_cores(struct tg_env *env)
{
	const struct tg_text *text;
	struct tg_cpu_line line;
	struct tg_cursor s;
	int64_t n = 0;

	if (tg_env_read(env, "sys/devices/system/cpu/online") > 0 &&
		(n = tg_procfs_cpulist(env->text->data, env->text->len)) > 0)
		return n;
	text = tg_env_stat(env);
	if (!text)
		return 0;
	s = tg_cursor_of(text->data, text->len);
	while (tg_procfs_cpu_next(&s, &line))
		n += line.cpu >= 0;
	return n;
}

/* How many CPUs the root may run on, and which. */
static int64_t affinity_cores(struct tg_env *env, char *cpus, size_t size)
{
	ssize_t n = env->root > 0 ? tg_env_read(env, "proc/%d/status", env->root)
				  : tg_env_read(env, "proc/self/status");
	struct tg_cursor list;
	int64_t cores;
	size_t len;

	if (n <= 0 || tg_procfs_key_text(
			      env->text->data, env->text->len, "Cpus_allowed_list:", &list) < 0)
		return 0;
	cores = tg_procfs_cpulist(list.p, (size_t)(list.end - list.p));
	len = strcspn(list.p, "\n");
	if (cores > 0 && len < size)
		snprintf(cpus, size, "%.*s", (int)len, list.p);
	return cores;
}

void tg_limits_find(struct tg_env *env, struct tg_limits *out)
{
	struct tg_cgroup g;
	int64_t total, cpuset = 0, quota = TG_MISSING, memory = TG_MISSING;

	*out = (struct tg_limits){ .cores_milli = TG_MISSING, .memory_bytes = TG_MISSING };
	if (tg_cgroup_find(env, env->root, "cpuset", &g) == 0)
		cpuset = tg_cgroup_cpuset(env, g);
	if (tg_cgroup_find(env, env->root, "cpu", &g) == 0)
		quota = tg_cgroup_quota_milli(env, &g);
	if (tg_cgroup_find(env, env->root, "memory", &g) == 0)
		memory = tg_cgroup_memory_limit(env, g);
	/* a cpuset also narrows affinity: it comes first, to be named as the cause */
	lower(&out->cores_milli, out->cores_why, sizeof(out->cores_why), machine_cores(env) * 1000,
		"machine");
	lower(&out->cores_milli, out->cores_why, sizeof(out->cores_why), TG_MAX(cpuset, 0) * 1000,
		"cpuset");
	lower(&out->cores_milli, out->cores_why, sizeof(out->cores_why),
		affinity_cores(env, out->cpus, sizeof(out->cpus)) * 1000, "affinity");
	lower(&out->cores_milli, out->cores_why, sizeof(out->cores_why), quota, "cgroup quota");
	if (tg_env_read(env, "proc/meminfo") > 0 &&
		tg_procfs_key(env->text->data, env->text->len, "MemTotal:", &total))
		lower(&out->memory_bytes, out->memory_why, sizeof(out->memory_why), total,
			"machine");
	lower(&out->memory_bytes, out->memory_why, sizeof(out->memory_why), memory, "cgroup limit");
}
