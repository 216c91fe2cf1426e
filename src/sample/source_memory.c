/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the memory of the tree is: a file's pages are cache, which the kernel takes back when it
 * needs room; they are no leak, however they grow. Swap and huge pages of hugetlbfs lie outside the
 * resident size. The kinds come with the peaks of processes, from the same file, so at edges of
 * cells and once a second.
 */
#include "sample/source.h"
#include "sample/tree.h"

#include "base/clock.h"
#include "base/mem.h"

enum { FILES, SHMEM, SWAP, HUGETLB };

static const struct tg_metric metrics[] = {
	[FILES] = { "tree.file_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"of the resident memory, pages of files, as of libraries and memory-mapped data: "
		"cache, not a leak" },
	[SHMEM] = { "tree.shmem_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"of the resident memory, shared memory and files in /dev/shm; counts once for "
		"each process" },
	[SWAP] = { "tree.swap_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"memory of its own that was swapped out: no part of the resident memory" },
	[HUGETLB] = { "tree.hugetlb_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"huge pages that were asked for by hugetlbfs or MAP_HUGETLB: no part of the "
		"resident memory" },
};

static int open_memory(struct tg_env *env, void **state, char *why, size_t why_size)
{
	(void)env;
	(void)why;
	(void)why_size;
	*state = NULL;
	return 0;
}

static void read_memory(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_tree_totals *t = tg_tree_totals(env->tree);

	(void)state;
	/* a tree of very many processes is refreshed more seldom */
	if (!t || !t->detailed || t->t_ns != env->t_ns)
		return;
	tg_out_put(out, 0, FILES, t->file_bytes);
	tg_out_put(out, 0, SHMEM, t->shmem_bytes);
	tg_out_put(out, 0, SWAP, t->swap_bytes);
	tg_out_put(out, 0, HUGETLB, t->hugetlb_bytes);
}

static void close_memory(void *state)
{
	(void)state;
}

const struct tg_source tg_source_memory = {
	.name = "memory",
	.help = "of what kind the memory of the tree is",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = TG_NS_PER_S,
	.edge = true,
	.open = open_memory,
	.read = read_memory,
	.close = close_memory,
};
