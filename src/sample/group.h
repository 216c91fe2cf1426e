/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sources of a control group share: its files, kept open and followed when the tree is moved
 * to another group, and counters that go on from where they were then.
 */
#ifndef TG_SAMPLE_GROUP_H
#define TG_SAMPLE_GROUP_H

#include "sample/cgroup.h"

/* Which group the tree is in, as far as it was looked at. */
struct tg_group_place {
	pid_t root;
	uint64_t digest; /* of /proc/ROOT/cgroup */
};

enum tg_group_look {
	TG_GROUP_SAME, /* it was not due, or the root has ended: its group can still be read */
	TG_GROUP_REFRESH, /* the same group, a second later: limits may have changed */
	TG_GROUP_MOVED, /* another group, or another root: files are to be opened */
};

/* To be called at each reading: it looks at a new root, and once a second. */
enum tg_group_look tg_group_look(struct tg_group_place *p, struct tg_env *env);

struct tg_group_file {
	int fd; /* -1: not open */
	unsigned opened; /* how often as another one than before */
	bool v2;
	char path[TG_PATH_MAX]; /* of its group */
};

/* Begin with fd -1. What is open already is kept, so that one that was removed can still be read.
 */
void tg_group_file_open(struct tg_group_file *f, struct tg_env *env, const struct tg_cgroup *g,
	const char *name_v2, const char *name_v1);
void tg_group_file_close(struct tg_group_file *f);

/* Into env->text. False when there is nothing. */
bool tg_group_file_read(const struct tg_group_file *f, struct tg_env *env);

/* The number behind "name " in what was read, or TG_MISSING. */
int64_t tg_group_key(const struct tg_env *env, const char *name);

/* A counter: what another group had counted before the tree came to it is not the tree's. */
struct tg_group_sum {
	unsigned opened; /* of its file, as it was read last */
	int64_t last, shift;
};
#define TG_GROUP_SUM_INIT                                                                          \
	(struct tg_group_sum)                                                                      \
	{                                                                                          \
		.last = TG_MISSING                                                                 \
	}

/* `v` as its file `f` has it now; TG_MISSING puts nothing. */
void tg_group_sum_put(struct tg_group_sum *sum, const struct tg_group_file *f, struct tg_out *out,
	size_t metric, int64_t v);

#endif
