/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sampler is made of: for sampler.c and offer.c, and for tests that look inside. */
#ifndef TG_SAMPLE_SAMPLER_PRIVATE_H
#define TG_SAMPLE_SAMPLER_PRIVATE_H

#include "sample/apart.h"
#include "sample/oom.h"
#include "sample/sampler.h"
#include "sample/source.h"
#include "sample/tree.h"
#include "sample/whole.h"

struct opened {
	struct tg_out out;
	void *state;
	struct tg_apart *apart; /* who reads it; NULL: we do */
	int error; /* of open: 0, or -errno */
	char why[160];
	int64_t due_ns, period_ns; /* when it is read next, and how often now */
	int64_t cost_ns; /* of a reading lately, CPU time */
	struct tg_source_cost cost;
};

struct tg_sampler {
	struct tg_env env;
	struct tg_sampler_hooks hooks;
	struct tg_text text, stat;
	struct tg_oom_watch oom;
	struct tg_whole whole;
	struct opened *source; /* as in tg_source_list */
	struct tg_column *column;
	int64_t *value;
	size_t n, cap_columns, cap_values;
	unsigned generation;
};

#endif
