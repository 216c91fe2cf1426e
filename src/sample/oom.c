/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/cgroup.h"

#include "base/mem.h"

#define WINDOW_NS   (10 * TG_NS_PER_S) /* a process of many GB takes seconds to be gone */
#define FLAGS_FIELD 9 /* of /proc/PID/stat */
#define PF_EXITING  0x4u /* linux/sched.h, the same since 2.6 */

static void close_counter(struct tg_oom_counter *c)
{
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct tg_oom_counter){ .fd = -1, .value = TG_MISSING };
}

void tg_oom_init(struct tg_oom_watch *o)
{
	*o = (struct tg_oom_watch){ .group = { .fd = -1, .value = TG_MISSING },
		.machine = { .fd = -1, .value = TG_MISSING } };
}

void tg_oom_release(struct tg_oom_watch *o)
{
	close_counter(&o->group);
	close_counter(&o->machine);
}

/* memory.events, memory.oom_control, vmstat: a line "oom_kill 3" among others */
static void count(struct tg_oom_counter *c, struct tg_env *env, int64_t now)
{
	int64_t v;

	if (c->fd < 0)
		return;
	if (tg_text_pread(env->text, c->fd) <= 0 ||
		!tg_procfs_key(env->text->data, env->text->len, "oom_kill ", &v)) {
		close_counter(c); /* the group was removed, or the kernel is older than 4.13 */
		return;
	}
	if (c->value != TG_MISSING && v > c->value) {
		c->before = c->value;
		c->rise_ns = now;
	}
	c->value = v;
}

/*
 * Whether it is about to be gone, or a zombie; then version 1 says that it is in no group:
 * 4711 (python3) Z 1 4711 4711 0 -1 4194572 118 0 …
 */
static bool is_ending(struct tg_env *env, pid_t pid)
{
	const char *p;

	if (tg_env_read(env, "proc/%d/stat", pid) <= 0)
		return true;
	p = strrchr(env->text->data, ')');
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return true;
	for (int field = 2; p && field < FLAGS_FIELD; field++)
		p = strchr(p + 1, ' ');
	return !p || strtoul(p, NULL, 10) & PF_EXITING;
}

static uint64_t groups_of(struct tg_env *env, pid_t pid)
{
	return tg_env_read(env, "proc/%d/cgroup", pid) > 0 ? tg_text_digest(env->text) : 0;
}

/* At a new root, and when the root was moved to another group. */
static void follow(struct tg_oom_watch *o, struct tg_env *env)
{
	bool same = o->root == env->root;
	uint64_t groups = groups_of(env, env->root);
	struct tg_cgroup g;

	if (same && groups == o->groups)
		return;
	if (is_ending(env, env->root)) {
		/* version 1 shows no group any more: the last one counts; 2 shows it, or a removed
		 * one */
		if (!same || o->v2)
			close_counter(&o->group);
		o->late |= !same;
		o->root = env->root;
		return;
	}
	close_counter(&o->group);
	o->root = env->root;
	o->groups = groups;
	o->late = false;
	if (tg_cgroup_find(env, env->root, "memory", &g) < 0)
		return;
	o->v2 = g.v2;
	o->group.fd = tg_cgroup_open(env, &g, g.v2 ? "memory.events" : "memory.oom_control");
}

void tg_oom_look(struct tg_oom_watch *o, struct tg_env *env, int64_t now_ns)
{
	if (env->root <= 0)
		return;
	if (o->machine.fd < 0 && o->root != env->root)
		o->machine.fd = tg_env_open(env, "proc/vmstat");
	follow(o, env);
	count(&o->group, env, now_ns);
	count(&o->machine, env, now_ns);
}

static bool rose(const struct tg_oom_counter *c, int64_t now)
{
	return c->rise_ns && now - c->rise_ns <= WINDOW_NS;
}

enum tg_oom tg_oom_tell(const struct tg_oom_watch *o, int64_t now_ns, char *why, size_t size)
{
	const struct tg_oom_counter *c = &o->group;
	const char *file = o->v2 ? "memory.events" : "memory.oom_control";

	if (o->late || o->root <= 0) {
		snprintf(why, size, "it ended before its memory could be looked at");
		return TG_OOM_UNKNOWN;
	}
	if (c->value != TG_MISSING && rose(c, now_ns)) {
		snprintf(why, size,
			"a process of its control group was killed for want of memory just then "
			"(oom_kill in %s: %lld, then %lld)",
			file, (long long)c->before, (long long)c->value);
		return TG_OOM_YES;
	}
	if (c->value != TG_MISSING) {
		snprintf(why, size,
			"no process of its control group was killed for want of memory just then "
			"(oom_kill in %s: %lld, as before)",
			file, (long long)c->value);
		return TG_OOM_NO;
	}
	c = &o->machine;
	if (c->value == TG_MISSING) {
		snprintf(why, size, "no counter of such kills can be read here");
		return TG_OOM_UNKNOWN;
	}
	if (rose(c, now_ns)) {
		snprintf(why, size,
			"a process of this machine was killed for want of memory just then "
			"(oom_kill in /proc/vmstat: %lld, then %lld), and no counter tells which",
			(long long)c->before, (long long)c->value);
		return TG_OOM_UNKNOWN;
	}
	snprintf(why, size,
		"no process of this machine was killed for want of memory just then "
		"(oom_kill in /proc/vmstat: %lld, as before)",
		(long long)c->value);
	return TG_OOM_NO;
}
