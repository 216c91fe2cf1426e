/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/whole.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/cgroup.h"
#include "sample/tree.h"

#include "base/mem.h"

#define TRIES 5

void tg_whole_init(struct tg_whole *w, bool no_perf)
{
	*w = (struct tg_whole){
		.cgroup_fd = -1, .no_perf = no_perf, .cores = sysconf(_SC_NPROCESSORS_ONLN)
	};
}

void tg_whole_release(struct tg_whole *w)
{
	tg_perf_close(&w->perf);
	if (w->cgroup_fd >= 0)
		close(w->cgroup_fd);
	w->cgroup_fd = -1;
}

static int64_t last_pid(struct tg_env *env)
{
	return tg_env_read(env, "proc/loadavg") > 0
		       ? tg_procfs_last_pid(env->text->data, env->text->len)
		       : -1;
}

/* ---- perf ---- */

struct threads {
	const struct tg_env *env;
	pid_t *tid;
	size_t n;
};

static int collect_thread(void *ctx, pid_t tid)
{
	struct threads *l = ctx;

	if (l->n == TG_PERF_THREADS_MAX)
		return 1;
	l->tid[l->n++] = tid;
	return 0;
}

static void collect_threads(void *ctx, const struct tg_process *p)
{
	struct threads *l = ctx;
	int dir = tg_env_open(l->env, "proc/%d/task", p->pid);

	if (dir < 0)
		return;
	tg_numbers_each(dir, collect_thread, l);
	close(dir);
}

/* Count all threads of the tree: children before their parents, so that none is counted twice. */
static int count_all(struct tg_whole *w, const struct tg_env *env)
{
	struct threads l = { .env = env };
	int r = 0;

	l.tid = tg_xcalloc(TG_PERF_THREADS_MAX, sizeof(*l.tid));
	tg_tree_each(env->tree, collect_threads, &l);
	if (l.n == TG_PERF_THREADS_MAX)
		r = -E2BIG;
	while (r == 0 && l.n) {
		r = tg_perf_add(&w->perf, l.tid[--l.n]);
		r = r == -ESRCH ? 0 : r;
	}
	free(l.tid);
	return r;
}

int64_t tg_whole_paranoid(struct tg_env *env)
{
	int64_t level = -1;

	if (tg_env_read(env, "proc/sys/kernel/perf_event_paranoid") > 0) {
		struct tg_cursor c = tg_cursor_of(env->text->data, env->text->len);

		if (!tg_cursor_i64(&c, &level))
			level = -1;
	}
	return level;
}

static void tell_why(struct tg_whole *w, struct tg_env *env, int error)
{
	int64_t level = tg_whole_paranoid(env);

	w->denied = error == -EACCES || error == -EPERM;
	if (error == -E2BIG)
		snprintf(w->why, sizeof(w->why), "it had more than %d threads when the count began",
			TG_PERF_THREADS_MAX);
	else if (!w->denied)
		snprintf(w->why, sizeof(w->why), "perf events are not to be had: %s",
			strerror(-error));
	else if (level > 2)
		snprintf(w->why, sizeof(w->why),
			"perf events are denied: "
			"/proc/sys/kernel/perf_event_paranoid is %d",
			(int)level);
	else
		snprintf(w->why, sizeof(w->why),
			"perf events are denied (a container's seccomp "
			"filter may do that)");
}

/*
 * Begin with perf. If a process or thread was started on this machine since the reading began, it
 * may be one of ours that is not counted: then try again at the next reading, though not for ever.
 */
static void try_perf(struct tg_whole *w, struct tg_env *env, int64_t processes_ns)
{
	int r = count_all(w, env);
	bool quiet = r == 0 && w->last_pid >= 0 && last_pid(env) == w->last_pid;

	w->tries--;
	if (r == 0 && (quiet || !w->tries)) {
		w->means = TG_MEANS_PERF;
		w->base_ns = processes_ns - tg_perf_read(&w->perf);
		w->tries = 0;
		snprintf(w->why, sizeof(w->why), "%s",
			quiet ? "" : "processes were being started when the count began");
		return;
	}
	tg_perf_close(&w->perf);
	if (r < 0) {
		tell_why(w, env, r);
		w->tries = 0;
	}
}

/* ---- the control group ---- */

/* Whether all its processes are of the tree. Groups below it might have others. */
static bool is_ours(struct tg_env *env, const struct tg_cgroup *g)
{
	struct tg_cursor s, line;
	struct stat st;
	bool any = false;
	int fd = tg_env_open(env, "%s", g->path);
	bool leaf = fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 2;

	if (fd >= 0)
		close(fd);
	if (!leaf || tg_cgroup_read(env, g, "cgroup.procs") <= 0)
		return false;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_cursor_line(&s, &line)) {
		int64_t pid;

		/* 0: one of another pid namespace */
		if (!tg_cursor_i64(&line, &pid) || !tg_tree_has(env->tree, (pid_t)pid))
			return false;
		any = true;
	}
	return any;
}

static void look_at_cgroup(struct tg_whole *w, struct tg_env *env, int64_t processes_ns)
{
	struct tg_cgroup g;
	bool ours =
		tg_cgroup_find(env, env->root, "cpuacct", &g) == 0 && !g.whole && is_ours(env, &g);
	int64_t now;

	if (ours == (w->means == TG_MEANS_CGROUP))
		return;
	w->means = TG_MEANS_PROCESSES;
	if (w->cgroup_fd >= 0)
		close(w->cgroup_fd);
	w->cgroup_fd = -1;
	if (!ours)
		return;
	w->cgroup_v2 = g.v2;
	w->cgroup_fd = tg_cgroup_open(env, &g, g.v2 ? "cpu.stat" : "cpuacct.usage");
	now = tg_cgroup_cpu_ns(env, w->cgroup_fd, g.v2);
	if (now == TG_MISSING)
		return;
	w->base_ns = TG_MAX(w->total_ns, processes_ns) - now;
	w->means = TG_MEANS_CGROUP;
}

/* ---- both ---- */

/* Clocks of running threads lag by a tick; of children that were waited for two are cut off. */
static int64_t lag_of(
	const struct tg_whole *w, const struct tg_env *env, const struct tg_tree_totals *t)
{
	return (TG_MIN(t->threads, w->cores) + 2 * t->processes) * env->tick_ns;
}

/* Another root: all begins anew. */
static void begin_anew(struct tg_whole *w, const struct tg_env *env, uint32_t root)
{
	bool perf = env->live && !w->no_perf;

	tg_whole_release(w);
	w->root = root;
	w->begun = true;
	w->denied = false;
	w->means = TG_MEANS_PROCESSES;
	w->tries = perf ? TRIES : 0;
	w->total_ns = w->unexplained_ns = 0;
	snprintf(w->why, sizeof(w->why), "%s", perf ? "" : "perf events are switched off");
}

static void read_now(struct tg_whole *w, struct tg_env *env)
{
	w->now_ns = TG_MISSING;
	if (w->means == TG_MEANS_PERF)
		w->now_ns = tg_perf_read(&w->perf);
	else if (w->means == TG_MEANS_CGROUP)
		w->now_ns = tg_cgroup_cpu_ns(env, w->cgroup_fd, w->cgroup_v2);
	if (w->now_ns == TG_MISSING)
		return;
	w->now_ns += w->base_ns;
}

void tg_whole_before(struct tg_whole *w, struct tg_env *env)
{
	if (env->live && (w->tries || !w->begun))
		w->last_pid = last_pid(env);
	read_now(w, env);
}

void tg_whole_alone(struct tg_whole *w)
{
	w->total_ns = TG_MAX(w->total_ns, w->now_ns);
}

void tg_whole_after(struct tg_whole *w, struct tg_env *env)
{
	const struct tg_tree_totals *t = tg_tree_totals(env->tree);
	const struct tg_process *root = tg_tree_root(env->tree);
	enum tg_means means = w->means;
	bool anew = root && (!w->begun || root->entity != w->root);
	int64_t lag;

	if (!t)
		return;
	if (anew)
		begin_anew(w, env, root->entity);
	if (w->tries)
		try_perf(w, env, t->cpu_ns);
	if (w->means != TG_MEANS_PERF && !w->tries && root && (env->flags & TG_READ_REFRESH))
		look_at_cgroup(w, env, t->cpu_ns);
	if (anew || w->means != means)
		read_now(w, env);
	/* the processes were read later, and ran meanwhile */
	lag = w->now_ns == TG_MISSING ? 0 : lag_of(w, env, t);
	w->total_ns = TG_MAX(w->total_ns, TG_MAX(w->now_ns, t->cpu_ns - lag));
	w->unexplained_ns = TG_MAX(w->unexplained_ns, w->total_ns - t->cpu_ns - lag);
}
