/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/oom.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/cgroup.h"

#include "base/mem.h"

#define WINDOW_NS      (10 * TG_NS_PER_S) /* a process of many GB takes seconds to be gone */
#define SAME_NS        (2 * TG_NS_PER_S) /* two looks: what came between them is one matter */
#define NAME_MAX_CHARS 60
#define PF_EXITING     0x4 /* linux/sched.h, the same since 2.6 */

static bool rose(const struct tg_oom_counter *c, int64_t now)
{
	return c->rise_ns && now - c->rise_ns <= WINDOW_NS;
}

static void close_counter(struct tg_oom_counter *c)
{
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct tg_oom_counter){ .fd = -1, .value = TG_MISSING };
}

static void close_groups(struct tg_oom_watch *o)
{
	for (size_t i = 0; i < o->n_levels; i++) {
		close_counter(&o->level[i].kills);
		close_counter(&o->level[i].reached);
		close_counter(&o->level[i].whole);
	}
	o->n_levels = 0;
}

void tg_oom_init(struct tg_oom_watch *o)
{
	*o = (struct tg_oom_watch){ .machine = { .fd = -1, .value = TG_MISSING } };
}

void tg_oom_release(struct tg_oom_watch *o)
{
	close_groups(o);
	close_counter(&o->machine);
}

/* A line "oom_kill 3" among others; without a key the file is one number. */
static bool number_in(const struct tg_text *text, const char *key, int64_t *v)
{
	return key ? tg_procfs_key(text->data, text->len, key, v)
		   : tg_procfs_number(text->data, text->len, v);
}

static void count(struct tg_oom_counter *c, struct tg_env *env, const char *key, int64_t now)
{
	int64_t v;

	if (c->fd < 0)
		return;
	if (tg_text_pread(env->text, c->fd) <= 0 || !number_in(env->text, key, &v)) {
		/* the group was removed, or the kernel is older than 4.13; a rise is not forgotten
		 */
		close(c->fd);
		c->fd = -1;
		if (!rose(c, now))
			c->value = TG_MISSING;
		return;
	}
	if (c->value != TG_MISSING && v > c->value) {
		c->before = c->value;
		c->rise_ns = now;
	}
	c->value = v;
}

/* Whether it is about to be gone, or a zombie; then version 1 says that it is in no group. */
static bool is_ending(struct tg_env *env, pid_t pid)
{
	struct tg_pid_stat stat;

	return tg_env_read(env, "proc/%d/stat", pid) <= 0 ||
	       tg_procfs_pid_stat(env->text->data, env->text->len, &stat) < 0 ||
	       stat.state == 'Z' || stat.state == 'X' || (stat.flags & PF_EXITING);
}

static uint64_t groups_of(struct tg_env *env, pid_t pid)
{
	return tg_env_read(env, "proc/%d/cgroup", pid) > 0 ? tg_text_digest(env->text) : 0;
}

static void open_groups(struct tg_oom_watch *o, struct tg_env *env)
{
	struct tg_cgroup g;

	if (tg_cgroup_find(env, env->root, "memory", &g) < 0)
		return;
	do {
		struct tg_oom_level *l = &o->level[o->n_levels++];

		*l = (struct tg_oom_level){ .group = g,
			.kills = { .value = TG_MISSING },
			.reached = { .value = TG_MISSING },
			.whole = { .value = TG_MISSING } };
		l->kills.fd =
			tg_cgroup_open(env, &g, g.v2 ? "memory.events" : "memory.oom_control");
		l->reached.fd =
			tg_cgroup_open(env, &g, g.v2 ? "memory.events.local" : "memory.failcnt");
		l->whole.fd = g.v2 ? tg_cgroup_open(env, &g, "memory.events.local") : -1;
	} while (tg_cgroup_up(&g) && o->n_levels < TG_OOM_LEVELS);
}

/* At a new root, and when the root was moved to another group. */
static void follow(struct tg_oom_watch *o, struct tg_env *env)
{
	bool same = o->root == env->root;
	uint64_t groups = groups_of(env, env->root);

	if (same && groups == o->groups)
		return;
	if (is_ending(env, env->root)) {
		/* version 1 shows no group any more: the last one counts; 2 shows it still */
		if (!same)
			close_groups(o);
		o->late |= !same;
		o->root = env->root;
		return;
	}
	close_groups(o);
	o->root = env->root;
	o->groups = groups;
	o->late = false;
	open_groups(o, env);
}

/* What the group is called: its path below the mount, the end of it when that is long. */
static const char *name_of(const struct tg_cgroup *g)
{
	const char *path = g->path + g->top_len;
	size_t len = strlen(path);
	const char *cut = len > NAME_MAX_CHARS ? strchr(path + len - NAME_MAX_CHARS, '/') : path;

	return !len ? "/" : cut ? cut : path + len - NAME_MAX_CHARS;
}

static size_t add(char *to, size_t size, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static size_t add(char *to, size_t size, size_t at, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(to + at, size - at, fmt, ap);
	va_end(ap);
	return n < 0 ? at : TG_MIN(at + (size_t)n, size - 1);
}

/*
 * "; the limit of /job.slice was reached (oom in memory.events.local: 0, then 1)", by the lowest
 * group in which that was counted not before `since_ns`.
 */
static bool add_reached(const struct tg_oom_watch *o, int64_t since_ns, const char *lead,
	char *text, size_t size, size_t at)
{
	for (size_t i = 0; i < o->n_levels; i++) {
		const struct tg_oom_level *l = &o->level[i];

		if (!l->reached.rise_ns || l->reached.rise_ns < since_ns)
			continue;
		at = add(text, size, at, "%s", lead);
		at = i == 0 ? add(text, size, at, "its limit")
			    : add(text, size, at, "the limit of %s", name_of(&l->group));
		add(text, size, at, " was reached (%s: %lld, then %lld)",
			l->group.v2 ? "oom in memory.events.local" : "memory.failcnt",
			(long long)l->reached.before, (long long)l->reached.value);
		return true;
	}
	return false;
}

static const char *kills_file(const struct tg_oom_level *l)
{
	return l->group.v2 ? "memory.events" : "memory.oom_control";
}

/* What has just been counted in the group, or in the lowest above it in which it was. */
static void note_rise(const struct tg_oom_watch *o, const struct tg_env *env, int64_t now)
{
	char text[TG_OOM_WHY] = "";
	size_t i = 0, at;

	if (!env->hooks || !env->hooks->note)
		return;
	while (i < o->n_levels && o->level[i].kills.rise_ns != now)
		i++;
	if (i < o->n_levels) {
		const struct tg_oom_level *l = &o->level[i];

		at = i == 0 ? add(text, sizeof(text), 0, "a process of the job's control group")
			    : add(text, sizeof(text), 0, "a process %s the control group %s",
				      l->group.v2 ? "below" : "of", name_of(&l->group));
		at = add(text, sizeof(text), at,
			" was killed for want of memory (oom_kill in %s: %lld, then %lld)",
			kills_file(l), (long long)l->kills.before, (long long)l->kills.value);
		add_reached(o, now, "; ", text, sizeof(text), at);
	} else if (o->n_levels && o->level[0].group.v2) {
		/* version 1 counts also when something could be freed, as it does all the time */
		add_reached(o, now, "no memory was to be had: ", text, sizeof(text), 0);
	}
	if (text[0])
		env->hooks->note(env->hooks->ctx, now, text);
}

void tg_oom_look(struct tg_oom_watch *o, struct tg_env *env, int64_t now_ns)
{
	if (env->root <= 0)
		return;
	if (o->machine.fd < 0 && o->root != env->root)
		o->machine.fd = tg_env_open(env, "proc/vmstat");
	follow(o, env);
	for (size_t i = 0; i < o->n_levels; i++) {
		struct tg_oom_level *l = &o->level[i];

		count(&l->kills, env, "oom_kill ", now_ns);
		count(&l->reached, env, l->group.v2 ? "oom " : NULL, now_ns);
		count(&l->whole, env, "oom_group_kill ", now_ns);
	}
	count(&o->machine, env, "oom_kill ", now_ns);
	o->vanished_ns = env->vanished_ns;
	note_rise(o, env, now_ns);
}

/* The counter that tells of the root: of its group, or of the lowest one above that counts it. */
static const struct tg_oom_level *witness(const struct tg_oom_watch *o)
{
	for (size_t i = 0; i < o->n_levels && (i == 0 || o->level[i].group.v2); i++)
		if (o->level[i].kills.value != TG_MISSING)
			return &o->level[i];
	return NULL;
}

/*
 * "; its group was killed as a whole (oom_group_kill in memory.events.local: 0, then 1)", where
 * that was counted not before `since_ns`. The local file has only what befell all of the group.
 */
static bool add_whole(
	const struct tg_oom_watch *o, int64_t since_ns, char *text, size_t size, size_t at)
{
	for (size_t i = 0; i < o->n_levels; i++) {
		const struct tg_oom_level *l = &o->level[i];

		if (!l->whole.rise_ns || l->whole.rise_ns < since_ns)
			continue;
		at = i == 0 ? add(text, size, at, "; its group")
			    : add(text, size, at, "; the group %s", name_of(&l->group));
		add(text, size, at,
			" was killed as a whole (oom_group_kill in memory.events.local: %lld, then "
			"%lld)",
			(long long)l->whole.before, (long long)l->whole.value);
		return true;
	}
	return false;
}

enum tg_oom tg_oom_tell(
	const struct tg_oom_watch *o, bool asked, int64_t now_ns, char *why, size_t size)
{
	const struct tg_oom_level *l = witness(o);
	const struct tg_oom_counter *c = l ? &l->kills : &o->machine;
	const char *file = l ? kills_file(l) : "/proc/vmstat";
	bool own = l == o->level, killed = c->value != TG_MISSING && rose(c, now_ns);
	size_t at;

	if (o->late || o->root <= 0) {
		snprintf(why, size, "it ended before its memory could be looked at");
		return TG_OOM_UNKNOWN;
	}
	if (c->value == TG_MISSING) {
		snprintf(why, size, "no counter of such kills can be read here");
		return TG_OOM_UNKNOWN;
	}
	at = add(why, size, 0, "%s process ", killed ? "a" : "no");
	if (!l)
		at = add(why, size, at, "of this machine");
	else if (own)
		at = add(why, size, at, "of its control group");
	else
		at = add(why, size, at, "below the control group %s", name_of(&l->group));
	at = add(why, size, at, " was killed for want of memory just then (oom_kill in %s: %lld, ",
		file, (long long)(killed ? c->before : c->value));
	if (!killed) {
		add(why, size, at, "as before)");
		return TG_OOM_NO;
	}
	at = add(why, size, at, "then %lld)", (long long)c->value);
	if (add_whole(o, c->rise_ns - SAME_NS, why, size, at))
		return TG_OOM_YES;
	if (!own || asked || (o->vanished_ns && o->vanished_ns >= c->rise_ns - SAME_NS)) {
		add(why, size, at, "%s, and no counter tells which",
			!own    ? ""
			: asked ? ", but it had been asked to end"
				: "; others of the job's processes have ended, too");
		return TG_OOM_UNKNOWN;
	}
	add_reached(o, c->rise_ns - SAME_NS, "; ", why, size, at);
	return TG_OOM_YES;
}
