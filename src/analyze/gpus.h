/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the job's GPUs did in a span. The job's are those that its environment shows it or that its
 * processes use, known as such: of others, and where it is not known whose they are, nothing.
 */
#ifndef TG_ANALYZE_GPUS_H
#define TG_ANALYZE_GPUS_H

#include "analyze/recording.h"

struct tg_gpu_totals {
	double n; /* how many they are; NaN: none is known */
	/*
	 * How busy they were, averaged over them: NaN when it is not available of one of them, as
	 * of a device that is divided (MIG).
	 */
	double util_mean_pct;
	/*
	 * The most memory on all of them at one moment: that of the job's processes, or where the
	 * driver does not tell them apart, as in a container, that of whoever uses these devices.
	 */
	double memory_peak_bytes;
};

/* NaN where nothing is known. Returns 0 or -errno of reading. */
int tg_gpus_of(const struct tg_recording *r, const struct tg_span *span, struct tg_gpu_totals *out);

#endif
