/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of the tree by itself: what other tools report of "the kernel process". Figures of
 * each single process are no columns: they go through the sampler's hooks (see tree.c).
 */
#include "sample/lacks.h"
#include "sample/source.h"
#include "sample/tree.h"

#include "base/mem.h"

enum { READ, WRITE, READ_OPS, WRITE_OPS };

static const struct tg_metric metrics[] = {
	[READ] = { "root.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes that the root process has fetched from storage" },
	[WRITE] = { "root.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0,
		"bytes that the root process has sent to storage" },
	[READ_OPS] = { "root.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0,
		"read calls of the root process" },
	[WRITE_OPS] = { "root.write_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0,
		"write calls of the root process" },
};

static int open_process(struct tg_env *env, void **state, char *why, size_t why_size)
{
	(void)env;
	(void)why;
	(void)why_size;
	*state = NULL;
	return 0;
}

static void read_process(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_process *root = tg_tree_root(env->tree);

	(void)state;
	if (!root || !root->io_known)
		return;
	tg_out_put(out, 0, READ, root->io[TG_IO_READ]);
	tg_out_put(out, 0, WRITE, root->io[TG_IO_WRITE]);
	tg_out_put(out, 0, READ_OPS, root->io[TG_IO_SYSCR]);
	tg_out_put(out, 0, WRITE_OPS, root->io[TG_IO_SYSCW]);
}

static void lacks(const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	(void)state;
	(void)metric;
	tg_lacks_io(env, why, why_size);
}

static void close_process(void *state)
{
	(void)state;
}

const struct tg_source tg_source_process = {
	.name = "process",
	.help = "each process of the tree, and the I/O of its root alone",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.tick = TG_TICK_WALK,
	.edge = true,
	.open = open_process,
	.lacks = lacks,
	.read = read_process,
	.close = close_process,
};
