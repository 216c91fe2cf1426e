/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When to sample, and whether the clocks still agree: arithmetic only, no clock is read here, so
 * that tests can play any clock. Ticks lie on a grid of the period; late ones are skipped and
 * counted, never made up for.
 */
#ifndef TG_RECORDER_PACE_H
#define TG_RECORDER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct tg_pace {
	int64_t period_ns;
	int64_t next_ns; /* the next tick's moment */
};

/*
 * Another period. The next tick is one of it from now, or when it was to come if that is sooner:
 * spans that come and go faster than any period must not put it off for ever.
 */
void tg_pace_set(struct tg_pace *p, int64_t now_ns, int64_t period_ns);

/* A tick is due (now >= next): move on. Returns how many ticks before this one were skipped. */
int64_t tg_pace_tick(struct tg_pace *p, int64_t now_ns);

/* At most `per_s` permits a second. */
struct tg_budget {
	int64_t second; /* which second is counted */
	int used;
};
bool tg_budget_take(struct tg_budget *b, int64_t now_ns, int per_s);

/* Clocks drifting apart since the last clock event. */
struct tg_drift {
	struct tg_clocks last;
};

enum tg_drift_kind {
	TG_DRIFT_STEP = 1 << 0, /* realtime moved by more than 1 ms against monotonic */
	TG_DRIFT_SUSPEND = 1 << 1, /* boottime did, by more than 1 ms: the machine slept */
};

/*
 * Compare with the last clock event's readings. Returns TG_DRIFT_* and in *slept_ns how long the
 * machine slept. The caller writes a clock event when it is not 0 and sets `last`.
 */
unsigned tg_drift_check(const struct tg_drift *d, const struct tg_clocks *now, int64_t *slept_ns);

#endif
