/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling the sampler's hooks what has become of a process: only what is new. */
#ifndef TG_SAMPLE_TELL_H
#define TG_SAMPLE_TELL_H

#include "sample/process.h"

struct tg_teller {
	struct tg_env *env;
	struct tg_sampler_hooks hooks;
	bool no_args;
	int64_t t_ns; /* of the reading */
	bool again; /* the tree is read a second time at that moment */
	char args[TG_ARGS_MAX + 64];
};

/* Its birth, if that was not told yet; then each value that has changed; its death if it is over.
 */
void tg_tell(struct tg_teller *t, struct tg_process *p);

/* Its death, once, if its birth was told. */
void tg_tell_death(struct tg_teller *t, struct tg_process *p);

#endif
