/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"

#include "base/mem.h"

static int64_t read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * TG_NS_PER_S + t.tv_nsec;
}

int64_t tg_mono_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t tg_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

int64_t tg_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

int64_t tg_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct tg_clocks tg_clocks_now(void)
{
	struct tg_clocks c;
	int64_t before, after;

	for (int i = 0; i < 5; i++) {
		before = tg_mono_ns();
		c.real_ns = tg_real_ns();
		c.boot_ns = tg_boot_ns();
		after = tg_mono_ns();
		c.mono_ns = before + (after - before) / 2;
		if (after - before < 50 * TG_NS_PER_US)
			break;
	}
	return c;
}
