/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether Linux has killed the root for want of memory, by its counters of such kills: that of the
 * root's control group, else that of the next group above which still is there (version 2, where
 * it counts the groups below), else that of the whole machine. A kill counts in the victim's own
 * group, whoever's limit was reached; whose it was is told by another counter of each group.
 * Counters say how many, not whom: what they leave open stays unknown. That it was the root is what
 * remains where no other process of its tree ended at that time and nobody asked it to end, or
 * where a group was killed as a whole.
 */
#ifndef TG_SAMPLE_OOM_H
#define TG_SAMPLE_OOM_H

#include "sample/cgroup.h"
#include "sample/sampler.h"
#include "sample/source.h"

struct tg_oom_counter {
	int fd;
	int64_t value; /* TG_MISSING: not to be read */
	int64_t before,
		rise_ns; /* the value before the last rise, and when that was seen; 0: none */
};

#define TG_OOM_LEVELS 12 /* groups above that are further away are not looked at */

struct tg_oom_level {
	struct tg_cgroup group;
	struct tg_oom_counter kills; /* v1: of the group; v2: of it and all below */
	struct tg_oom_counter reached; /* its limit was; v2: and nothing could be freed */
	struct tg_oom_counter whole; /* all of it was killed (memory.oom.group); v2 of Linux 5.17 */
};

struct tg_oom_watch {
	pid_t root;
	uint64_t groups; /* digest of its /proc/PID/cgroup */
	bool late; /* the root was ending already when it was first looked at */
	struct tg_oom_level level[TG_OOM_LEVELS]; /* the root's group, that above, … */
	size_t n_levels;
	int64_t vanished_ns; /* see tg_env, as of the last look */
	struct tg_oom_counter machine;
};

void tg_oom_init(struct tg_oom_watch *o);
void tg_oom_release(struct tg_oom_watch *o);

/*
 * Read the counters: about once a second, so that a rise can be told from an older one. One in a
 * group is told to the hook `note`, whoever was the victim.
 */
void tg_oom_look(struct tg_oom_watch *o, struct tg_env *env, int64_t now_ns);

/*
 * What is known, now that the root has ended, `asked` to or not. `why` is the rest of a sentence.
 */
enum tg_oom tg_oom_tell(
	const struct tg_oom_watch *o, bool asked, int64_t now_ns, char *why, size_t size);

#endif
