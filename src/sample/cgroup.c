/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/cgroup.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

/* A byte count so large that it says "no limit": v1 has no other word for it. */
#define NO_LIMIT (INT64_C(1) << 62)

/* The path of pid's group for the controller, as /proc/PID/cgroup has it. */
static int group_path(struct tg_env *env, pid_t pid, const char *controller, char *path, bool *v2)
{
	struct tg_cgroup_line line;
	struct tg_cursor s;
	ssize_t n = pid > 0 ? tg_env_read(env, "proc/%d/cgroup", pid)
			    : tg_env_read(env, "proc/self/cgroup");
	bool found = false;

	if (n < 0)
		return (int)n;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_procfs_cgroup_next(&s, &line)) {
		size_t len = (size_t)(line.path.end - line.path.p);
		bool is_v2 = line.controllers.p == line.controllers.end;

		/* a controller that v1 has is not v2's, wherever the lines are */
		if (len >= TG_PATH_MAX ||
			(!tg_cursor_has(line.controllers, controller) && !is_v2) ||
			(found && is_v2))
			continue;
		memcpy(path, line.path.p, len);
		path[len] = '\0';
		*v2 = is_v2;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

/* What is left of `path` below `root`, or NULL when it is not below it. */
static const char *below(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (n == 1) /* "/" */
		return path;
	if (strncmp(path, root, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

static bool climbs(const char *path)
{
	return strstr(path, "/..") != NULL; /* a group outside our namespace */
}

static bool exists(const struct tg_env *env, const struct tg_cgroup *g, const char *file)
{
	int fd = tg_cgroup_open(env, g, file);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * A container without a namespace of its own has the mount of just its group, and the group's
 * full path; one with a namespace has "/" twice. A mount that shows more of the hierarchy shows
 * more limits, too, so it is taken first.
 */
int tg_cgroup_find(struct tg_env *env, pid_t pid, const char *controller, struct tg_cgroup *out)
{
	char path[TG_PATH_MAX];
	struct tg_mount_line mount;
	size_t best = SIZE_MAX;
	struct tg_cursor s;
	bool v2 = false;
	int r = group_path(env, pid, controller, path, &v2);

	if (r < 0)
		return r;
	if (climbs(path))
		return -ENOENT;
	if (tg_env_read(env, "proc/self/mountinfo") <= 0)
		return -ENOENT;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_procfs_mount_next(&s, &mount)) {
		const char *rest = below(path, mount.root);
		/* an unrelated root is better than nothing: the group is then the mount itself */
		size_t cost = rest ? strlen(mount.root) : TG_PATH_MAX;
		int n;

		if (strcmp(mount.fstype, v2 ? "cgroup2" : "cgroup") != 0 ||
			(!v2 && !tg_cursor_has(mount.options, controller)) || cost >= best)
			continue;
		if (!rest || !strcmp(rest, "/"))
			rest = "";
		n = snprintf(out->path, sizeof(out->path), "%s%s", mount.point, rest);
		if (n < 0 || (size_t)n >= sizeof(out->path))
			continue;
		out->top_len = strlen(mount.point);
		best = cost;
	}
	if (best == SIZE_MAX)
		return -ENOENT;
	out->v2 = v2;
	out->whole = v2 ? !exists(env, out, "cgroup.events") : exists(env, out, "release_agent");
	return 0;
}

bool tg_cgroup_up(struct tg_cgroup *g)
{
	char *slash = strrchr(g->path, '/');

	if (!slash || (size_t)(slash - g->path) < g->top_len)
		return false;
	*slash = '\0';
	return true;
}

ssize_t tg_cgroup_read(struct tg_env *env, const struct tg_cgroup *g, const char *file)
{
	return tg_env_read(env, "%s/%s", g->path, file);
}

int tg_cgroup_open(const struct tg_env *env, const struct tg_cgroup *g, const char *file)
{
	return tg_env_open(env, "%s/%s", g->path, file);
}

int64_t tg_cgroup_cpu_ns(struct tg_env *env, int fd, bool v2)
{
	struct tg_cursor s;
	int64_t v;

	if (fd < 0 || tg_text_pread(env->text, fd) <= 0)
		return TG_MISSING;
	if (v2)
		return tg_procfs_key(env->text->data, env->text->len, "usage_usec ", &v)
			       ? v * TG_NS_PER_US
			       : TG_MISSING;
	s = tg_cursor_of(env->text->data, env->text->len);
	return tg_cursor_i64(&s, &v) ? v : TG_MISSING;
}

/* A file with one number; "max" and what cannot be read is no limit. */
static int64_t number_in(struct tg_env *env, const struct tg_cgroup *g, const char *file)
{
	struct tg_cursor s;
	int64_t v;

	if (tg_cgroup_read(env, g, file) <= 0)
		return TG_MISSING;
	s = tg_cursor_of(env->text->data, env->text->len);
	return tg_cursor_i64(&s, &v) && v >= 0 && v < NO_LIMIT ? v : TG_MISSING;
}

static int64_t lesser(int64_t a, int64_t b)
{
	if (a == TG_MISSING || b == TG_MISSING)
		return a == TG_MISSING ? b : a;
	return TG_MIN(a, b);
}

int64_t tg_cgroup_memory_limit(struct tg_env *env, struct tg_cgroup g)
{
	int64_t least = TG_MISSING;

	do {
		if (g.v2) {
			least = lesser(least, number_in(env, &g, "memory.max"));
			least = lesser(least, number_in(env, &g, "memory.high"));
		} else {
			least = lesser(least, number_in(env, &g, "memory.limit_in_bytes"));
		}
	} while (tg_cgroup_up(&g));
	return least;
}

/* v2: "50000 100000" or "max 100000"; v1: -1 where there is none */
static int64_t quota_of(struct tg_env *env, const struct tg_cgroup *g)
{
	int64_t quota, period;

	if (g->v2) {
		struct tg_cursor s;

		if (tg_cgroup_read(env, g, "cpu.max") <= 0)
			return TG_MISSING;
		s = tg_cursor_of(env->text->data, env->text->len);
		if (!tg_cursor_i64(&s, &quota) || !tg_cursor_i64(&s, &period))
			return TG_MISSING;
	} else {
		quota = number_in(env, g, "cpu.cfs_quota_us");
		period = number_in(env, g, "cpu.cfs_period_us");
	}
	if (quota <= 0 || period <= 0 || __builtin_mul_overflow(quota, 1000, &quota))
		return TG_MISSING;
	return TG_MAX(quota / period, 1);
}

int64_t tg_cgroup_quota_milli(struct tg_env *env, struct tg_cgroup g)
{
	int64_t least = TG_MISSING;

	do {
		least = lesser(least, quota_of(env, &g));
	} while (tg_cgroup_up(&g));
	return least;
}

int64_t tg_cgroup_cpuset(struct tg_env *env, struct tg_cgroup g)
{
	static const char *const file[] = { "cpuset.cpus.effective", "cpuset.effective_cpus",
		"cpuset.cpus" };

	do { /* v2 has the file only where the controller is on */
		for (size_t i = 0; i < TG_ARRAY_SIZE(file); i++) {
			int64_t n;

			if (tg_cgroup_read(env, &g, file[i]) <= 0)
				continue;
			n = tg_procfs_cpulist(env->text->data, env->text->len);
			if (n > 0)
				return n;
		}
	} while (tg_cgroup_up(&g));
	return TG_MISSING;
}
