/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/cgroup.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

/* A byte count so large that it says "no limit": v1 has no other word for it. */
#define NO_LIMIT (INT64_C(1) << 62)

int tg_cgroup_path(const char *text, size_t n, const char *controller, char *path, bool *v2)
{
	struct tg_cursor s = tg_cursor_of(text, n);
	struct tg_cgroup_line line;
	bool found = false;

	while (tg_procfs_cgroup_next(&s, &line)) {
		size_t len = (size_t)(line.path.end - line.path.p);
		bool is_v2 = line.controllers.p == line.controllers.end;

		/* a controller that v1 has is not v2's, wherever the lines are */
		if (len >= TG_PATH_MAX || memchr(line.path.p, '\0', len) ||
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

/* How many levels above our namespace it begins: "/../../job" is of 2. */
static size_t climbs(const char *path)
{
	size_t n = 0;

	while (!strncmp(path + 3 * n, "/..", 3) && (!path[3 * n + 3] || path[3 * n + 3] == '/'))
		n++;
	return n;
}

static bool has_dots(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3)
		if (!p[3] || p[3] == '/')
			return true;
	return false;
}

/* What is left of `path` below `root`, or NULL when it is not below it. */
static const char *below(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (n == 1) /* "/" */
		n = 0;
	if (strncmp(path, root, n) != 0 || (path[n] && path[n] != '/') || has_dots(path + n))
		return NULL;
	return strcmp(path + n, "/") != 0 ? path + n : "";
}

/* Whether `root` is above our namespace, and so above `path`, by names that we are not told. */
static bool is_above(const char *root, const char *path)
{
	return climbs(root) > climbs(path) && !root[3 * climbs(root)];
}

/*
 * A container without a namespace of its own has the mount of just its group, and the group's
 * full path; one with a namespace has "/" twice. A mount that shows more of the hierarchy shows
 * more limits, too, so it is taken first.
 */
int tg_cgroup_place(const char *text, size_t len, const char *controller, const char *path, bool v2,
	struct tg_cgroup *out)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	struct tg_mount_line mount;
	size_t best = SIZE_MAX;

	while (tg_procfs_mount_next(&s, &mount)) {
		const char *rest = below(path, mount.root);
		bool above = !rest && is_above(mount.root, path);
		/* an unrelated root is better than nothing: the group is then the mount itself */
		size_t cost = rest ? strlen(mount.root) : TG_PATH_MAX + (size_t)!above;

		if (strcmp(mount.fstype, v2 ? "cgroup2" : "cgroup") != 0 ||
			(!v2 && !tg_cursor_has(mount.options, controller)) || cost >= best ||
			(!rest && !above && (climbs(mount.root) || climbs(path))) ||
			strlen(mount.point) + (rest ? strlen(rest) : 0) >= sizeof(out->path))
			continue;
		snprintf(out->path, sizeof(out->path), "%s%s", mount.point, rest ? rest : "");
		out->top_len = strlen(mount.point);
		out->whole = above;
		best = cost;
	}
	out->v2 = v2;
	return best == SIZE_MAX ? -ENOENT : 0;
}

static bool exists(const struct tg_env *env, const struct tg_cgroup *g, const char *file)
{
	int fd = tg_cgroup_open(env, g, file);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int tg_cgroup_find(struct tg_env *env, pid_t pid, const char *controller, struct tg_cgroup *out)
{
	char path[TG_PATH_MAX];
	bool v2 = false;
	ssize_t n = pid > 0 ? tg_env_read(env, "proc/%d/cgroup", pid)
			    : tg_env_read(env, "proc/self/cgroup");
	int r;

	if (n < 0)
		return (int)n;
	r = tg_cgroup_path(env->text->data, env->text->len, controller, path, &v2);
	if (r < 0)
		return r;
	if (tg_env_read(env, "proc/self/mountinfo") <= 0)
		return -ENOENT;
	r = tg_cgroup_place(env->text->data, env->text->len, controller, path, v2, out);
	if (r == 0)
		out->whole |=
			v2 ? !exists(env, out, "cgroup.events") : exists(env, out, "release_agent");
	return r;
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
	int64_t v;

	if (fd < 0 || tg_text_pread(env->text, fd) <= 0)
		return TG_MISSING;
	if (v2)
		return tg_procfs_key(env->text->data, env->text->len, "usage_usec ", &v)
			       ? tg_scaled(v, TG_NS_PER_US)
			       : TG_MISSING;
	return tg_procfs_number(env->text->data, env->text->len, &v) ? v : TG_MISSING;
}

/* A file with one number; "max" and what cannot be read is no limit. */
static int64_t number_in(struct tg_env *env, const struct tg_cgroup *g, const char *file)
{
	int64_t v;

	if (tg_cgroup_read(env, g, file) <= 0)
		return TG_MISSING;
	return tg_procfs_number(env->text->data, env->text->len, &v) && v >= 0 && v < NO_LIMIT
		       ? v
		       : TG_MISSING;
}

static int64_t lesser(int64_t a, int64_t b)
{
	if (a == TG_MISSING || b == TG_MISSING)
		return a == TG_MISSING ? b : a;
	return TG_MIN(a, b);
}

/*
 * Version 1 says itself what holds: "hierarchical_memory_limit 8589934592", which knows groups that
 * cannot be seen from a container, and whether limits are handed down at all.
 */
static bool limit_told(struct tg_env *env, const struct tg_cgroup *g, int64_t *limit)
{
	if (g->v2 || g->whole || tg_cgroup_read(env, g, "memory.stat") <= 0 ||
		!tg_procfs_key(
			env->text->data, env->text->len, "hierarchical_memory_limit ", limit))
		return false;
	if (*limit < 0 || *limit >= NO_LIMIT)
		*limit = TG_MISSING;
	return true;
}

int64_t tg_cgroup_memory_limit(struct tg_env *env, struct tg_cgroup g)
{
	int64_t least = TG_MISSING;

	if (limit_told(env, &g, &least))
		return least;
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

/* v1: the quota is -1 where there is none */
static int64_t quota_of(struct tg_env *env, const struct tg_cgroup *g)
{
	int64_t quota, period;

	if (g->v2) {
		if (tg_cgroup_read(env, g, "cpu.max") <= 0 ||
			!tg_procfs_cpu_max(env->text->data, env->text->len, &quota, &period))
			return TG_MISSING;
	} else {
		quota = number_in(env, g, "cpu.cfs_quota_us");
		period = number_in(env, g, "cpu.cfs_period_us");
	}
	if (quota <= 0 || period <= 0 || __builtin_mul_overflow(quota, 1000, &quota))
		return TG_MISSING;
	return TG_MAX(quota / period, 1);
}

int64_t tg_cgroup_quota_milli(struct tg_env *env, struct tg_cgroup *g)
{
	struct tg_cgroup at = *g;
	int64_t least = TG_MISSING;

	do {
		int64_t quota = quota_of(env, &at);

		if (quota == TG_MISSING || (least != TG_MISSING && quota >= least))
			continue;
		least = quota;
		g->path[strlen(at.path)] = '\0';
	} while (tg_cgroup_up(&at));
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
