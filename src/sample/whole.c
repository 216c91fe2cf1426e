/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/whole.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/cgroup.h"
#include "sample/tree.h"

#include "base/mem.h"

#define TRIES         5
#define STRANGERS_MAX 64
#define CHEAP         16 /* events that are read however often */
#define SHARE         100 /* more get a hundredth of a core */
#define AT_ONCE_NS    (5 * TG_NS_PER_MS) /* another try follows in the same reading below that */

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

void tg_whole_forget(struct tg_whole *w)
{
	tg_whole_release(w);
	w->begun = w->denied = w->foreign = w->sure = false;
	w->means = TG_MEANS_PROCESSES;
	w->tries = 0;
	w->now_ns = TG_MISSING;
	w->total_ns = w->unexplained_ns = 0;
	w->why[0] = '\0';
}

static void ask_last_pid(struct tg_whole *w, struct tg_env *env)
{
	w->asked_ns = tg_mono_ns();
	w->last_pid = tg_tree_last_pid(env->tree);
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
	w->foreign = w->denied && tg_tree_totals(env->tree)->denied > 0;
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
	else if (w->foreign)
		snprintf(w->why, sizeof(w->why),
			"perf events are denied: of its processes %d may not be looked into",
			(int)tg_tree_totals(env->tree)->denied);
	else
		snprintf(w->why, sizeof(w->why),
			"perf events are denied (a container's seccomp "
			"filter may do that)");
}

/*
 * Begin with perf. If a process or thread was started on this machine since the reading began, it
 * may be one of ours that is not counted, or is twice with the one that started it: then all is
 * done again, at once while that is cheap, else at the next reading, though not for ever.
 */
static void try_perf(struct tg_whole *w, struct tg_env *env)
{
	int64_t spent = -tg_thread_ns();

	for (;;) {
		int r = count_all(w, env);
		bool quiet =
			r == 0 && w->last_pid >= 0 && tg_tree_last_pid(env->tree) == w->last_pid;

		w->tries--;
		if (r == 0 && (quiet || !w->tries)) {
			w->means = TG_MEANS_PERF;
			w->sure = quiet;
			w->base_ns = tg_tree_totals(env->tree)->cpu_ns - tg_perf_read(&w->perf);
			w->tries = 0;
			if (!quiet)
				snprintf(w->why, sizeof(w->why),
					"processes were being started in the %.1f ms in which the "
					"count began",
					(double)(tg_mono_ns() - w->asked_ns) / 1e6);
			return;
		}
		tg_perf_close(&w->perf);
		if (r < 0) {
			tell_why(w, env, r);
			w->tries = 0;
			return;
		}
		if (tg_thread_ns() + spent > AT_ONCE_NS)
			return;
		ask_last_pid(w, env);
		tg_tree_read(env->tree, env->flags);
	}
}

/* ---- the control group ---- */

/* Those of a group that were not found in the tree. */
struct strangers {
	pid_t pid[STRANGERS_MAX];
	size_t n;
};

/* False: there are too many, or some of another PID namespace, which show as 0. */
static bool list_strangers(struct tg_env *env, const struct tg_cgroup *g, struct strangers *out)
{
	struct tg_cursor s, line;

	out->n = 0;
	if (tg_cgroup_read(env, g, "cgroup.procs") <= 0)
		return false;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_cursor_line(&s, &line)) {
		int64_t pid;

		if (!tg_cursor_i64(&line, &pid) || pid <= 0 || pid > INT32_MAX)
			return false;
		if (tg_tree_has(env->tree, (pid_t)pid))
			continue;
		if (out->n == STRANGERS_MAX)
			return false;
		out->pid[out->n++] = (pid_t)pid;
	}
	return true;
}

/*
 * One that was started since the tree was read is of a parent in it, or in the list, or has ended
 * already. Of a group that was ours alone, also an orphan that the first process has taken over.
 */
static bool belongs(struct tg_env *env, const struct strangers *s, pid_t pid, bool was_ours)
{
	struct tg_pid_stat stat;

	if (tg_env_read(env, "proc/%d/stat", pid) <= 0) /* it has ended, or is hidden from us */
		return !env->live || (kill(pid, 0) < 0 && errno == ESRCH);
	if (tg_procfs_pid_stat(env->text->data, env->text->len, &stat) < 0)
		return false;
	if (tg_tree_has(env->tree, stat.ppid) || (was_ours && stat.ppid == 1))
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (s->pid[i] == stat.ppid)
			return true;
	return false;
}

/* Whether all its processes are of the tree. Groups below it might have others. */
static bool is_ours(struct tg_env *env, const struct tg_cgroup *g, bool was_ours)
{
	struct strangers strangers;
	struct stat st;
	int fd = tg_env_open(env, "%s", g->path);
	bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 2 &&
		    list_strangers(env, g, &strangers);

	if (fd >= 0)
		close(fd);
	for (size_t i = 0; ours && i < strangers.n; i++)
		ours = belongs(env, &strangers, strangers.pid[i], was_ours);
	return ours;
}

static void look_at_cgroup(struct tg_whole *w, struct tg_env *env, int64_t processes_ns)
{
	struct tg_cgroup g;
	bool was_ours = w->means == TG_MEANS_CGROUP;
	bool ours = tg_cgroup_find(env, env->root, "cpuacct", &g) == 0 && !g.whole &&
		    is_ours(env, &g, was_ours);
	bool same = was_ours && w->now_ns != TG_MISSING && g.v2 == w->cgroup.v2 &&
		    !strcmp(g.path, w->cgroup.path);
	int64_t now;

	if (ours ? same : !was_ours)
		return;
	w->means = TG_MEANS_PROCESSES;
	w->sure = false;
	if (w->cgroup_fd >= 0)
		close(w->cgroup_fd);
	w->cgroup_fd = -1;
	if (!ours)
		return;
	w->cgroup = g;
	w->cgroup_fd = tg_cgroup_open(env, &g, g.v2 ? "cpu.stat" : "cpuacct.usage");
	now = tg_cgroup_cpu_ns(env, w->cgroup_fd, g.v2);
	if (now == TG_MISSING)
		return;
	w->base_ns = TG_MAX(w->total_ns, processes_ns) - now;
	w->means = TG_MEANS_CGROUP;
	w->sure = true;
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

	tg_whole_forget(w);
	w->root = root;
	w->begun = true;
	w->tries = perf ? TRIES : 0;
	snprintf(w->why, sizeof(w->why), "%s", perf ? "" : "perf events are switched off");
}

static int64_t read_perf(struct tg_whole *w, const struct tg_env *env)
{
	bool dear = w->perf.n > CHEAP;
	int64_t before = dear ? tg_thread_ns() : 0, ns = tg_perf_read(&w->perf);

	w->read_ns = env->t_ns;
	w->cost_ns = dear ? tg_thread_ns() - before : 0;
	return ns;
}

static void read_now(struct tg_whole *w, struct tg_env *env)
{
	w->now_ns = TG_MISSING;
	if (w->means == TG_MEANS_PERF)
		w->now_ns = read_perf(w, env);
	else if (w->means == TG_MEANS_CGROUP)
		w->now_ns = tg_cgroup_cpu_ns(env, w->cgroup_fd, w->cgroup.v2);
	if (w->now_ns == TG_MISSING)
		return;
	w->now_ns += w->base_ns;
}

bool tg_whole_before(struct tg_whole *w, struct tg_env *env)
{
	const unsigned always = TG_READ_EDGE | TG_READ_REFRESH | TG_READ_ALL;

	if (env->live && !(env->flags & always) && w->means == TG_MEANS_PERF &&
		env->t_ns - w->read_ns < w->cost_ns * SHARE)
		return false;
	if (env->live && (w->tries || !w->begun))
		ask_last_pid(w, env);
	read_now(w, env);
	return true;
}

void tg_whole_alone(struct tg_whole *w)
{
	w->total_ns = TG_MAX(w->total_ns, w->now_ns);
}

/*
 * Perf does not count on what executes a set-user-ID program, nor what that starts. Then the
 * processes are more than perf says, by more than they can have run since it was asked. That is
 * made up for, or else what perf alone sees later would be hidden in it.
 */
static void make_up_for_lost(struct tg_whole *w, const struct tg_env *env, int64_t processes_ns)
{
	int64_t since_ns = tg_mono_ns() - env->t_ns;

	if (w->means != TG_MEANS_PERF || w->now_ns == TG_MISSING ||
		processes_ns - w->now_ns <= TG_MAX(since_ns, 0) * w->cores)
		return;
	w->base_ns += w->total_ns - w->now_ns;
	w->now_ns = w->total_ns;
	if (!w->sure)
		return;
	w->sure = false;
	snprintf(w->why, sizeof(w->why),
		"it lacks what was started by a set-user-ID program, where no process shows it");
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
		try_perf(w, env);
	if (w->means != TG_MEANS_PERF && !w->tries && root && (env->flags & TG_READ_REFRESH))
		look_at_cgroup(w, env, t->cpu_ns);
	if (anew || w->means != means)
		read_now(w, env);
	/* the processes were read later, and ran meanwhile */
	lag = w->now_ns == TG_MISSING ? 0 : lag_of(w, env, t);
	w->total_ns = TG_MAX(w->total_ns, TG_MAX(w->now_ns, t->cpu_ns - lag));
	make_up_for_lost(w, env, t->cpu_ns - lag);
	w->unexplained_ns = TG_MAX(w->unexplained_ns, w->total_ns - t->cpu_ns - lag);
}
