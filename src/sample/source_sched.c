/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What made the tree wait without being seen as I/O: page faults, and the scheduling of the thread
 * in which a kernel runs its cells. Context switches and the wait for a core are told of single
 * threads only; those of hundreds of workers would cost more to read than all the rest.
 */
#include <unistd.h>

#include "sample/source.h"
#include "sample/tree.h"

#include "base/clock.h"
#include "base/mem.h"

enum { MINOR, MAJOR, VOLUNTARY, INVOLUNTARY, RUNQUEUE };

static const struct tg_metric metrics[] = {
	[MINOR] = { "tree.minor_faults", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"page faults of the tree that needed no storage, as at first touch of memory" },
	[MAJOR] = { "tree.major_faults", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"page faults of the tree that waited for storage: swap, or a file's pages" },
	[VOLUNTARY] = { "root.voluntary_switches", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"times that the main thread of the root, and no other, gave up its core to wait" },
	[INVOLUNTARY] = { "root.involuntary_switches", "count", TG_COUNTER, TG_SCOPE_JOB, 0,
		"times that the main thread of the root, and no other, lost its core" },
	[RUNQUEUE] = { "root.runqueue_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"time in which the main thread of the root, and no other, waited for a core" },
};

enum { STATUS, SCHEDSTAT, FILES };

struct sched {
	pid_t root; /* whose files these are */
	int fd[FILES];
};

static void close_files(struct sched *s)
{
	for (size_t i = 0; i < FILES; i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
		s->fd[i] = -1;
	}
}

static void follow(struct sched *s, const struct tg_env *env)
{
	if (s->root == env->root)
		return;
	close_files(s);
	s->root = env->root;
	s->fd[STATUS] = tg_env_open(env, "proc/%d/status", env->root);
	s->fd[SCHEDSTAT] = tg_env_open(env, "proc/%d/schedstat", env->root);
}

/* 0 0 0: this kernel does not count. */
static bool run_delay(const struct tg_text *text, int64_t *ns)
{
	struct tg_cursor s = tg_cursor_of(text->data, text->len);
	int64_t ran, slices;
	int64_t *const field[] = { &ran, ns, &slices };

	return tg_cursor_numbers(&s, field, TG_ARRAY_SIZE(field)) && (ran || *ns || slices);
}

static int open_sched(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct sched *s = tg_xcalloc(1, sizeof(*s));
	ssize_t n = env->root > 0 ? tg_env_read(env, "proc/%d/schedstat", env->root)
				  : tg_env_read(env, "proc/self/schedstat");
	int64_t ns;

	s->fd[STATUS] = s->fd[SCHEDSTAT] = -1;
	*state = s;
	if (n <= 0 || !run_delay(env->text, &ns))
		snprintf(why, why_size,
			"without root.runqueue_ns: this kernel has no /proc/PID/schedstat");
	return 0;
}

static bool again(const struct sched *s, struct tg_env *env, int file)
{
	return s->fd[file] >= 0 && tg_text_pread(env->text, s->fd[file]) > 0;
}

static void read_sched(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_tree_totals *totals = tg_tree_totals(env->tree);
	struct sched *s = state;
	int64_t v;

	if (!totals)
		return;
	tg_out_put(out, 0, MINOR, totals->faults[TG_FAULTS_MINOR]);
	tg_out_put(out, 0, MAJOR, totals->faults[TG_FAULTS_MAJOR]);
	if (!tg_tree_root(env->tree))
		return;
	follow(s, env);
	if (again(s, env, STATUS)) {
		const struct tg_text *text = env->text;

		if (tg_procfs_key(text->data, text->len, "voluntary_ctxt_switches:", &v))
			tg_out_put(out, 0, VOLUNTARY, v);
		if (tg_procfs_key(text->data, text->len, "nonvoluntary_ctxt_switches:", &v))
			tg_out_put(out, 0, INVOLUNTARY, v);
	}
	if (again(s, env, SCHEDSTAT) && run_delay(env->text, &v))
		tg_out_put(out, 0, RUNQUEUE, v);
}

static void close_sched(void *state)
{
	close_files(state);
	free(state);
}

const struct tg_source tg_source_sched = {
	.name = "sched",
	.help = "page faults of the tree, and how the main thread of its root is scheduled",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.edge = true,
	.open = open_sched,
	.read = read_sched,
	.close = close_sched,
};
