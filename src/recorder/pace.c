/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/pace.h"

#include "base/mem.h"

#define STEP_NS TG_NS_PER_MS

void tg_pace_set(struct tg_pace *p, int64_t now_ns, int64_t period_ns)
{
	if (!p->period_ns || now_ns + period_ns < p->next_ns)
		p->next_ns = now_ns + period_ns;
	p->period_ns = period_ns;
}

int64_t tg_pace_tick(struct tg_pace *p, int64_t now_ns)
{
	int64_t late = now_ns - p->next_ns;
	int64_t skipped = late > 0 ? late / p->period_ns : 0;

	p->next_ns += (skipped + 1) * p->period_ns;
	return skipped;
}

bool tg_budget_take(struct tg_budget *b, int64_t now_ns, int per_s)
{
	int64_t second = now_ns / TG_NS_PER_S;

	if (b->second != second) {
		b->second = second;
		b->used = 0;
	}
	if (b->used >= per_s)
		return false;
	b->used++;
	return true;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

unsigned tg_drift_check(const struct tg_drift *d, const struct tg_clocks *now, int64_t *slept_ns)
{
	int64_t slept = (now->boot_ns - now->mono_ns) - (d->last.boot_ns - d->last.mono_ns);
	unsigned found = 0;

	if (distance(now->real_ns - now->mono_ns, d->last.real_ns - d->last.mono_ns) > STEP_NS)
		found |= TG_DRIFT_STEP;
	if (slept > STEP_NS)
		found |= TG_DRIFT_SUSPEND;
	*slept_ns = found & TG_DRIFT_SUSPEND ? slept : 0;
	return found;
}
