/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/share.h"

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"

#define PERIOD_NS   TG_NS_PER_S
#define BUDGET      1000 /* of the time, sweeps get a thousandth */
#define SLICE_NS    (20 * TG_NS_PER_MS) /* in which no sample is taken */
#define TOO_LONG_NS (250 * TG_NS_PER_MS) /* about 15 GB of small pages */
#define NS_PER_MB   16000
#define STANDS_NS   (60 * TG_NS_PER_S) /* others may share the same pages, or no longer */

int64_t tg_share_expected_ns(const struct tg_process *p)
{
	double bytes = (double)p->rss_bytes;

	/* where huge pages are used, it is a hundredth of what they would be as small ones */
	if (p->share.rss_bytes > 0)
		return (int64_t)((double)p->share.cost_ns * bytes / (double)p->share.rss_bytes);
	return (int64_t)(bytes / (1 << 20) * NS_PER_MB);
}

/* Who is in state D may hold its mmap_lock for as long. */
static void read_share(struct tg_process *p, struct tg_env *env)
{
	bool may_read = p->state != 'D' && !(env->live && tg_share_expected_ns(p) > TOO_LONG_NS);
	ssize_t n = may_read ? tg_process_read_memory(p, env, "smaps_rollup") : 0;
	struct tg_share *s = &p->share;
	struct tg_rollup rollup;

	s->denied = n == -EACCES || n == -EPERM;
	s->known = n > 0 && tg_procfs_rollup(env->text->data, env->text->len, &rollup) == 0;
	if (!s->known)
		return;
	s->rss_bytes = rollup.rss;
	s->pss_bytes = rollup.pss;
	s->swap_pss_bytes = rollup.swap_pss;
}

static void add_up(struct tg_sweep *w, const struct tg_env *env)
{
	const struct tg_process *p;
	bool any = false;

	w->pss_bytes = w->swap_pss_bytes = w->covers_bytes = w->left_out_bytes = w->denied = 0;
	w->rss_bytes = tg_tree_totals(env->tree)->rss_bytes;
	for (p = tg_tree_from(env->tree, 0); p; p = tg_tree_from(env->tree, p->entity + 1)) {
		any |= p->share.known || p->share.denied;
		w->denied += p->share.denied;
		if (!p->share.known) {
			w->left_out_bytes += p->rss_bytes;
			continue;
		}
		w->pss_bytes += p->share.pss_bytes;
		w->swap_pss_bytes += p->share.swap_pss_bytes;
		w->covers_bytes += p->share.rss_bytes;
	}
	w->t_ns = any ? w->begun_ns : 0; /* this kernel does not tell */
}

/*
 * Without a page fault, a page given back or a process more or less, no share is another than it
 * was. Says whether any of that came since the last sweep began, and remembers how it is now.
 */
static bool has_moved(struct tg_sweep *w, const struct tg_tree_totals *t)
{
	const int64_t now[] = { t->faults[TG_FAULTS_MINOR], t->rss_bytes, t->processes };
	bool moved = memcmp(w->moves, now, sizeof(now)) != 0;

	memcpy(w->moves, now, sizeof(now));
	return moved;
}

/* Whether a sweep begins now. */
static bool begin(struct tg_sweep *w, const struct tg_env *env)
{
	bool moved;

	/* a reading that comes a little early is this one's */
	if (env->live && env->t_ns < w->due_ns - PERIOD_NS / 8)
		return false;
	moved = has_moved(w, tg_tree_totals(env->tree));
	if (!moved && w->t_ns && env->live && env->t_ns - w->read_ns < STANDS_NS) {
		w->t_ns = env->t_ns;
		w->due_ns = env->t_ns + PERIOD_NS;
		return false;
	}
	w->next = 0;
	w->begun_ns = w->read_ns = env->t_ns;
	w->spent_ns = 0;
	return true;
}

int64_t tg_sweep_every_ns(const struct tg_sweep *w)
{
	return TG_MAX(PERIOD_NS, w->spent_ns * BUDGET);
}

void tg_sweep_read(struct tg_sweep *w, struct tg_env *env)
{
	int64_t begun_ns, now_ns;
	struct tg_process *p;

	if (!w->running)
		w->running = begin(w, env);
	if (!w->running)
		return;
	begun_ns = now_ns = tg_thread_ns();
	while ((p = tg_tree_from(env->tree, w->next)) && now_ns - begun_ns < SLICE_NS) {
		int64_t before_ns = now_ns;

		read_share(p, env);
		now_ns = tg_thread_ns();
		if (p->share.known)
			p->share.cost_ns = now_ns - before_ns;
		w->next = p->entity + 1;
	}
	if (!p) {
		w->running = false;
		add_up(w, env);
	}
	w->spent_ns += tg_thread_ns() - begun_ns;
	w->due_ns = w->begun_ns + tg_sweep_every_ns(w);
}

bool tg_sweep_holds(const struct tg_sweep *w, int64_t rss_bytes)
{
	int64_t tenth = w->rss_bytes / 10;

	return w->t_ns && w->left_out_bytes <= w->rss_bytes / 20 &&
	       rss_bytes >= w->rss_bytes - tenth && rss_bytes <= w->rss_bytes + tenth;
}
