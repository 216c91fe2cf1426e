/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the control groups of a process are: v1, v2 or both, each controller by itself, whole or
 * seen from a container. Limits are the least over a group and all above it that can be seen.
 */
#ifndef TG_SAMPLE_CGROUP_H
#define TG_SAMPLE_CGROUP_H

#include "sample/procfs.h"
#include "sample/source.h"

struct tg_cgroup {
	char path[TG_PATH_MAX]; /* its folder, below env->root_fd */
	size_t top_len; /* length of the part of it that is the mount point */
	bool v2;
	/* the root of the hierarchy, or a group above ours whose names we are not told: it has
	 * others in it, and only its limits are ours, too */
	bool whole;
};

/*
 * The group of `pid` (0: our own) for a controller: "cpu", "cpuacct", "cpuset", "memory". v2 has
 * all of them in one place. Returns 0, or -errno: -ENOENT when there is none to be seen from here.
 */
int tg_cgroup_find(struct tg_env *env, pid_t pid, const char *controller, struct tg_cgroup *out);

/*
 * The two steps of that, on text: the group's path as /proc/PID/cgroup has it, into `path` of
 * TG_PATH_MAX; and where /proc/self/mountinfo shows it. `whole` is left to the files of the group.
 */
int tg_cgroup_path(const char *text, size_t len, const char *controller, char *path, bool *v2);
int tg_cgroup_place(const char *text, size_t len, const char *controller, const char *path, bool v2,
	struct tg_cgroup *out);

/* Go to the group above. False at the top. */
bool tg_cgroup_up(struct tg_cgroup *g);

/* Read a file of the group into env->text. Returns its length or -errno. */
ssize_t tg_cgroup_read(struct tg_env *env, const struct tg_cgroup *g, const char *file);

/* Open it, to be read again and again. The descriptor or -errno. */
int tg_cgroup_open(const struct tg_env *env, const struct tg_cgroup *g, const char *file);

/* CPU time from such a descriptor: of cpu.stat (v2) or cpuacct.usage; TG_MISSING: not to be read.
 */
int64_t tg_cgroup_cpu_ns(struct tg_env *env, int fd, bool v2);

/* The least limits over the group and all above it; TG_MISSING where there is none. */
int64_t tg_cgroup_memory_limit(struct tg_env *env, struct tg_cgroup g);
/* thousandths of a core; `g` becomes the group whose quota that is, if there is one */
int64_t tg_cgroup_quota_milli(struct tg_env *env, struct tg_cgroup *g);
int64_t tg_cgroup_cpuset(struct tg_env *env, struct tg_cgroup g); /* cores */

#endif
