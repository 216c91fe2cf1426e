/* SPDX-License-Identifier: BSD-3-Clause */
/* Why metrics have no value, for `list`: sentences that several sources say. */
#ifndef TG_SAMPLE_LACKS_H
#define TG_SAMPLE_LACKS_H

#include "sample/source.h"

/* Read that file of the root, as tg_env_read; 1 without a root. Where it is denied, say so. */
ssize_t tg_lacks_root(struct tg_env *env, const char *file, char *why, size_t why_size);

/* Why there is no I/O of the root. "" when there is. */
void tg_lacks_io(struct tg_env *env, char *why, size_t why_size);

#endif
