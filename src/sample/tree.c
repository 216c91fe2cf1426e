/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/tree.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/kept.h"
#include "sample/search.h"
#include "sample/tell.h"
#include "sample/usage.h"

#include "base/mem.h"

#define BUCKETS   4096
#define SEARCH_NS TG_NS_PER_S

struct tg_tree {
	struct tg_env *env;
	struct tg_teller teller;
	uint32_t next_entity;

	pid_t want_root;
	bool root_changed;
	struct tg_process *root; /* while it runs */
	struct tg_process **node; /* as found: parents before children */
	size_t n, cap;
	struct tg_process *spare; /* for reuse, linked by hash_next */
	struct tg_process *bucket[BUCKETS]; /* by pid; no process that is gone */

	struct tg_search search;
	int64_t searched_ns;
	struct tg_kept kept; /* descriptors */
	int loadavg_fd;

	int64_t last_pid; /* given out on this machine, when last asked */
	bool new_pids; /* some since the reading before */
	bool new_pids_since_refresh; /* … since the last that refreshed all, this one included */
	bool no_children_files;
	bool some_gone; /* or leaving, in this reading */

	struct tg_usage retired; /* of those gone that no parent waited for */
	struct tg_usage carry; /* of those gone whose parent shows it from the next reading on */
	struct tg_tree_totals totals;
	bool seen; /* the root was there */
	bool full; /* there were more than TG_TREE_MAX; that was said */
	int64_t since_ticks; /* when it was started; INT64_MAX: unknown */
};

/* ---- by pid ---- */

static struct tg_process **bucket_of(struct tg_tree *t, pid_t pid)
{
	return &t->bucket[(unsigned)pid % BUCKETS];
}

static struct tg_process *find(const struct tg_tree *t, pid_t pid)
{
	struct tg_process *p = t->bucket[(unsigned)pid % BUCKETS];

	while (p && p->pid != pid)
		p = p->hash_next;
	return p;
}

static void forget(struct tg_tree *t, struct tg_process *p)
{
	struct tg_process **at = bucket_of(t, p->pid);

	while (*at && *at != p)
		at = &(*at)->hash_next;
	if (*at)
		*at = p->hash_next;
}

/* ---- members ---- */

static struct tg_process *add(struct tg_tree *t, pid_t pid, struct tg_process *parent)
{
	struct tg_process *p, **bucket = bucket_of(t, pid);

	if (t->n >= TG_TREE_MAX) {
		if (!t->full)
			tg_env_note(t->env, "of its processes no more than %d are followed",
				TG_TREE_MAX);
		t->full = true;
		return NULL;
	}
	p = t->spare;
	if (p)
		t->spare = p->hash_next;
	else
		p = tg_xmalloc(sizeof(*p));
	tg_process_init(p, pid);
	p->entity = t->next_entity++;
	p->parent = parent;
	p->hash_next = *bucket;
	*bucket = p;
	if (t->n == t->cap) {
		t->cap = t->cap * 2 + 64;
		t->node = tg_xrealloc(t->node, t->cap, sizeof(struct tg_process *));
	}
	t->node[t->n++] = p;
	tg_kept_watch(&t->kept, p);
	return p;
}

struct add_child {
	struct tg_tree *t;
	struct tg_process *parent;
};

static int add_child(void *ctx, pid_t pid)
{
	struct add_child *c = ctx;

	/* if that pid is one that has just ended, its parent is listed anew at the next reading */
	return !find(c->t, pid) && !add(c->t, pid, c->parent);
}

static void list_children(struct tg_tree *t, struct tg_process *p, bool all)
{
	struct add_child c = { t, p };
	struct tg_usage now;

	if (t->no_children_files)
		return;
	if (tg_process_children(p, t->env, all, add_child, &c) == -ENOENT && p == t->root &&
		tg_process_read_usage(p, t->env, &now) == 0)
		t->no_children_files = true;
	p->unlisted = p->next_thread > 0;
	p->list_now = false;
}

static int add_if_member(void *ctx, pid_t pid)
{
	struct tg_tree *t = ctx;
	struct tg_text *text = t->env->text;
	struct tg_process *parent;
	struct tg_pid_stat stat;

	if (find(t, pid) || tg_env_read(t->env, "proc/%d/stat", pid) <= 0 ||
		tg_procfs_pid_stat(text->data, text->len, &stat) < 0)
		return 0;
	parent = find(t, stat.ppid);
	/* an older one is of the tree that another root had */
	if (parent || (stat.starttime >= t->since_ticks &&
			      tg_search_is_marked(&t->search, t->env, pid, &stat)))
		add(t, pid, parent);
	return 0;
}

/*
 * Once a second will do, and that whether or not all the rest is refreshed as often: each process
 * is looked at once. Where no process lists its children, at all of them each time: then with a
 * refresh only.
 */
static bool is_search_due(const struct tg_tree *t, unsigned flags)
{
	bool any = t->new_pids_since_refresh || t->search.n_later;

	if (!t->seen)
		return false;
	if (flags & TG_READ_REFRESH)
		return t->no_children_files || any;
	/* the first one, which is dear, is left to a refresh */
	return !t->no_children_files && any && t->last_pid >= 0 && t->searched_ns &&
	       t->env->t_ns - t->searched_ns >= SEARCH_NS;
}

static void search(struct tg_tree *t)
{
	size_t before;

	t->searched_ns = t->env->t_ns;
	do { /* until there are no more: a child's number may be below its parent's */
		before = t->n;
		tg_search_each(
			&t->search, t->env, t->last_pid, t->no_children_files, add_if_member, t);
	} while (t->n > before);
}

/* ---- a reading ---- */

static void is_gone(struct tg_tree *t, struct tg_process *p)
{
	p->gone = true;
	t->some_gone = true;
	forget(t, p);
	tg_kept_close(&t->kept, p);
	tg_tell_death(&t->teller, p);
	if (p == t->root)
		t->root = NULL;
	if (p->parent) {
		p->parent->read_now = true;
		p->parent->list_now = true; /* its pid may be another child's by now */
	}
}

/* What is read of a process beyond the rest: peak and kinds of memory, but not at each tick. */
static unsigned detail_of(unsigned flags)
{
	return flags ? TG_DETAIL_MEMORY : 0;
}

/*
 * It used no CPU since, so it has neither forked nor done I/O nor grown nor waited for a child nor
 * changed its state; and it was told apart from a later owner of its pid. The peak is read at edges
 * only, so one that idles there may have had it before a reading in between.
 */
static bool has_idled(const struct tg_tree *t, const struct tg_process *p, unsigned flags)
{
	if (detail_of(flags) && p->memory_stale)
		return false;
	if (!t->env->live || !p->has_clock || p->read_now)
		return false;
	if ((p->exited && !p->zombie) || (p->unlisted && t->new_pids))
		return false;
	if (p->parent && (p->parent->gone || p->parent->zombie))
		return false; /* it has another parent now */
	return tg_process_clock(p->pid) == p->clock_ns;
}

/*
 * What can happen to one that idles: as a subreaper it gets the orphans of one that was never seen,
 * which are looked for; and it loses memory to others, or is gone. True: then read all of it.
 */
static bool has_changed_idle(struct tg_tree *t, struct tg_process *p)
{
	unsigned n_open = p->n_open;
	bool changed;

	if (p->zombie)
		return false;
	changed = tg_process_memory_moved(p, t->env);
	if (!changed && t->new_pids_since_refresh) /* else they are listed with all the rest */
		list_children(t, p, true);
	tg_kept_used(&t->kept, p, n_open);
	return changed;
}

static void read_one(struct tg_tree *t, struct tg_process *p, unsigned flags)
{
	bool fresh = p->start_ticks < 0, refresh = flags & TG_READ_REFRESH;
	struct tg_usage before = tg_usage_of(p);
	unsigned n_open;

	p->credit = (struct tg_usage){ 0 };
	p->late_read = p->late_gone = p->just_forked = false;
	t->some_gone |= p->leaving;
	if (has_idled(t, p, flags) && !(refresh && has_changed_idle(t, p)))
		return;
	n_open = p->n_open;
	if (tg_process_read(p, t->env, detail_of(flags)) < 0) {
		tg_kept_used(&t->kept, p, n_open);
		is_gone(t, p);
		return;
	}
	if (p->start_ticks < 0) {
		tg_kept_used(&t->kept, p, n_open);
		return; /* there, but not readable now */
	}
	p->read_now = false;
	/* one that leaves tells nothing new: what it was seen to take over late stays apart */
	if (!p->leaving) {
		if (!fresh)
			p->credit = tg_usage_gain(p, &before);
		p->late_used = (struct tg_usage){ 0 };
	}
	if (p != t->root && (!p->parent || p->parent->gone || p->parent->pid != p->ppid))
		p->parent = find(t, p->ppid);
	if (p->parent == p)
		p->parent = NULL;
	p->just_forked = fresh && t->seen && p->parent && p->vms_bytes == p->parent->vms_bytes;
	if (p->leaving) {
		t->some_gone = true;
		p->folded |= fresh; /* nothing was counted of it, and its parent gets all */
		if (p->parent)
			p->parent->read_now = true;
	}
	p->unlisted = !p->zombie;
	if (!p->zombie && (fresh || refresh || t->new_pids || p->list_now))
		list_children(t, p, fresh || refresh);
	tg_kept_used(&t->kept, p, n_open);
	tg_tell(&t->teller, p);
}

/*
 * What becomes of the figures of those that have gone: a parent that has waited for them shows
 * them in its own, else they are kept here. The parent was read before its child, so it may show
 * them only from the next reading on; a second look at it tells.
 */
static void settle(struct tg_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tg_process *p = t->node[i], *a = p->parent;
		struct tg_usage left;

		if ((!p->gone && !p->leaving) || p->folded || p->start_ticks < 0)
			continue;
		left = tg_usage_of(p);
		/* and what it took over from children after it was read last */
		tg_usage_add(&left, &p->late_used);
		while (a && a->gone && a->folded)
			a = a->parent;
		if (a && !a->gone) {
			unsigned n_open = a->n_open;

			p->folded = tg_usage_settle(a, &left, t->env, &t->carry);
			tg_kept_used(&t->kept, a, n_open);
		}
		if (!p->folded && p->gone)
			tg_usage_add(&t->retired, &left);
	}
}

/* Drop those that have gone from the list. */
static void compact(struct tg_tree *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct tg_process *p = t->node[i];

		if (!p->gone && p->parent && p->parent->gone) {
			p->parent = NULL;
			p->read_now = true;
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		struct tg_process *p = t->node[i];

		if (p->gone) {
			p->hash_next = t->spare;
			t->spare = p;
		} else {
			t->node[n++] = p;
		}
	}
	t->n = n;
}

static int64_t at_least(int64_t before, int64_t now)
{
	return TG_MAX(before, now); /* TG_MISSING is below all */
}

static void add_known(int64_t *sum, int64_t value)
{
	if (value == TG_MISSING)
		return;
	if (*sum == TG_MISSING)
		*sum = value;
	else if (__builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

static void add_memory(struct tg_tree_totals *to, const struct tg_process *p)
{
	add_known(&to->rss_bytes, p->rss_bytes);
	add_known(&to->vms_bytes, p->vms_bytes);
	add_known(&to->anon_bytes, p->anon_bytes);
	add_known(&to->file_bytes, p->kinds.file);
	add_known(&to->shmem_bytes, p->kinds.shmem);
	add_known(&to->swap_bytes, p->kinds.swap);
	add_known(&to->hugetlb_bytes, p->kinds.hugetlb);
}

static void add_up(struct tg_tree *t)
{
	struct tg_usage sum = t->retired;
	struct tg_tree_totals *to = &t->totals;

	to->rss_bytes = to->vms_bytes = to->anon_bytes = 0;
	to->file_bytes = to->shmem_bytes = to->swap_bytes = to->hugetlb_bytes = TG_MISSING;
	to->processes = to->threads = to->denied = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct tg_process *p = t->node[i];
		struct tg_usage usage = tg_usage_of(p);

		/* of one that leaves its parent may show all; the sum waits for what becomes of it
		 */
		if (p->start_ticks < 0 || p->leaving)
			continue;
		tg_usage_add(&sum, &usage);
		if (!p->just_forked)
			add_memory(to, p);
		to->threads += p->threads;
		to->processes += !p->zombie;
		to->denied += !p->zombie && !p->io_known;
	}
	tg_usage_add(&sum, &t->carry);
	t->carry = (struct tg_usage){ 0 };
	to->cpu_ns = at_least(to->cpu_ns, sum.cpu_ns);
	for (size_t i = 0; i < TG_FAULTS; i++)
		to->faults[i] = at_least(to->faults[i], sum.faults[i]);
	for (size_t i = 0; i < TG_IOS; i++)
		to->io[i] = at_least(to->io[i], sum.io_known ? sum.io[i] : TG_MISSING);
}

int64_t tg_tree_last_pid(struct tg_tree *t)
{
	if (t->loadavg_fd < 0)
		t->loadavg_fd = tg_env_open(t->env, "proc/loadavg");
	if (t->loadavg_fd < 0 || tg_text_pread(t->env->text, t->loadavg_fd) <= 0)
		return -1;
	return tg_procfs_last_pid(t->env->text->data, t->env->text->len);
}

/* A number given out by the kernel since the last reading? Unknown counts as yes. */
static void ask_for_new_pids(struct tg_tree *t)
{
	int64_t pid = tg_tree_last_pid(t);

	t->new_pids = pid < 0 || pid != t->last_pid;
	if (pid < t->last_pid) /* they began anew, perhaps more than once until the next search */
		t->search.last_pid = -1;
	t->new_pids_since_refresh |= t->new_pids;
	t->last_pid = pid;
}

static void begin_anew(struct tg_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tg_process *p = t->node[i];

		if (p->exited || (t->env->live && tg_process_clock(p->pid) < 0))
			tg_tell_death(&t->teller, p);
		p->gone = true;
		tg_kept_close(&t->kept, p);
	}
	compact(t);
	memset(t->bucket, 0, sizeof(t->bucket));
	t->retired = t->carry = (struct tg_usage){ 0 };
	t->totals = (struct tg_tree_totals){ .t_ns = t->totals.t_ns };
	for (size_t i = 0; i < TG_IOS; i++)
		t->totals.io[i] = TG_MISSING;
	t->root_changed = t->seen = t->no_children_files = false;
	t->since_ticks = INT64_MAX;
	t->search.last_pid = -1;
	t->searched_ns = 0;
	t->root = t->want_root > 0 ? add(t, t->want_root, NULL) : NULL;
}

void tg_tree_read(struct tg_tree *t, unsigned flags)
{
	tg_kept_collect_exits(&t->kept);
	t->teller.again = t->totals.t_ns == t->env->t_ns;
	t->totals.t_ns = t->teller.t_ns = t->env->t_ns;
	if (t->root_changed)
		begin_anew(t);
	if (!t->n)
		return;
	ask_for_new_pids(t);
	t->some_gone = false;
	if (is_search_due(t, flags))
		search(t);
	for (size_t i = 0; i < t->n; i++) /* grows while children are found */
		read_one(t, t->node[i], flags);
	if (!t->seen && t->root && t->root->start_ticks >= 0) {
		t->seen = true;
		t->since_ticks = t->root->start_ticks;
	}
	if (t->some_gone) {
		settle(t);
		compact(t);
	}
	add_up(t);
	t->totals.detailed = detail_of(flags) != 0;
	if (flags & TG_READ_REFRESH)
		t->new_pids_since_refresh = false;
}

/* ---- from outside ---- */

struct tg_tree *tg_tree_new(struct tg_env *env, const struct tg_sampler_options *options)
{
	struct tg_tree *t = tg_xcalloc(1, sizeof(*t));

	t->env = env;
	t->teller = (struct tg_teller){
		.env = env, .hooks = options->hooks, .no_args = options->no_args
	};
	t->next_entity = options->first_entity;
	t->loadavg_fd = -1;
	t->last_pid = -1;
	tg_search_init(&t->search, options->mark);
	tg_kept_init(&t->kept, env->live);
	tg_tree_set_root(t, options->root);
	return t;
}

void tg_tree_free(struct tg_tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		tg_kept_close(&t->kept, t->node[i]);
		free(t->node[i]);
	}
	while (t->spare) {
		struct tg_process *p = t->spare;

		t->spare = p->hash_next;
		free(p);
	}
	tg_kept_release(&t->kept);
	tg_search_release(&t->search);
	if (t->loadavg_fd >= 0)
		close(t->loadavg_fd);
	free(t->node);
	free(t);
}

void tg_tree_set_root(struct tg_tree *t, pid_t root)
{
	t->want_root = root;
	t->root_changed = true;
}

bool tg_tree_is_unsettled(struct tg_tree *t)
{
	return tg_kept_collect_exits(&t->kept) || t->some_gone;
}

const struct tg_tree_totals *tg_tree_totals(const struct tg_tree *t)
{
	return t->seen ? &t->totals : NULL;
}

const struct tg_process *tg_tree_root(const struct tg_tree *t)
{
	return t->root && t->root->start_ticks >= 0 && !t->root->zombie ? t->root : NULL;
}

bool tg_tree_has(const struct tg_tree *t, pid_t pid)
{
	return find(t, pid) != NULL;
}

static bool is_alive(const struct tg_process *p)
{
	return p->start_ticks >= 0 && !p->zombie;
}

struct tg_process *tg_tree_from(const struct tg_tree *t, uint32_t entity)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->node[mid]->entity < entity)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo < t->n && !is_alive(t->node[lo]))
		lo++;
	return lo < t->n ? t->node[lo] : NULL;
}

void tg_tree_each(
	const struct tg_tree *t, void (*each)(void *ctx, const struct tg_process *p), void *ctx)
{
	for (size_t i = 0; i < t->n; i++)
		if (is_alive(t->node[i]))
			each(ctx, t->node[i]);
}
