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

/* Take `part` off `gain` if it can be in there. */
bool tg_usage_take(struct tg_usage *gain, const struct tg_usage *part, int64_t tick_ns);

/* Read `p` a second time in this reading, if not done yet, into p->late; or p->late_gone. */
void tg_usage_look_again(struct tg_process *p, struct tg_env *env);

#endif
