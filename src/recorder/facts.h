/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What holds for a while and is said in the recording when it changes: the limits of the tree, by
 * what means its CPU time is told, and how often a source that is costly is read.
 */
#ifndef TG_RECORDER_FACTS_H
#define TG_RECORDER_FACTS_H

#include "recorder/events.h"
#include "sample/sampler.h"

#define TG_FACTS_SOURCES 64

struct tg_facts {
	struct tg_limits limits; /* as said last */
	enum tg_means means;
	char means_why[160];
	bool means_said;
	int64_t period_ns[TG_FACTS_SOURCES]; /* of each source, as said last; 0: not yet */
};

void tg_facts_init(struct tg_facts *f);

/* Look for the limits, which takes some files, and say those that differ. */
void tg_facts_limits(
	struct tg_facts *f, struct tg_sampler *sampler, struct tg_events *events, int64_t now_ns);

/*
 * Say of each source how often it is read now, if that is another matter than what was said last,
 * or at first than what its columns say; at the end of all also how often it was, and what CPU time
 * that took.
 */
void tg_facts_sources(struct tg_facts *f, const struct tg_sampler *sampler,
	struct tg_events *events, bool end, int64_t now_ns);

/* Say which mount points are on a disk (see hook `disk` of sampler.h). */
void tg_facts_disk(struct tg_events *events, const char *name, const char *mounts, int64_t now_ns);

/* Say the means, if they have changed with the last reading. */
void tg_facts_means(struct tg_facts *f, const struct tg_sampler *sampler, struct tg_events *events,
	int64_t now_ns);

#endif
