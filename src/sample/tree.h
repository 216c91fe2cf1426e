/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured tree: which processes belong to it, and what they have used together.
 *
 * Who was once seen as a child of a member stays one, whatever becomes of its parent. Totals that
 * grow never fall: what a process had used when it ended is kept, unless its parent has waited
 * for it and so has it in its own figures already; nothing counts twice. At most TG_TREE_MAX
 * processes are followed. A tree that idles costs one clock per process and reading.
 */
#ifndef TG_SAMPLE_TREE_H
#define TG_SAMPLE_TREE_H

#include "sample/process.h"

#define TG_TREE_MAX 32768

struct tg_tree_totals {
	int64_t t_ns; /* CLOCK_MONOTONIC, as the reading of the tree began */
	int64_t cpu_ns;
	int64_t faults[TG_FAULTS];
	int64_t io[TG_IOS]; /* TG_MISSING when it may be read of no process */
	int64_t rss_bytes, vms_bytes, anon_bytes;
	/* of all processes as of the last reading that was `detailed`; TG_MISSING: told of none */
	int64_t file_bytes, shmem_bytes, swap_bytes, hugetlb_bytes;
	bool detailed; /* this reading was for an edge, or refreshed all */
	int64_t processes, threads; /* without zombies */
	int64_t denied; /* processes whose I/O we may not read: the totals lack them */
};

struct tg_tree *tg_tree_new(struct tg_env *env, const struct tg_sampler_options *options);
void tg_tree_free(struct tg_tree *t);

/* Another root from the next reading on; totals begin anew. 0: none. */
void tg_tree_set_root(struct tg_tree *t, pid_t root);

/* Read the tree and tell the hooks; `flags` are enum tg_read_flags. */
void tg_tree_read(struct tg_tree *t, unsigned flags);

/*
 * Whether a process has ended since the last reading, or was found then to have: in the next one
 * its number may be another's, and its figures show in its parent. It costs one call.
 */
bool tg_tree_is_unsettled(struct tg_tree *t);

/* Of the last reading. NULL when there is no root, or it was never there. */
const struct tg_tree_totals *tg_tree_totals(const struct tg_tree *t);

/* The number that the machine has given out last, as it is now; -1: unknown. */
int64_t tg_tree_last_pid(struct tg_tree *t);

/* Whether it has a process of that number. */
bool tg_tree_has(const struct tg_tree *t, pid_t pid);

/* The root process while it runs, else NULL. */
const struct tg_process *tg_tree_root(const struct tg_tree *t);

/* The first process that is alive and has `entity` or a higher number: they ascend. Or NULL. */
struct tg_process *tg_tree_from(const struct tg_tree *t, uint32_t entity);

/* Each process that is alive, in the order in which they were found. */
void tg_tree_each(
	const struct tg_tree *t, void (*each)(void *ctx, const struct tg_process *p), void *ctx);

#endif
