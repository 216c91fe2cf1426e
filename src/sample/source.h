/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of one source of numbers. A source is one file, source_<name>.c, with one `const
 * struct tg_source tg_source_<name>`, and its name in the list of meson.build: columns, CSV
 * headers, axes and `tachograph list` follow from its table of metrics. source_psi.c is the one
 * to copy from.
 *
 * A source reads, and nothing else: it prints nothing, keeps no history, computes no rates. Every
 * path is below env->root_fd, so that tests run it on captured trees. What it cannot read it does
 * not put, and what was not put is missing; 0 means that there was none.
 */
#ifndef TG_SAMPLE_SOURCE_H
#define TG_SAMPLE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/metric.h"
#include "sample/out.h"
#include "sample/text.h"

struct tg_sampler_hooks;
struct tg_tree;
struct tg_whole;

/* Processes of the tree that can be asked without waiting. */
struct tg_pids {
	const int32_t *pid;
	size_t n;
	bool unseen; /* there are others */
};

/*
 * What all sources share. The sampler owns it. Sources overwrite `text` and let tg_env_stat and
 * tg_env_helper_cpu change what is theirs; `tree`, `whole` and `vanished_ns` are brought forward by
 * source tree.
 */
struct tg_env {
	int64_t t_ns; /* CLOCK_MONOTONIC of this reading */
	int root_fd; /* directory with proc/ and sys/ */
	bool live; /* it is "/" itself, so that pids are those of clocks and pidfds, too */
	pid_t root; /* root of the measured tree; 0: none yet */
	int64_t tick_ns; /* unit of the times in /proc: 1 / USER_HZ */
	int64_t page_bytes;
	unsigned flags; /* enum tg_read_flags of this reading */
	const struct tg_sampler_hooks *hooks;
	int64_t helper_cpu_ns; /* CPU time of all helpers, as heard; TG_MISSING: there is none */
	const struct tg_pids *pids; /* in a helper (apart.h) these instead of the tree */
	struct tg_tree *tree; /* its processes, read by source tree, which comes first */
	struct tg_whole *whole; /* its CPU time, likewise */
	int64_t vanished_ns; /* when a process of it, not the root, was last seen to have ended */
	struct tg_text *text; /* for whoever is reading now; overwritten by the next one */
	struct tg_text *stat; /* /proc/stat of this reading: see tg_env_stat */
	int stat_fd;
	bool stat_read;
};

#define TG_WALK_NS (10 * TG_NS_PER_MS) /* each process is looked at so often at most */

struct tg_source {
	const char *name;
	const char *help; /* one line, for people */
	const struct tg_metric *metric;
	size_t n_metrics;
	/*
	 * A set of columns for each disk, interface, core, each of them from the first value on
	 * that is put, so that instances may differ in what they have; else just one, and whole.
	 */
	bool instances;
	/*
	 * How often it may be read: what it reads does not change faster, or costs too much; 0: at
	 * every reading. It is read more seldom when it costs more than its share of a core, unless
	 * it sees to that itself.
	 */
	int64_t period_ns;
	bool own_budget;
	int64_t late_ns; /* what is no gap between its values, if it is more than the period */
	enum tg_tick tick; /* of those of its metrics that do not say another */
	/*
	 * Its reading may hang in a driver: it is done by a process of its own where one can be
	 * started (apart.h), which has no hooks and of the tree, if it is `of_tree`, the numbers.
	 */
	bool apart, of_tree;
	bool by_hook; /* its values come from what the hook start_gpu starts alone */
	bool edge; /* read for edges of cells, too: cheap, and of the job or its devices */

	/*
	 * Open what is read again and again. Returns 0 and the source's own state (may be NULL),
	 * else -errno and a reason for people in `why`; the source then has no columns.
	 */
	int (*open)(struct tg_env *env, void **state, char *why, size_t why_size);

	/*
	 * Why a metric has no value, for people: denied, absent, not in this kernel. Optional; what
	 * open said of one that it goes without ("without NAME: …") need not be said again.
	 */
	void (*lacks)(
		const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size);

	/* How often it looks for a metric now, where it sees to that itself. Optional; 0: always.
	 */
	int64_t (*every_ns)(const void *state, size_t metric);

	/* Whether it has begun what it goes on with at the next reading. Optional. */
	bool (*is_busy)(const void *state);

	/* Put what can be read now. Allocates nothing unless something new has appeared. */
	void (*read)(void *state, struct tg_env *env, struct tg_out *out);

	void (*close)(void *state);
};

/* The list of meson.build, in its order. */
extern const struct tg_source *const tg_source_list[];
extern const size_t tg_source_count;

/* Open a file or folder below the root; a leading "/" is ignored. The descriptor or -errno. */
int tg_env_open(const struct tg_env *env, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* tg_entries_each() of a folder below the root; -errno as well when it cannot be opened. */
int tg_env_each(const struct tg_env *env, int (*each)(void *ctx, const char *name), void *ctx,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Tell people who read the recording; a sentence without its stop. */
void tg_env_note(const struct tg_env *env, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Count CPU time of a helper: it has used `now` ns, and *before when it was heard last. */
void tg_env_helper_cpu(struct tg_env *env, int64_t *before, int64_t now);

/* Read a whole file into env->text. Returns its length or -errno. */
ssize_t tg_env_read(struct tg_env *env, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* /proc/stat, read once in a reading however many ask; NULL when it cannot be read. */
const struct tg_text *tg_env_stat(struct tg_env *env);

#endif
