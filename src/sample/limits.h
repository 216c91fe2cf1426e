/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tree may use at most: the least of what machine, affinity and control groups allow. */
#ifndef TG_SAMPLE_LIMITS_H
#define TG_SAMPLE_LIMITS_H

#include "sample/sampler.h"
#include "sample/source.h"

/* Of env->root, or of ourselves while there is none. Opens files; not for every reading. */
void tg_limits_find(struct tg_env *env, struct tg_limits *out);

#endif
