/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vocabulary that every layer shares: what a column of a recording is. Sources declare
 * metrics; schema, CSV header, chart axis and docs/metrics.md come from the declarations.
 */
#ifndef TG_BASE_METRIC_H
#define TG_BASE_METRIC_H

#include <stdint.h>

enum tg_kind {
	TG_GAUGE, /* a level: read it as it is */
	TG_COUNTER, /* grows: only differences mean something; a decrease starts a new epoch */
};

enum tg_scope {
	TG_SCOPE_JOB, /* the process tree that is measured */
	TG_SCOPE_NODE, /* the whole machine */
	TG_SCOPE_SELF, /* what recording itself costs */
};

/* What makes the value of a metric change: it is as old, or as coarse, as that. */
enum tg_tick {
	TG_TICK_NONE, /* nothing: it is of the moment of the reading */
	TG_TICK_WALK, /* each process is looked at so often at most */
	TG_TICK_CLOCK, /* the kernel's timer tick, at which clocks of what runs move */
	TG_TICK_USER_HZ, /* times in /proc are in this unit, mostly 10 ms */
	TG_TICK_WHOLE, /* by what means the CPU time of the tree is told: perf's is none */
	TG_TICK_DRIVER, /* a driver's mean over as much as a second */
};

struct tg_metric {
	const char *name; /* "tree.cpu_ns": source, dot, what it is with its unit */
	const char *unit; /* "ns", "bytes", "ops", "count", "J": value * 10^scale is in this unit */
	enum tg_kind kind;
	enum tg_scope scope;
	int scale; /* decimal exponent, mostly 0 */
	const char *help; /* one line, for people */
	enum tg_tick tick;
};

#define TG_INSTANCE_MAX 64

/* A counter in a finer unit. Where that outgrows 63 bits, it begins anew from 0. */
static inline int64_t tg_scaled(int64_t value, int64_t factor)
{
	(void)__builtin_mul_overflow(value, factor, &value);
	return value & INT64_MAX;
}

/* One column: a metric of one instance ("sda", "cpu3"; "" where there is just one). */
struct tg_column {
	const struct tg_metric *metric;
	char instance[TG_INSTANCE_MAX];
	int64_t period_ns; /* values so far apart are no gap; 0: one comes at every tick */
};

/* What a missing value is in memory; on disk it is a bit. */
#define TG_MISSING INT64_MIN

#endif
