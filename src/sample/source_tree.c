/* SPDX-License-Identifier: BSD-3-Clause */
/* What the measured process tree uses as a whole. The work is done in tree.c and whole.c. */
#include <unistd.h>

#include "sample/lacks.h"
#include "sample/source.h"
#include "sample/tree.h"
#include "sample/whole.h"

#include "base/clock.h"
#include "base/mem.h"

#define SHARE 100 /* walking through them, and refreshing them, gets a hundredth of a core each */

enum {
	CPU,
	UNATTRIBUTED,
	RSS,
	VMS,
	ANON,
	READ,
	WRITE,
	CANCELLED,
	RCHAR,
	WCHAR,
	READ_OPS,
	WRITE_OPS,
	PROCESSES,
	THREADS,
	DENIED
};

static const struct tg_metric metrics[] = {
	[CPU] = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"CPU time of all processes of the tree, ended ones included", TG_TICK_WHOLE },
	[UNATTRIBUTED] = { "tree.cpu_unattributed_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"of that, what no process explains: of those that were born and dead between two "
		"readings; and, by the kernel's counter, time in which a process had a core that "
		"an interrupt or, of a virtual machine, the host had taken away" },
	[RSS] = { "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"resident memory, added up: pages that processes share count once for each; the "
		"kernel counts it in portions per core, so by some pages it is approximate" },
	[VMS] = { "tree.vms_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "address space, added up" },
	[ANON] = { "tree.anon_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"resident memory without files and shared memory" },
	[READ] = { "tree.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes fetched from storage" },
	[WRITE] = { "tree.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes sent, or to be sent, to storage" },
	[CANCELLED] = { "tree.cancelled_write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes that never went to storage, since the file was cut or removed before; "
		"counted for who did that, and still in the bytes of who wrote" },
	[RCHAR] = { "tree.rchar_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes that read calls returned, from storage, cache, pipes or elsewhere" },
	[WCHAR] = { "tree.wchar_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes given to write calls, to files, pipes or elsewhere" },
	[READ_OPS] = { "tree.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "read calls" },
	[WRITE_OPS] = { "tree.write_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, "write calls" },
	[PROCESSES] = { "tree.processes", "count", TG_GAUGE, TG_SCOPE_JOB, 0,
		"processes that are alive" },
	[THREADS] = { "tree.threads", "count", TG_GAUGE, TG_SCOPE_JOB, 0, "their threads" },
	[DENIED] = { "tree.denied", "count", TG_GAUGE, TG_SCOPE_JOB, 0,
		"processes whose I/O may not be read, so that the sums lack it" },
};

/*
 * The whole is told by a read or two, at any rate. The processes are walked through less often;
 * when the whole has not moved since, none of them has run, and all figures stand. Then they are
 * not walked through at all, where it is sure to have them all, until the next refresh.
 */
struct walk {
	pid_t root;
	int64_t t_ns, whole_ns; /* of the last one */
	int64_t cost_ns; /* CPU time of one lately */
	int64_t refresh_cost_ns; /* … and of the last one that refreshed all */
	int64_t refreshed_ns;
	bool owed; /* a refresh that was asked for and was too dear then */
};

static int open_tree(struct tg_env *env, void **state, char *why, size_t why_size)
{
	int fd = tg_env_open(env, "proc");

	if (fd < 0) {
		snprintf(why, why_size, "/proc cannot be opened: %s", strerror(-fd));
		return fd;
	}
	close(fd);
	*state = tg_xcalloc(1, sizeof(struct walk));
	return 0;
}

static bool is_refresh_due(const struct walk *k, const struct tg_env *env)
{
	int64_t again = k->refresh_cost_ns * SHARE;

	return k->owed && (!env->live || (env->flags & TG_READ_ALL) || again <= TG_NS_PER_S ||
				  env->t_ns - k->refreshed_ns >= again);
}

static int64_t every_ns(const void *state, size_t metric)
{
	const struct walk *k = state;

	(void)metric;
	return TG_MAX(TG_WALK_NS, k->cost_ns * SHARE);
}

static bool is_walk_due(const struct walk *k, const struct tg_env *env)
{
	int64_t period = every_ns(k, 0);
	const struct tg_whole *w = env->whole;

	if (!env->live || (env->flags & (TG_READ_EDGE | TG_READ_ALL)) || k->root != env->root)
		return true;
	if ((env->flags & TG_READ_REFRESH) && period <= TG_NS_PER_S)
		return true;
	if (env->t_ns < k->t_ns + period - period / 8)
		return false;
	return is_refresh_due(k, env) || !w->sure || w->now_ns != k->whole_ns ||
	       tg_tree_is_unsettled(env->tree);
}

static void walk(struct walk *k, struct tg_env *env)
{
	unsigned flags = env->flags & ~(unsigned)TG_READ_REFRESH;
	bool refresh = is_refresh_due(k, env);
	int64_t before = tg_thread_ns(), cost;

	tg_tree_read(env->tree, refresh ? flags | TG_READ_REFRESH : flags);
	tg_whole_after(env->whole, env);
	cost = tg_thread_ns() - before;
	if (refresh) {
		k->owed = false;
		k->refreshed_ns = env->t_ns;
		k->refresh_cost_ns = cost;
	} else {
		k->cost_ns += (cost - k->cost_ns) / 8;
	}
	k->root = env->root;
	k->t_ns = env->t_ns;
	k->whole_ns = env->whole->now_ns;
}

static void read_tree(void *state, struct tg_env *env, struct tg_out *out)
{
	struct walk *k = state;
	const struct tg_tree_totals *t;

	k->owed |= (env->flags & TG_READ_REFRESH) != 0;
	if (!tg_whole_before(env->whole, env))
		return;
	if (is_walk_due(k, env)) {
		walk(k, env);
	} else if (env->whole->now_ns == TG_MISSING) {
		return;
	} else if (env->whole->now_ns != k->whole_ns || !env->whole->sure) {
		tg_whole_alone(env->whole);
		tg_out_put(out, 0, CPU, env->whole->total_ns);
		return;
	}
	t = tg_tree_totals(env->tree);
	if (!t)
		return;
	tg_out_put(out, 0, CPU, env->whole->total_ns);
	if (env->whole->means != TG_MEANS_PROCESSES)
		tg_out_put(out, 0, UNATTRIBUTED, env->whole->unexplained_ns);
	tg_out_put(out, 0, RSS, t->rss_bytes);
	tg_out_put(out, 0, VMS, t->vms_bytes);
	tg_out_put(out, 0, ANON, t->anon_bytes);
	tg_out_put(out, 0, READ, t->io[TG_IO_READ]);
	tg_out_put(out, 0, WRITE, t->io[TG_IO_WRITE]);
	tg_out_put(out, 0, CANCELLED, t->io[TG_IO_CANCELLED]);
	tg_out_put(out, 0, RCHAR, t->io[TG_IO_RCHAR]);
	tg_out_put(out, 0, WCHAR, t->io[TG_IO_WCHAR]);
	tg_out_put(out, 0, READ_OPS, t->io[TG_IO_SYSCR]);
	tg_out_put(out, 0, WRITE_OPS, t->io[TG_IO_SYSCW]);
	tg_out_put(out, 0, PROCESSES, t->processes);
	tg_out_put(out, 0, THREADS, t->threads);
	tg_out_put(out, 0, DENIED, t->denied);
}

static void lacks(const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	(void)state;
	if (metric >= READ && metric <= WRITE_OPS)
		tg_lacks_io(env, why, why_size);
	else if (metric == UNATTRIBUTED)
		snprintf(
			why, why_size, "nothing but the processes is counted: %s", env->whole->why);
}

static void close_tree(void *state)
{
	free(state);
}

const struct tg_source tg_source_tree = {
	.name = "tree",
	.help = "the process tree that is measured: a kernel or a command with all its children",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.tick = TG_TICK_WALK,
	.edge = true,
	.open = open_tree,
	.lacks = lacks,
	.every_ns = every_ns,
	.read = read_tree,
	.close = close_tree,
};
