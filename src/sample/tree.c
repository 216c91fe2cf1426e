/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/tree.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sample/usage.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* Linux 5.3, the same number everywhere */
#endif

#define BUCKETS    4096
#define ARGS_TRIES 3

struct tg_tree {
	struct tg_env *env;
	struct tg_sampler_hooks hooks;
	bool no_args;
	uint32_t next_entity;

	pid_t want_root;
	bool root_changed;
	struct tg_process *root; /* while it runs */
	struct tg_process **node; /* as found: parents before children */
	size_t n, cap;
	struct tg_process *spare; /* for reuse, linked by hash_next */
	struct tg_process *bucket[BUCKETS]; /* by pid; no process that is gone */

	struct tg_process *newest, *oldest; /* those with open files, by last use */
	unsigned n_open, n_pidfds, max_open;
	int epoll_fd, loadavg_fd;

	int64_t last_pid; /* given out on this machine, when last asked */
	bool new_pids; /* some since the reading before */
	bool no_children_files;
	bool some_gone; /* in this reading */

	struct tg_usage retired; /* of those gone that no parent waited for */
	struct tg_usage carry; /* of those gone whose parent shows it from the next reading on */
	struct tg_tree_totals totals;
	bool seen; /* the root was there */
	char args[TG_ARGS_MAX + 64];
};

/* ---- by pid ---- */

static struct tg_process **bucket_of(struct tg_tree *t, pid_t pid)
{
	return &t->bucket[(unsigned)pid % BUCKETS];
}

static struct tg_process *find(struct tg_tree *t, pid_t pid)
{
	struct tg_process *p = *bucket_of(t, pid);

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

/* ---- descriptors: a bound, and the least recently used go first ---- */

static void unlink_open(struct tg_tree *t, struct tg_process *p)
{
	if (t->newest != p && !p->newer)
		return; /* not in the list */
	*(p->newer ? &p->newer->older : &t->newest) = p->older;
	*(p->older ? &p->older->newer : &t->oldest) = p->newer;
	p->newer = p->older = NULL;
}

/* `p` was just read; before that it had `before` files open. */
static void used(struct tg_tree *t, struct tg_process *p, unsigned before)
{
	t->n_open += p->n_open - before;
	if (t->newest != p) {
		unlink_open(t, p);
		p->older = t->newest;
		*(t->newest ? &t->newest->newer : &t->oldest) = p;
		t->newest = p;
	}
	while (t->n_open + t->n_pidfds > t->max_open && t->oldest != p) {
		struct tg_process *idle = t->oldest;

		unlink_open(t, idle);
		t->n_open -= tg_process_close_files(idle);
	}
}

static void open_pidfd(struct tg_tree *t, struct tg_process *p)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = p };

	if (!t->env->live || t->epoll_fd < 0 || t->n_pidfds >= t->max_open / 2)
		return;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0); /* close-on-exec by nature */
	if (p->pidfd < 0)
		return;
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, p->pidfd, &event) < 0) {
		close(p->pidfd);
		p->pidfd = -1;
		return;
	}
	t->n_pidfds++;
}

static void close_pidfd(struct tg_tree *t, struct tg_process *p)
{
	if (p->pidfd < 0)
		return;
	close(p->pidfd); /* which takes it out of the epoll set, too */
	p->pidfd = -1;
	t->n_pidfds--;
}

static void close_all(struct tg_tree *t, struct tg_process *p)
{
	unlink_open(t, p);
	t->n_open -= tg_process_close_files(p);
	close_pidfd(t, p);
}

/* Note who has ended since the last reading. */
static void collect_exits(struct tg_tree *t)
{
	struct epoll_event event[64];
	int n;

	if (t->epoll_fd < 0 || !t->n_pidfds)
		return;
	do {
		n = epoll_wait(t->epoll_fd, event, TG_ARRAY_SIZE(event), 0);
		for (int i = 0; i < n; i++) {
			struct tg_process *p = event[i].data.ptr;

			p->exited = true;
			close_pidfd(t, p);
		}
	} while (n == TG_ARRAY_SIZE(event));
}

/* ---- members ---- */

static struct tg_process *add(struct tg_tree *t, pid_t pid, struct tg_process *parent)
{
	struct tg_process *p, **bucket = bucket_of(t, pid);

	if (t->n >= TG_TREE_MAX)
		return NULL;
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
	TG_GROW(t->node, t->n + 1, t->cap);
	t->node[t->n++] = p;
	open_pidfd(t, p);
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

static int add_if_child(void *ctx, pid_t pid)
{
	struct add_child *c = ctx;
	struct tg_text *text = c->t->env->text;
	struct tg_process *parent;
	struct tg_pid_stat stat;

	if (find(c->t, pid) || tg_env_read(c->t->env, "proc/%d/stat", pid) <= 0 ||
		tg_procfs_pid_stat(text->data, text->len, &stat) < 0)
		return 0;
	parent = find(c->t, stat.ppid);
	if (parent && !parent->gone)
		add(c->t, pid, parent);
	return 0;
}

/* A kernel without children files: look at every process of the machine. Once a second will do. */
static void scan_all(struct tg_tree *t)
{
	struct add_child c = { t, NULL };
	int dir = tg_env_open(t->env, "proc");
	size_t before;

	if (dir < 0)
		return;
	do { /* until there are no more: a child's number may be below its parent's */
		before = t->n;
		tg_numbers_each(dir, add_if_child, &c);
	} while (t->n > before);
	close(dir);
}

/* ---- hooks ---- */

static void tell_death(struct tg_tree *t, struct tg_process *p)
{
	if (t->hooks.death && p->told_birth && !p->told_death)
		t->hooks.death(t->hooks.ctx, t->totals.t_ns, p->entity, p->pid, p->clock_ns);
	p->told_death = true;
}

/* Also again under the same number: after an exec, and when its arguments were late. */
static void tell_birth(struct tg_tree *t, struct tg_process *p)
{
	struct tg_birth birth = {
		.t_ns = t->totals.t_ns,
		.entity = p->entity,
		.pid = p->pid,
		.ppid = p->ppid,
		.start_ns = p->start_ticks * t->env->tick_ns,
		.comm = p->comm,
	};
	bool named = !p->told_birth || p->execed;

	if (named)
		p->args_tries = t->no_args ? 0 : ARGS_TRIES;
	/* the kernel sets the new name first, and the arguments a moment later */
	if (p->args_tries && tg_process_args(p, t->env, t->args, sizeof(t->args))) {
		birth.args = t->args;
		p->args_tries = 0;
	} else if (p->args_tries) {
		p->args_tries--;
		p->read_now = true;
	}
	if (named || birth.args)
		t->hooks.birth(t->hooks.ctx, &birth);
}

static void tell(struct tg_tree *t, struct tg_process *p)
{
	const int64_t value[TG_FIELDS] = {
		[TG_FIELD_CPU_NS] = p->clock_ns,
		[TG_FIELD_RSS_BYTES] = p->rss_bytes,
		[TG_FIELD_VMS_BYTES] = p->vms_bytes,
		[TG_FIELD_HWM_BYTES] = p->hwm_bytes ? p->hwm_bytes : TG_MISSING,
		[TG_FIELD_READ_BYTES] = p->io_known ? p->io[TG_IO_READ] : TG_MISSING,
		[TG_FIELD_WRITE_BYTES] = p->io_known ? p->io[TG_IO_WRITE] : TG_MISSING,
		[TG_FIELD_READ_OPS] = p->io_known ? p->io[TG_IO_SYSCR] : TG_MISSING,
		[TG_FIELD_WRITE_OPS] = p->io_known ? p->io[TG_IO_SYSCW] : TG_MISSING,
		[TG_FIELD_THREADS] = p->threads,
	};

	if (p->told_death)
		return;
	if (t->hooks.birth && (!p->told_birth || p->execed || p->args_tries))
		tell_birth(t, p);
	p->told_birth = true;
	for (uint32_t i = 0; i < TG_FIELDS; i++) {
		if (value[i] == p->told[i] || value[i] == TG_MISSING)
			continue;
		p->told[i] = value[i];
		if (t->hooks.value)
			t->hooks.value(t->hooks.ctx, t->totals.t_ns, p->entity, i, value[i]);
	}
	if (p->zombie)
		tell_death(t, p);
}

/* ---- a reading ---- */

static void is_gone(struct tg_tree *t, struct tg_process *p)
{
	p->gone = true;
	t->some_gone = true;
	forget(t, p);
	close_all(t, p);
	tell_death(t, p);
	if (p == t->root)
		t->root = NULL;
	if (p->parent) {
		p->parent->read_now = true;
		p->parent->list_now = true; /* its pid may be another child's by now */
	}
}

/*
 * Nothing to read: it used no CPU since, so it has neither forked nor done I/O nor grown nor
 * waited for a child; and it was told apart from a later owner of its pid.
 */
static bool has_idled(const struct tg_tree *t, const struct tg_process *p, unsigned flags)
{
	if ((flags & TG_READ_REFRESH) || !t->env->live || !p->has_clock || p->read_now)
		return false;
	if ((p->exited && !p->zombie) || (p->unlisted && t->new_pids))
		return false;
	if (p->parent && (p->parent->gone || p->parent->zombie))
		return false; /* it has another parent now */
	return tg_process_clock(p->pid) == p->clock_ns;
}

static void read_one(struct tg_tree *t, struct tg_process *p, unsigned flags)
{
	bool fresh = p->start_ticks < 0, refresh = flags & TG_READ_REFRESH;
	struct tg_usage before = tg_usage_of(p);
	unsigned n_open = p->n_open;

	p->credit = (struct tg_usage){ 0 };
	p->late_read = p->late_gone = false;
	if (has_idled(t, p, flags))
		return;
	if (tg_process_read(p, t->env, flags ? TG_DETAIL_PEAK : 0) < 0) {
		t->n_open += p->n_open - n_open;
		is_gone(t, p);
		return;
	}
	if (p->start_ticks < 0) {
		used(t, p, n_open);
		return; /* there, but not readable now */
	}
	p->read_now = false;
	if (!fresh)
		p->credit = tg_usage_gain(p, &before);
	p->late_used = (struct tg_usage){ 0 };
	if (p != t->root && (!p->parent || p->parent->gone || p->parent->pid != p->ppid))
		p->parent = find(t, p->ppid);
	if (p->parent == p)
		p->parent = NULL;
	p->unlisted = true;
	if (!p->zombie && (fresh || refresh || t->new_pids || p->list_now))
		list_children(t, p, fresh || refresh);
	used(t, p, n_open);
	tell(t, p);
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

		if (!p->gone || p->start_ticks < 0)
			continue;
		left = tg_usage_of(p);
		while (a && a->gone && a->folded)
			a = a->parent;
		if (!a || a->gone) {
			tg_usage_add(&t->retired, &left);
			continue;
		}
		p->folded = true;
		if (tg_usage_take(&a->credit, &left, t->env->tick_ns))
			continue;
		tg_usage_look_again(a, t->env);
		/* if it has gone itself meanwhile, the next reading settles both at once */
		if (a->late_gone || tg_usage_take(&a->late, &left, t->env->tick_ns)) {
			tg_usage_add(&a->late_used, &left);
			tg_usage_add(&t->carry, &left);
			a->read_now = true;
			continue;
		}
		p->folded = false;
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

static void add_up(struct tg_tree *t)
{
	struct tg_usage sum = t->retired;
	struct tg_tree_totals *to = &t->totals;

	to->rss_bytes = to->vms_bytes = to->anon_bytes = 0;
	to->processes = to->threads = to->denied = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct tg_process *p = t->node[i];
		struct tg_usage usage = tg_usage_of(p);

		if (p->start_ticks < 0)
			continue;
		tg_usage_add(&sum, &usage);
		to->rss_bytes += p->rss_bytes;
		to->vms_bytes += p->vms_bytes;
		to->anon_bytes += p->anon_bytes;
		to->threads += p->threads;
		to->processes += !p->zombie;
		to->denied += !p->zombie && !p->io_known;
	}
	tg_usage_add(&sum, &t->carry);
	t->carry = (struct tg_usage){ 0 };
	to->cpu_ns = at_least(to->cpu_ns, sum.cpu_ns);
	for (size_t i = 0; i < TG_IOS; i++)
		to->io[i] = at_least(to->io[i], sum.io_known ? sum.io[i] : TG_MISSING);
}

/* A number given out by the kernel since the last reading? Unknown counts as yes. */
static void ask_for_new_pids(struct tg_tree *t)
{
	int64_t pid = -1;

	if (t->loadavg_fd < 0)
		t->loadavg_fd = tg_env_open(t->env, "proc/loadavg");
	if (t->loadavg_fd >= 0 && tg_text_pread(t->env->text, t->loadavg_fd) > 0)
		pid = tg_procfs_last_pid(t->env->text->data, t->env->text->len);
	t->new_pids = pid < 0 || pid != t->last_pid;
	t->last_pid = pid;
}

static void begin_anew(struct tg_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tg_process *p = t->node[i];

		if (p->exited || (t->env->live && tg_process_clock(p->pid) < 0))
			tell_death(t, p);
		p->gone = true;
		close_all(t, p);
	}
	compact(t);
	memset(t->bucket, 0, sizeof(t->bucket));
	t->retired = t->carry = (struct tg_usage){ 0 };
	t->totals = (struct tg_tree_totals){ .t_ns = t->totals.t_ns };
	for (size_t i = 0; i < TG_IOS; i++)
		t->totals.io[i] = TG_MISSING;
	t->root_changed = t->seen = t->no_children_files = false;
	t->root = t->want_root > 0 ? add(t, t->want_root, NULL) : NULL;
}

void tg_tree_read(struct tg_tree *t, unsigned flags)
{
	collect_exits(t);
	t->totals.t_ns = tg_mono_ns();
	if (t->root_changed)
		begin_anew(t);
	if (!t->n)
		return;
	ask_for_new_pids(t);
	t->some_gone = false;
	if (t->no_children_files && (flags & TG_READ_REFRESH))
		scan_all(t);
	for (size_t i = 0; i < t->n; i++) /* grows while children are found */
		read_one(t, t->node[i], flags);
	t->seen |= t->root && t->root->start_ticks >= 0;
	if (t->some_gone) {
		settle(t);
		compact(t);
	}
	add_up(t);
}

/* ---- from outside ---- */

struct tg_tree *tg_tree_new(struct tg_env *env, const struct tg_sampler_options *options)
{
	struct tg_tree *t = tg_xcalloc(1, sizeof(*t));
	struct rlimit limit = { .rlim_cur = 1024 };

	t->env = env;
	t->hooks = options->hooks;
	t->no_args = options->no_args;
	t->next_entity = options->first_entity;
	t->epoll_fd = env->live ? epoll_create1(EPOLL_CLOEXEC) : -1;
	t->loadavg_fd = -1;
	t->last_pid = -1;
	getrlimit(RLIMIT_NOFILE, &limit);
	/* the rest is for the recorder's own; the limit is never raised: children inherit it */
	t->max_open = (unsigned)TG_MIN(limit.rlim_cur, 65536) / 2;
	tg_tree_set_root(t, options->root);
	return t;
}

void tg_tree_free(struct tg_tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		close_all(t, t->node[i]);
		free(t->node[i]);
	}
	while (t->spare) {
		struct tg_process *p = t->spare;

		t->spare = p->hash_next;
		free(p);
	}
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
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

const struct tg_tree_totals *tg_tree_totals(const struct tg_tree *t)
{
	return t->seen ? &t->totals : NULL;
}

const struct tg_process *tg_tree_root(const struct tg_tree *t)
{
	return t->root && t->root->start_ticks >= 0 && !t->root->zombie ? t->root : NULL;
}

void tg_tree_each(
	const struct tg_tree *t, void (*each)(void *ctx, const struct tg_process *p), void *ctx)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->node[i]->start_ticks >= 0 && !t->node[i]->zombie)
			each(ctx, t->node[i]);
}
