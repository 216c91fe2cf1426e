/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that count, added up, for each tick of the logs of a tool. */
#ifndef TG_IMPORT_MATCHED_H
#define TG_IMPORT_MATCHED_H

#include "import/import.h"
#include "import/walk.h"

struct tg_matched {
	uint32_t n;
	double virt_kib, res_kib, shr_kib, cpu_pct, mem_pct;
};

struct tg_matched_tick {
	const struct tg_logfile *log;
	const struct tg_log_tick *tick;
	const struct tg_walk *walk; /* its rows, those that count among them */
	int64_t elapsed_ns; /* since the first tick of all */
	struct tg_matched sum;
};

/* Of the rows of a tick. A value that is missing in one of them makes the sum missing. */
void tg_matched_sum(const struct tg_walk *w, struct tg_matched *sum);

/* Whether a row counts. */
bool tg_matched_counts(const struct tg_walk_row *row);

/* Hand over every tick in order of time. */
void tg_matched_each(const struct tg_import *im, const char *tool,
	void (*each)(void *ctx, const struct tg_matched_tick *t), void *ctx);

#endif
