/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a recording did over time, by command and each, and what each used in all
 * (lives.h), from one pass over their rows. A row of a process comes when something of it moved:
 * what it says happened since the rows before, of whichever process.
 */
#ifndef TG_ANALYZE_ACTIVITY_H
#define TG_ANALYZE_ACTIVITY_H

#include "analyze/lives.h"
#include "analyze/recording.h"
#include "analyze/series.h"

/* All processes of one name, or of those that are not among the first. */
struct tg_command_use {
	char *name; /* NULL: the others */
	size_t n; /* processes */
	double cpu_s, rss_peak_bytes; /* the most at one moment of all together */
	struct tg_bin *cores, *rss; /* n_bins of each, over the time that was asked for */
};

/* Processes that lived less than a sample, of one command. */
struct tg_crowd_use {
	char *name;
	uint64_t births;
	double cpu_s;
};

struct tg_activity {
	size_t n_bins;
	struct tg_command_use *command; /* most CPU time first */
	size_t n_commands;
	struct tg_command_use *process; /* each is one, "name 4711"; most memory first */
	size_t n_processes;
	struct tg_life_use *life; /* of each of r->life, over all of the recording */
	struct tg_crowd_use *crowd; /* most CPU time first */
	size_t n_crowds;
};

/*
 * Fill *out, which the caller releases in any case, for [from_ns, to_ns] (UTC), with `n_bins` bins
 * of each of the `most` commands and processes that are first, and the rest together as one more.
 * Where some processes have a role, as in imported logs, only these are in `process`, "role 4711".
 * 0 or -errno of reading.
 */
int tg_activity_of(struct tg_recording *r, int64_t from_ns, int64_t to_ns, size_t n_bins,
	size_t most, struct tg_activity *out);
void tg_activity_release(struct tg_activity *a);

#endif
