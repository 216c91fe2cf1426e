/* SPDX-License-Identifier: BSD-3-Clause */
/* What the measured process tree uses as a whole. The work is done in tree.c and whole.c. */
#include <unistd.h>

#include "sample/source.h"
#include "sample/tree.h"
#include "sample/whole.h"

#include "base/mem.h"

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
		"CPU time of all processes of the tree, ended ones included" },
	[UNATTRIBUTED] = { "tree.cpu_unattributed_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"of that, what no process explains: of those that were born and dead between two "
		"readings" },
	[RSS] = { "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"resident memory, added up: pages that processes share count once for each" },
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

static int open_tree(struct tg_env *env, void **state, char *why, size_t why_size)
{
	int fd = tg_env_open(env, "proc");

	*state = NULL;
	if (fd < 0)
		snprintf(why, why_size, "/proc cannot be opened: %s", strerror(-fd));
	else
		close(fd);
	return TG_MIN(fd, 0);
}

static void read_tree(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_tree_totals *t;

	(void)state;
	tg_whole_before(env->whole, env);
	tg_tree_read(env->tree, env->flags);
	tg_whole_after(env->whole, env);
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

static void close_tree(void *state)
{
	(void)state;
}

const struct tg_source tg_source_tree = {
	.name = "tree",
	.help = "the process tree that is measured: a kernel or a command with all its children",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.edge = true,
	.open = open_tree,
	.read = read_tree,
	.close = close_tree,
};
