/* SPDX-License-Identifier: BSD-3-Clause */
/* What each process used, from the rows that were kept of it. */
#ifndef TG_ANALYZE_LIVES_H
#define TG_ANALYZE_LIVES_H

#include "analyze/recording.h"

/* TG_MISSING is unknown. Counters are the kernel's: since the process began. */
struct tg_life_use {
	int64_t cpu_ns; /* told at its death, else the last that was seen */
	int64_t rss_peak_bytes; /* the kernel's own peak (VmHWM) where it was seen, else of samples
				 */
	int64_t vms_peak_bytes;
	int64_t read_bytes, write_bytes; /* from and to storage */
	int64_t threads_max;
};

/* Nothing is known of n processes yet; take what a row of one says. */
void tg_life_use_init(struct tg_life_use *use, size_t n);
void tg_life_use_take(struct tg_life_use *use, const struct tg_process_cell *cell);

/* After the last row: what was told at deaths counts. */
void tg_life_use_settle(struct tg_life_use *use, const struct tg_recording *r);

/*
 * One for each of r->life, in that order. Caller frees. One pass over the processes' rows: 0, or
 * -errno of reading, and then *use is NULL.
 */
int tg_lives_use(struct tg_recording *r, struct tg_life_use **use);

#endif
