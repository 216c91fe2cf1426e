/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks in nanoseconds. Samples are stamped with the monotonic clock, files are dated in UTC. */
#ifndef TG_BASE_CLOCK_H
#define TG_BASE_CLOCK_H

#include <stdint.h>

#define TG_NS_PER_S  INT64_C(1000000000)
#define TG_NS_PER_MS INT64_C(1000000)
#define TG_NS_PER_US INT64_C(1000)

int64_t tg_mono_ns(void); /* CLOCK_MONOTONIC: stops in suspend, never steps */
int64_t tg_real_ns(void); /* CLOCK_REALTIME: since 1970-01-01 UTC */
int64_t tg_boot_ns(void); /* CLOCK_BOOTTIME: like monotonic, runs on in suspend */
int64_t tg_thread_ns(void); /* CPU time of the calling thread */

/* The same moment on three clocks; re-read until the readings are within 50 us (at most 5 times).
 */
struct tg_clocks {
	int64_t mono_ns, real_ns, boot_ns;
};
struct tg_clocks tg_clocks_now(void);

#endif
