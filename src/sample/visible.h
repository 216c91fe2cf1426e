/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which GPUs a program may use: what CUDA makes of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. Its
 * numbers are neither NVML's nor those of /dev/nvidiaN; what they mean is told only where that is
 * certain. Pure functions on bytes.
 */
#ifndef TG_SAMPLE_VISIBLE_H
#define TG_SAMPLE_VISIBLE_H

#include "sample/gpu_wire.h"

enum tg_visible { TG_VISIBLE_NO, TG_VISIBLE_YES, TG_VISIBLE_UNKNOWN };

/*
 * The value of a variable in the text of /proc/PID/environ, whose last byte is followed by a NUL;
 * NULL when it is not set. Borrowed.
 */
const char *tg_visible_variable(const char *text, size_t len, const char *name);

/* `list` and `order` are the two variables, NULL: not set. One answer for each of `n` devices. */
void tg_visible_devices(const char *list, const char *order, const struct tg_gpu_device *device,
	size_t n, enum tg_visible *out);

#endif
