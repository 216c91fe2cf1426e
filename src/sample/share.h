/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proportional shares of memory (PSS): a page that N processes have counts 1/N for each, so that
 * the sum over a tree has no page twice. The kernel finds it by walking through all page tables of
 * a process, some 16 us for each MB, with its mmap_lock held. So all processes are read one after
 * the other, in a sweep, no more than a thousandth of the time, and hardly ever while nothing of
 * the tree's memory moves; who would take too long is left out. No file is kept open: one of
 * smaps_rollup would go on telling of what was there before exec.
 */
#ifndef TG_SAMPLE_SHARE_H
#define TG_SAMPLE_SHARE_H

#include "sample/source.h"
#include "sample/tree.h"

struct tg_sweep {
	bool running;
	uint32_t next; /* entity to go on with */
	int64_t begun_ns, spent_ns; /* CPU time of it so far */
	int64_t due_ns; /* the next one */
	int64_t read_ns; /* the last one that read anything began then */
	/* what the last one that was finished has found */
	int64_t t_ns; /* when it began, or was found to stand; 0: there was none */
	int64_t pss_bytes, swap_pss_bytes;
	int64_t covers_bytes; /* resident, counted by page, of the processes in it */
	int64_t left_out_bytes; /* resident memory of the others */
	int64_t rss_bytes; /* resident memory of the tree, when it ended */
	int64_t moves[3]; /* of the tree, when it began: see share.c */
	int64_t denied; /* processes whose share may not be read */
};

/* Go on with the sweep, or begin one when it is due: for 20 ms, and until a process is done. */
void tg_sweep_read(struct tg_sweep *w, struct tg_env *env);

/* How long it is from the begin of the last one to that of the next, if memory moves. */
int64_t tg_sweep_every_ns(const struct tg_sweep *w);

/*
 * Whether what it found stands for the tree as it is now: hardly any memory was left out, and its
 * resident memory is within a tenth of what it was.
 */
bool tg_sweep_holds(const struct tg_sweep *w, int64_t rss_bytes);

/* How long it may take to read the share of `p`: by the last time, else by its size. */
int64_t tg_share_expected_ns(const struct tg_process *p);

#endif
