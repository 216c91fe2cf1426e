/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a workflow, as its log tells them: each is a span of kind task with figures of its
 * own (record/format.h), for tasks run side by side and on other machines.
 */
#ifndef TG_IMPORT_TASKS_H
#define TG_IMPORT_TASKS_H

#include "import/logfile.h"
#include "import/store.h"

#define TG_TASKS_MAX 1000000

/* One of which no time is known. */
extern const struct tg_log_task tg_tasks_unknown;

/* A new one, of which nothing is known; NULL: there are too many. */
struct tg_log_task *tg_tasks_add(struct tg_logfile *log);

/*
 * Give those that have the time of a clock on the wall their moments, by the zone that is set, each
 * its length, and let them be in order of their beginning. Where the first has no time none has:
 * they are laid one after the other from *at_ns on, which is moved behind them, and true is
 * returned.
 */
bool tg_tasks_resolve(struct tg_logfile *log, int64_t *at_ns);

/* When the first began and the last ended; false: there is none. */
bool tg_tasks_times(const struct tg_logfile *log, int64_t *first_ns, int64_t *last_ns);

/* Write them as spans of run 1, from *span on, which is moved. */
void tg_tasks_write(struct tg_store *store, const struct tg_logfile *log, uint64_t *span);

/* Add what they cost to sums that began at 0; what does not add up, or one does not tell, is NaN.
 */
void tg_tasks_add_up(const struct tg_logfile *log, double sum[TG_TASK_FIGURES]);

/* Write a member "figures" of those that are known. */
void tg_tasks_put_figures(struct tg_jw *w, const double figure[TG_TASK_FIGURES]);

/* {"tasks": 12, "failed": 1, "wall_s": {…}, "cpu_s": {…}, …}: statistics over the tool's tasks. */
void tg_tasks_report(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w);

#endif
