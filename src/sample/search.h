/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of the tree that no list of children names: those whose parent had ended before it was
 * read, as that of a daemon does at once, and on a kernel without such lists all of them. They are
 * looked for among the processes whose numbers were given out since the last look.
 */
#ifndef TG_SAMPLE_SEARCH_H
#define TG_SAMPLE_SEARCH_H

#include "sample/procfs.h"
#include "sample/source.h"

#define TG_SEARCH_LATER 64

struct tg_search {
	char *mark; /* NAME=VALUE in the environment of the root and of what it starts, or NULL */
	int64_t last_pid; /* given out when it was last looked; -1: never */
	/* of whom the environment was not to be read, so that they are looked at again */
	struct tg_search_later {
		pid_t pid;
		int looks;
	} later[TG_SEARCH_LATER];
	size_t n_later;
	int looks; /* at the one that is looked at now, before this */
};

/* `mark` is copied. */
void tg_search_init(struct tg_search *s, const char *mark);
void tg_search_release(struct tg_search *s);

/*
 * Call `each` for processes that may be new; it returns 0, or else the search ends. `last_pid` is
 * the number given out last, -1: unknown. `all`: also for those that are not new.
 */
void tg_search_each(struct tg_search *s, struct tg_env *env, int64_t last_pid, bool all,
	int (*each)(void *ctx, pid_t pid), void *ctx);

/*
 * Whether the mark is in the environment of that process. That is read only of one that this cannot
 * make us wait for, and nothing of it is kept. Else the process is among the next that `each` is
 * called for, some times.
 */
bool tg_search_is_marked(
	struct tg_search *s, struct tg_env *env, pid_t pid, const struct tg_pid_stat *stat);

#endif
