/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic on what processes have used up: whether a parent's gain covers what a child of it
 * had used. CPU time of children is told to a tick each for user and system, I/O exactly.
 */
#ifndef TG_SAMPLE_USAGE_H
#define TG_SAMPLE_USAGE_H

#include "sample/process.h"

/* Of the last reading of `p`. */
struct tg_usage tg_usage_of(const struct tg_process *p);

void tg_usage_add(struct tg_usage *to, const struct tg_usage *u);

/* What `p` may have got from children since `before`: their CPU time, and any I/O. */
struct tg_usage tg_usage_gain(const struct tg_process *p, const struct tg_usage *before);

/*
 * Look for `part`, what a child had used when it was last seen, in what `p` has gained in this
 * reading, looking at `p` a second time when needed. Returns false when `p` cannot have it: it
 * has not waited for that child. Else the gain is used up by it, and what the first look at `p`
 * did not show yet, so that a sum of this reading lacks it, is added to `carry`.
 */
bool tg_usage_settle(struct tg_process *p, const struct tg_usage *part, struct tg_env *env,
	struct tg_usage *carry);

#endif
