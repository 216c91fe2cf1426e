/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the GPU helper asks the driver: its devices once, then all their values in a round. Slow
 * ones (clocks, PCIe, how much each process computes) are asked for once a second, and told again
 * in between.
 */
#ifndef TG_RECORDER_GPU_ROUND_H
#define TG_RECORDER_GPU_ROUND_H

#include <stddef.h>
#include <stdint.h>

#include "recorder/nvml.h"
#include "sample/gpu_wire.h"

struct tg_gpus;

/*
 * Find the devices and, where one is divided (MIG), its parts. NULL when there is none that may
 * be read; then `why` says so.
 */
struct tg_gpus *tg_gpus_find(const struct tg_nvml *nvml, char *why, size_t size);
void tg_gpus_free(struct tg_gpus *g);

/* Ask for everything and give each record to `send`, until it returns non-zero, which is returned.
 */
int tg_gpus_round(struct tg_gpus *g, int64_t now_ns,
	int (*send)(void *ctx, const struct tg_gpu_record *record), void *ctx);

#endif
