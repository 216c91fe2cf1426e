/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether Linux has killed the root for want of memory, by its counters of such kills: that of the
 * root's control group, else that of the whole machine. A kill counts in the victim's own group
 * (version 2: and in all above, which tell nothing more, and count others' too), whoever's limit
 * was reached. Counters say how many, not whom: what they leave open stays unknown.
 */
#ifndef TG_SAMPLE_OOM_H
#define TG_SAMPLE_OOM_H

#include "sample/sampler.h"
#include "sample/source.h"

struct tg_oom_counter {
	int fd;
	int64_t value; /* TG_MISSING: not to be read */
	int64_t before,
		rise_ns; /* the value before the last rise, and when that was seen; 0: none */
};

struct tg_oom_watch {
	pid_t root;
	uint64_t groups; /* digest of its /proc/PID/cgroup */
	bool late; /* the root was ending already when it was first looked at */
	bool v2;
	struct tg_oom_counter group, machine;
};

void tg_oom_init(struct tg_oom_watch *o);
void tg_oom_release(struct tg_oom_watch *o);

/* Read the counters: about once a second, so that a rise can be told from an older one. */
void tg_oom_look(struct tg_oom_watch *o, struct tg_env *env, int64_t now_ns);

/* What is known, now that the root has ended. `why` is the rest of a sentence. */
enum tg_oom tg_oom_tell(const struct tg_oom_watch *o, int64_t now_ns, char *why, size_t size);

#endif
