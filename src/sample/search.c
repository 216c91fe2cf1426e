/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/search.h"

#include <unistd.h>

#include "sample/process.h"

#include "base/mem.h"

#define RANGE_MAX 4096 /* numbers that are tried one by one: more are cheaper to list */
#define LOOKS_MAX 16 /* at one whose environment is not to be read, about one a second */

void tg_search_init(struct tg_search *s, const char *mark)
{
	*s = (struct tg_search){ .mark = mark ? tg_xstrdup(mark) : NULL, .last_pid = -1 };
}

void tg_search_release(struct tg_search *s)
{
	free(s->mark);
	s->mark = NULL;
}

struct new_ones {
	int64_t from;
	int (*each)(void *ctx, pid_t pid);
	void *ctx;
};

static int if_new(void *ctx, pid_t pid)
{
	const struct new_ones *n = ctx;

	return pid > n->from ? n->each(n->ctx, pid) : 0;
}

static void look_again(struct tg_search *s, int (*each)(void *ctx, pid_t pid), void *ctx)
{
	size_t n = s->n_later;

	s->n_later = 0; /* it is filled again meanwhile, behind those that were looked at */
	for (size_t i = 0; i < n; i++) {
		s->looks = s->later[i].looks;
		each(ctx, s->later[i].pid);
	}
	s->looks = 0;
}

void tg_search_each(struct tg_search *s, struct tg_env *env, int64_t last_pid, bool all,
	int (*each)(void *ctx, pid_t pid), void *ctx)
{
	/* numbers that begin anew, or are unknown, make all of them new */
	bool known = !all && s->last_pid >= 0 && s->last_pid <= last_pid;
	struct new_ones n = { known ? s->last_pid : 0, each, ctx };
	int dir;

	if (all)
		s->n_later = 0;
	look_again(s, each, ctx);
	s->last_pid = last_pid;
	if (known && env->live && last_pid - n.from <= RANGE_MAX) {
		/* a number may be a thread's: that has no clock of a process */
		for (int64_t pid = n.from + 1; pid <= last_pid; pid++)
			if (tg_process_clock((pid_t)pid) >= 0 && each(ctx, (pid_t)pid))
				return;
		return;
	}
	dir = tg_env_open(env, "proc");
	if (dir < 0)
		return;
	tg_numbers_each(dir, if_new, &n);
	close(dir);
}

static void put_off(struct tg_search *s, pid_t pid)
{
	if (s->looks < LOOKS_MAX && s->n_later < TG_SEARCH_LATER)
		s->later[s->n_later++] =
			(struct tg_search_later){ .pid = pid, .looks = s->looks + 1 };
}

bool tg_search_is_marked(
	struct tg_search *s, struct tg_env *env, pid_t pid, const struct tg_pid_stat *stat)
{
	const char *at, *end, *next;
	size_t len = s->mark ? strlen(s->mark) : 0;
	ssize_t n;

	if (!len || stat->state == 'Z')
		return false;
	/* "environ" takes mmap_lock: see process.h; in the middle of an exec it is empty */
	n = stat->state == 'D' ? 0 : tg_env_read(env, "proc/%d/environ", pid);
	if (n == 0)
		put_off(s, pid);
	at = env->text->data;
	for (end = at + TG_MAX(n, 0); at < end; at = next + 1) {
		next = memchr(at, '\0', (size_t)(end - at));
		if (!next)
			next = end;
		if ((size_t)(next - at) == len && !memcmp(at, s->mark, len))
			return true;
	}
	return false;
}
