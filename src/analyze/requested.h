/* SPDX-License-Identifier: BSD-3-Clause */
/* What was requested for a run, of a batch system or by --request, as its attributes have it. */
#ifndef TG_ANALYZE_REQUESTED_H
#define TG_ANALYZE_REQUESTED_H

#include "analyze/recording.h"

struct tg_requested {
	double cpus, memory_bytes, time_s, gpus; /* NaN: unknown */
};

/* Returns whether any of it is known. */
bool tg_requested_of(const struct tg_span *span, struct tg_requested *out);

#endif
