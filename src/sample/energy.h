/* SPDX-License-Identifier: BSD-3-Clause */
/* How much a counter of energy has grown, which begins anew now and then. A function of numbers. */
#ifndef TG_SAMPLE_ENERGY_H
#define TG_SAMPLE_ENERGY_H

#include <stdint.h>

struct tg_energy_at {
	int64_t uj; /* as read; below 0: not read yet */
	int64_t mono_ns, boot_ns; /* when: the first of these clocks stops in suspend */
};

/*
 * What was used between two readings, in uJ. One that stepped back has passed its `range` (0: it
 * has none), if the machine was awake and could have used that much; else it began at 0.
 */
int64_t tg_energy_gain(
	const struct tg_energy_at *last, const struct tg_energy_at *now, int64_t range);

#endif
