/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of what kind the memory of the tree is, and what of it is shared. A file's pages are cache, which
 * the kernel takes back when it needs room; they are no leak, however they grow. Swap and huge
 * pages of hugetlbfs lie outside the resident size. The kinds come with the peaks of processes,
 * from the same file, so at edges of cells and once a second; shares when they are due (share.h),
 * and between as they were, with their age, as long as they can stand for the tree.
 */
#include <unistd.h>

#include "sample/lacks.h"
#include "sample/share.h"

#include "base/clock.h"
#include "base/mem.h"

enum { FILES, SHMEM, SWAP, HUGETLB, PSS, PSS_COVERS, PSS_AGE, PSS_DENIED, SWAP_PSS };

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
	[PSS] = { "tree.pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"resident memory in which a page that N processes share counts 1/N for each, so "
		"none twice; missing while too little of the tree is known" },
	[PSS_COVERS] = { "tree.pss_covers_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"resident memory of the processes in tree.pss_bytes, counted page by page; those "
		"that are denied, or too large to look at, are not in it" },
	[PSS_AGE] = { "tree.pss_age_ns", "ns", TG_GAUGE, TG_SCOPE_JOB, 0,
		"how long ago tree.pss_bytes was found, or found to stand as no memory had moved: "
		"it is looked for a thousandth of the time at most, about 16 us for each MB" },
	[PSS_DENIED] = { "tree.pss_denied", "count", TG_GAUGE, TG_SCOPE_JOB, 0,
		"processes whose share of memory may not be read" },
	[SWAP_PSS] = { "tree.swap_pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"swapped out memory, divided among those that share it, as old as tree.pss_bytes" },
};

struct memory {
	bool unknown; /* to this kernel: it has no smaps_rollup */
	pid_t root; /* of whose tree this is */
	struct tg_sweep sweep;
};

static int open_memory(struct tg_env *env, void **state, char *why, size_t why_size)
{
	int fd = tg_env_open(env, "proc/self/smaps_rollup");
	struct memory *m = tg_xcalloc(1, sizeof(*m));

	m->unknown = fd < 0;
	if (fd < 0)
		snprintf(why, why_size,
			"without tree.pss_bytes: this kernel has no /proc/PID/smaps_rollup");
	else
		close(fd);
	*state = m;
	return 0;
}

static void lacks(const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	const struct memory *m = state;
	const struct tg_sweep *w = &m->sweep;
	bool left_out = w->left_out_bytes > w->rss_bytes / 20;

	if (metric < PSS)
		return;
	if (w->denied)
		tg_lacks_root(env, "smaps_rollup", why, why_size);
	if (why[0])
		return;
	if (m->unknown)
		snprintf(why, why_size, "this kernel has no /proc/PID/smaps_rollup");
	else if (w->running && !w->t_ns && !left_out)
		snprintf(why, why_size,
			"not found yet: processes are looked at bit by bit, 16 us for each MB");
	else if (left_out)
		snprintf(why, why_size,
			"%.3g of %.3g GB were not looked at: of processes that are too large for "
			"that, %s",
			(double)w->left_out_bytes / 1e9, (double)w->rss_bytes / 1e9,
			w->denied ? "or denied" : "or gone");
	else if (w->t_ns)
		snprintf(why, why_size,
			"the memory of the tree is another by a tenth than when it was looked at");
}

static int64_t every_ns(const void *state, size_t metric)
{
	const struct memory *m = state;

	return metric >= PSS && m->sweep.t_ns ? tg_sweep_every_ns(&m->sweep) : 0;
}

static bool is_busy(const void *state)
{
	const struct memory *m = state;

	return m->sweep.running;
}

static void put_kinds(const struct tg_tree_totals *t, struct tg_out *out)
{
	tg_out_put(out, 0, FILES, t->file_bytes);
	tg_out_put(out, 0, SHMEM, t->shmem_bytes);
	tg_out_put(out, 0, SWAP, t->swap_bytes);
	tg_out_put(out, 0, HUGETLB, t->hugetlb_bytes);
}

static void put_shares(
	const struct tg_sweep *w, int64_t rss_bytes, int64_t now_ns, struct tg_out *out)
{
	if (!w->t_ns)
		return;
	tg_out_put(out, 0, PSS_COVERS, w->covers_bytes);
	tg_out_put(out, 0, PSS_AGE, now_ns - w->t_ns);
	tg_out_put(out, 0, PSS_DENIED, w->denied);
	if (!tg_sweep_holds(w, rss_bytes))
		return;
	tg_out_put(out, 0, PSS, w->pss_bytes);
	tg_out_put(out, 0, SWAP_PSS, w->swap_pss_bytes);
}

static void read_memory(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_tree_totals *t = tg_tree_totals(env->tree);
	struct memory *m = state;

	if (m->root != env->root)
		*m = (struct memory){ .unknown = m->unknown, .root = env->root };
	if (!t)
		return;
	/* a tree of very many processes is refreshed more seldom */
	if (t->detailed && t->t_ns == env->t_ns)
		put_kinds(t, out);
	if (!(env->flags & TG_READ_EDGE))
		tg_sweep_read(&m->sweep, env);
	put_shares(&m->sweep, t->rss_bytes, env->t_ns, out);
}

static void close_memory(void *state)
{
	free(state);
}

const struct tg_source tg_source_memory = {
	.name = "memory",
	.help = "of what kind the memory of the tree is, and what of it is shared",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = TG_NS_PER_S,
	.own_budget = true, /* share.c: what costs is not done at each reading */
	.edge = true,
	.open = open_memory,
	.lacks = lacks,
	.every_ns = every_ns,
	.is_busy = is_busy,
	.read = read_memory,
	.close = close_memory,
};
