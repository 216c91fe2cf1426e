/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the job's processes use of GPUs whose drivers tell it in /proc/PID/fdinfo (drm.h): amdgpu,
 * i915, xe. A client of a device may have many descriptors, by dup and over fork, and counts once.
 *
 * Asked once a second: clients that are known by the descriptor where they were found, and for
 * new ones a share of all descriptors of the tree. A counter that falls for a moment, as they may,
 * is waited for, and what a client had is kept, so that its past does not count again when it is
 * found again, as that of a process which hung. What answers are drivers: see apart.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "sample/drm.h"
#include "sample/helper.h"
#include "sample/sampler.h"
#include "sample/source.h"
#include "sample/tree.h"

#include "base/clock.h"
#include "base/mem.h"

#define CLIENTS_MAX 4096
#define TOTALS_MAX  1024
#define LINKS_MAX   2000 /* looked at in one reading */
#define LOST_NS     (60 * TG_NS_PER_S) /* a client that was closed, or is hard to find */

enum { ENGINE, MEMORY };

static const struct tg_metric metrics[] = {
	[ENGINE] = { "drm.engine_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"time in which engines of that kind worked for the job; a second each a second" },
	[MEMORY] = { "drm.memory_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"memory of that kind that the job has; what clients share counts for each" },
};

struct total { /* over clients */
	char name[TG_INSTANCE_MAX]; /* "0000:03:00.0 gfx" */
	size_t metric;
	int64_t sum; /* ENGINE: also of clients that are gone; MEMORY: of this reading */
	bool seen; /* in this reading */
};

struct engine {
	int64_t ns, cycles, total_cycles; /* the largest seen; cycles: as read last */
	char name[TG_DRM_NAME_MAX];
};

struct client {
	char pdev[TG_DRM_NAME_MAX];
	int64_t id;
	pid_t pid; /* where it was found last */
	int fd;
	int64_t read_ns; /* when it was */
	struct engine engine[TG_DRM_PARTS];
	size_t n;
};

struct drm {
	pid_t root;
	struct client *client;
	size_t n, cap;
	struct total *total;
	size_t n_totals, cap_totals;
	pid_t *pid; /* of the tree, as read this time */
	size_t n_pids, cap_pids;
	size_t next; /* where the next search begins */
	struct tg_drm now; /* one file */
	/* of the reading that goes on */
	struct tg_env *env;
	int64_t now_ns;
	int fd_dir;
	pid_t in;
	bool unseen; /* not every descriptor could be looked at */
	size_t links;
};

static struct total *total_of(struct drm *d, size_t metric, const char *pdev, const char *part)
{
	struct total *t;
	char name[TG_INSTANCE_MAX];

	snprintf(name, sizeof(name), "%s %s", pdev, part);
	for (size_t i = 0; i < d->n_totals; i++)
		if (d->total[i].metric == metric && !strcmp(d->total[i].name, name))
			return &d->total[i];
	if (d->n_totals == TOTALS_MAX)
		return NULL;
	TG_GROW(d->total, d->n_totals + 1, d->cap_totals);
	t = &d->total[d->n_totals++];
	*t = (struct total){ .metric = metric };
	memcpy(t->name, name, sizeof(name));
	return t;
}

static void add(struct drm *d, size_t metric, const char *pdev, const char *part, int64_t value)
{
	struct total *t = total_of(d, metric, pdev, part);

	if (!t)
		return;
	t->seen = true;
	if (__builtin_add_overflow(t->sum, value, &t->sum))
		t->sum = INT64_MAX;
}

/* Room for another one; of too many the one that was not read for longest makes it. */
static struct client *add_client(struct drm *d)
{
	struct client *oldest = d->client;

	if (d->n < CLIENTS_MAX) {
		TG_GROW(d->client, d->n + 1, d->cap);
		return &d->client[d->n++];
	}
	for (size_t i = 1; i < d->n; i++)
		if (d->client[i].read_ns < oldest->read_ns)
			oldest = &d->client[i];
	return oldest->read_ns < d->now_ns ? oldest : NULL;
}

static struct client *find(struct drm *d, const char *pdev, int64_t id)
{
	struct client *c;

	for (size_t i = 0; i < d->n; i++)
		if (d->client[i].id == id && !strcmp(d->client[i].pdev, pdev))
			return &d->client[i];
	c = add_client(d);
	if (!c)
		return NULL;
	c->id = id;
	memcpy(c->pdev, pdev, sizeof(c->pdev));
	c->read_ns = 0;
	c->n = 0;
	return c;
}

static struct engine *engine_of(struct client *c, const char *name)
{
	struct engine *e;

	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->engine[i].name, name))
			return &c->engine[i];
	if (c->n == TG_DRM_PARTS)
		return NULL;
	e = &c->engine[c->n++];
	*e = (struct engine){ .cycles = TG_MISSING };
	memcpy(e->name, name, sizeof(e->name));
	return e;
}

/* The cycles of a client, over all that passed, are its part of the time between two readings. */
static int64_t from_cycles(const struct engine *e, const struct tg_drm_engine *now, int64_t time)
{
	double all, busy;

	if (e->cycles == TG_MISSING || now->total_cycles <= e->total_cycles ||
		now->cycles <= e->cycles)
		return 0;
	all = (double)now->total_cycles - (double)e->total_cycles;
	busy = (double)now->cycles - (double)e->cycles;
	return (int64_t)((double)time * TG_MIN(busy / all, 1000.0));
}

static void take_engine(
	struct drm *d, struct client *c, const struct tg_drm_engine *now, int64_t time)
{
	struct engine *e = engine_of(c, now->name);
	int64_t gain = 0;

	if (!e)
		return;
	if (now->ns != TG_MISSING) {
		gain = TG_MAX(now->ns - e->ns, 0);
		e->ns = TG_MAX(now->ns, e->ns);
	} else if (now->cycles != TG_MISSING && now->total_cycles != TG_MISSING) {
		gain = from_cycles(e, now, time);
		e->cycles = TG_MAX(now->cycles, e->cycles);
		e->total_cycles = now->total_cycles;
	}
	add(d, ENGINE, c->pdev, now->name, gain);
}

/* Read one descriptor of process `pid`. False when it is no client's. */
static bool take_file(struct drm *d, pid_t pid, int fd)
{
	struct tg_text *text = d->env->text;
	struct client *c;

	if (tg_env_read(d->env, "proc/%d/fdinfo/%d", pid, fd) <= 0 ||
		tg_drm_fdinfo(text->data, text->len, &d->now) < 0)
		return false;
	c = find(d, d->now.pdev, d->now.client);
	if (!c || c->read_ns == d->now_ns)
		return true;
	for (size_t i = 0; i < d->now.n_engines; i++)
		take_engine(d, c, &d->now.engine[i], d->now_ns - c->read_ns);
	for (size_t i = 0; i < d->now.n_memories; i++) {
		const struct tg_drm_memory *m = &d->now.memory[i];
		int64_t bytes =
			m->resident_bytes != TG_MISSING ? m->resident_bytes : m->memory_bytes;

		if (bytes != TG_MISSING)
			add(d, MEMORY, c->pdev, m->name, bytes);
	}
	c->pid = pid;
	c->fd = fd;
	c->read_ns = d->now_ns;
	return true;
}

static bool known(const struct drm *d, pid_t pid, int fd)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->client[i].pid == pid && d->client[i].fd == fd &&
			d->client[i].read_ns == d->now_ns)
			return true;
	return false;
}

static int one_descriptor(void *ctx, pid_t fd)
{
	static const char dri[] = "/dev/dri/";
	struct drm *d = ctx;
	char name[16], to[sizeof(dri)];

	snprintf(name, sizeof(name), "%d", fd);
	d->links++;
	if (readlinkat(d->fd_dir, name, to, sizeof(to)) == sizeof(to) &&
		!memcmp(to, dri, sizeof(dri) - 1) && !known(d, d->in, fd))
		take_file(d, d->in, fd);
	return d->links >= LINKS_MAX;
}

static void search(struct drm *d)
{
	size_t k = 0;

	d->links = 0;
	for (; k < d->n_pids && d->links < LINKS_MAX; k++) {
		d->in = d->pid[(d->next + k) % d->n_pids];
		d->fd_dir = tg_env_open(d->env, "proc/%d/fd", d->in);
		d->unseen |= d->fd_dir == -EACCES || d->fd_dir == -EPERM;
		if (d->fd_dir < 0)
			continue;
		tg_numbers_each(d->fd_dir, one_descriptor, d);
		close(d->fd_dir);
	}
	d->unseen |= k < d->n_pids;
	d->next = d->n_pids ? (d->next + k) % d->n_pids : 0;
}

static void add_pid(struct drm *d, pid_t pid)
{
	TG_GROW(d->pid, d->n_pids + 1, d->cap_pids);
	d->pid[d->n_pids++] = pid;
}

/* One in state D could make us wait for it. */
static void add_process(void *ctx, const struct tg_process *p)
{
	struct drm *d = ctx;

	d->unseen |= p->state == 'D';
	if (p->state != 'D')
		add_pid(d, p->pid);
}

static void list_processes(struct drm *d)
{
	const struct tg_pids *pids = d->env->pids;

	d->n_pids = 0;
	d->unseen = pids && pids->unseen;
	for (size_t i = 0; pids && i < pids->n; i++)
		add_pid(d, pids->pid[i]);
	if (!pids)
		tg_tree_each(d->env->tree, add_process, d);
}

/* Whether to look where it was: not in a process that is gone or hangs, and not for ever. */
static bool is_there(const struct drm *d, const struct client *c)
{
	bool there = false;

	for (size_t i = 0; i < d->n_pids && c->read_ns > d->now_ns - LOST_NS; i++)
		there |= d->pid[i] == c->pid;
	return there;
}

static void put_all(struct drm *d, struct tg_out *out)
{
	for (size_t i = 0; i < d->n_totals; i++) {
		struct total *t = &d->total[i];
		size_t at = tg_out_instance(out, t->name);

		/* no memory at all is certain only when every descriptor was looked at */
		if (at != SIZE_MAX && (t->seen || t->metric == ENGINE || !d->unseen))
			tg_out_put(out, at, t->metric, t->sum);
		t->seen = false;
		if (t->metric == MEMORY)
			t->sum = 0;
	}
}

static void read_drm(void *state, struct tg_env *env, struct tg_out *out)
{
	struct drm *d = state;

	if (d->root != env->root)
		d->n = d->n_totals = d->next = 0;
	d->root = env->root;
	d->env = env;
	d->now_ns = env->t_ns;
	list_processes(d);
	for (size_t i = 0; i < d->n; i++)
		if (is_there(d, &d->client[i]))
			take_file(d, d->client[i].pid, d->client[i].fd);
	search(d);
	put_all(d, out);
}

static int open_drm(struct tg_env *env, void **state, char *why, size_t why_size)
{
	int dir = tg_env_open(env, "dev/dri");

	if (dir < 0) {
		snprintf(why, why_size, "there is no GPU with a driver of the kernel's own");
		return -ENODEV;
	}
	close(dir);
	*state = tg_xcalloc(1, sizeof(struct drm));
	return 0;
}

static void close_drm(void *state)
{
	struct drm *d = state;

	free(d->client);
	free(d->total);
	free(d->pid);
	free(d);
}

const struct tg_source tg_source_drm = {
	.name = "drm",
	.help = "what the job uses of AMD's and Intel's GPUs, by kind of engine and of memory",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.instances = true,
	.period_ns = TG_NS_PER_S,
	.late_ns = TG_HELPER_LATE_NS,
	.apart = true,
	.of_tree = true,
	.open = open_drm,
	.read = read_drm,
	.close = close_drm,
};
