/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a log on their way into a recording: births, deaths, rows of all of them; and
 * the sums over those that count, which are the recording's tree.
 *
 * CPU time is what the log says that a process has used in its life, where it says that to the
 * hundredth of a second; else what %CPU makes of the time since the tick before.
 */
#ifndef TG_IMPORT_LIVES_H
#define TG_IMPORT_LIVES_H

#include "import/logfile.h"
#include "import/store.h"
#include "import/walk.h"

struct tg_life_now {
	double cpu_s; /* that it has used, by our count */
	double read_kib, write_kib; /* since the log began */
	uint32_t entity; /* 0: it was not born yet */
	int role; /* that it had while it counted; -1: it never did */
	bool seen;
};

struct tg_lives {
	struct tg_store *store;
	const struct tg_logfile *log;
	const struct tg_processes *processes;
	struct tg_walk walk;
	int64_t period_ns;
	int64_t before_ns; /* UTC of the tick before; TG_UNKNOWN: none */
	int64_t cpus; /* 0: unknown */
	struct tg_life_now *now; /* by item */
	size_t next_naming;
	uint32_t next_entity;
	uint32_t *dying; /* items that were seen for the last time */
	size_t n_dying, cap_dying;
	struct tg_process_block *cells;
	bool has_tree; /* there is one to be written, of those that count */
	struct tg_block *tree; /* NULL: it was not started yet */
	size_t n_roles; /* roles that occur, each with columns of its own */
	size_t *role_at; /* by role: the place among them, or SIZE_MAX */
	double *role_sum;
	bool has_io; /* the log tells what processes read and wrote */
	double io_kib[2]; /* of the tree, in the tick: read, written */
	int64_t *row;
};

/* With `has_tree` false only the processes are written: there is none in any log that counts. */
void tg_lives_begin(struct tg_lives *l, struct tg_store *store, const struct tg_logfile *log,
	int64_t cpus, uint32_t next_entity, bool has_tree);

/*
 * As those of a stream. Of a tick that another log has told of only what processes had used by then
 * counts; one that has ended by `from_ns` is not born.
 */
int64_t tg_lives_next_ns(const struct tg_lives *l);
void tg_lives_tick(struct tg_lives *l, int64_t from_ns);
void tg_lives_end(struct tg_lives *l);

/* The metrics that it writes, for those who list them. */
const struct tg_metric *tg_lives_metrics(size_t *n);
bool tg_lives_tell(const char *metric); /* whether it is one of them */

#endif
