/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a batch system has told a job about itself: Slurm, PBS, LSF, Grid Engine. Only variables of
 * known names are read, and of each only what a job's report needs.
 */
#ifndef TG_MARK_BATCH_H
#define TG_MARK_BATCH_H

#include <math.h>

#include "base/err.h"
#include "base/json.h"

struct tg_batch {
	const char *system; /* "Slurm"; NULL: no job of any */
	const char *job, *index; /* of an array the array's id, and the index; NULL: none */
	const char *name, *queue; /* NULL: unknown; all of these are the environment's */
};

void tg_batch_find(struct tg_batch *b);

struct tg_job_request {
	double cpus, memory_bytes, time_s, gpus; /* NaN: unknown */
};

#define TG_JOB_REQUEST_NONE                                                                        \
	(struct tg_job_request)                                                                    \
	{                                                                                          \
		NAN, NAN, NAN, NAN                                                                 \
	}

/* What the batch system was asked for, for this process and what it starts on this host. */
void tg_job_request_told(const struct tg_batch *b, struct tg_job_request *out);

/*
 * Take "cpus=8,mem=16G,time=2h,gpus=1", any of them, over what `out` has. K, M, G and T are powers
 * of 1024, as batch systems have them; times are seconds, 90s, 30m, 2h, 1d, or [D-]H:MM:SS.
 * Returns 0, or -EINVAL with a sentence.
 */
int tg_job_request_parse(const char *text, struct tg_job_request *out, struct tg_err *err);

/* Members "batch" and "requested" of an object, where there is anything to say. */
void tg_batch_add(struct tg_jw *w, const struct tg_batch *b);
void tg_job_request_add(struct tg_jw *w, const struct tg_job_request *r);

#endif
