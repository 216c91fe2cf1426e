/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/resolve.h"

#include "base/sorted.h"
#include "import/civil.h"
#include "import/zone.h"

#include "base/mem.h"

#define MINUTE_NS (60 * TG_NS_PER_S)
#define DAYS_MAX  400 /* that a log may be silent, as far as uptime tells */

struct state {
	struct tg_readings *g;
	bool dates; /* there is one in the log */
	bool of_day; /* ticks have times of the day only */
	int64_t utc_ns, civil_ns; /* of the tick before */
	int32_t up_min;
	bool first;
};

static int64_t to_utc(const struct state *s, int64_t civil_ns, int64_t not_before_ns)
{
	return s->g->in_utc || !s->dates ? civil_ns : tg_zone_utc(civil_ns, not_before_ns);
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* Minutes between two ticks by the machine's uptime; -1: it does not tell. */
static int64_t up_between(const struct state *s, const struct tg_log_tick *t)
{
	return s->up_min >= 0 && t->up_min >= s->up_min ? t->up_min - s->up_min : -1;
}

/*
 * The day of a time of the day: the first on which it is not before the tick before. Uptime may say
 * that days went by without a tick, or that it was the clock that was set back by a little.
 */
static int64_t date_of(const struct state *s, const struct tg_log_tick *t, int64_t time_ns)
{
	int64_t floor_ns = t->after_ns != TG_UNKNOWN ? t->after_ns : s->civil_ns;
	int64_t day = floor_ns / TG_NS_PER_DAY * TG_NS_PER_DAY, up = up_between(s, t), best;
	int64_t same = to_utc(s, day + time_ns, s->utc_ns);

	if (s->first || t->after_ns != TG_UNKNOWN)
		return day + time_ns + (day + time_ns < floor_ns ? TG_NS_PER_DAY : 0);
	best = same >= s->utc_ns ? day + time_ns : day + TG_NS_PER_DAY + time_ns;
	if (up < 0)
		return best;
	if (same < s->utc_ns && distance(same - s->utc_ns, up * MINUTE_NS) < TG_NS_PER_DAY / 2)
		return day + time_ns;
	for (int i = 0; i < DAYS_MAX; i++, best += TG_NS_PER_DAY) {
		int64_t now = to_utc(s, best, s->utc_ns) - s->utc_ns;

		if (distance(now, up * MINUTE_NS) <= TG_NS_PER_DAY / 2 || now > up * MINUTE_NS)
			break;
	}
	return best;
}

static void resolve(struct state *s, struct tg_log_tick *t)
{
	int64_t not_before = s->first ? INT64_MIN : s->utc_ns, offset;

	if (s->of_day)
		t->civil_ns = date_of(s, t, t->civil_ns);
	t->utc_ns = TG_MAX(to_utc(s, t->civil_ns, not_before), not_before);
	offset = t->civil_ns - t->utc_ns;
	if (t->begin_ns != TG_UNKNOWN) /* from here on in UTC, as long before as the log has it */
		t->begin_ns = TG_MIN(t->begin_ns - offset, t->utc_ns);
	s->utc_ns = t->utc_ns;
	s->civil_ns = t->civil_ns;
	s->up_min = t->up_min;
	s->first = false;
}

void tg_resolve_ticks(struct tg_readings *g)
{
	struct state s = { .g = g,
		.first = true,
		.up_min = -1,
		.dates = g->times == TG_DATED,
		.of_day = g->times == TG_TIME_OF_DAY };

	for (uint32_t i = 0; i < g->n_ticks && s.of_day && !s.dates; i++)
		s.dates = g->tick[i].after_ns != TG_UNKNOWN;
	for (uint32_t i = 0; i < g->n_ticks; i++)
		resolve(&s, &g->tick[i]);
	g->undated = !s.dates;
}

int64_t tg_resolve_period_ns(const struct tg_readings *g)
{
	size_t step = g->n_ticks / 1000 + 1, n = 0;
	int64_t length[1001];

	for (size_t i = 1; i < g->n_ticks && n < TG_ARRAY_SIZE(length); i += step)
		length[n++] = g->tick[i].utc_ns - g->tick[i - 1].utc_ns;
	if (!n)
		return 0;
	qsort(length, n, sizeof(*length), tg_by_int64);
	return length[n / 2];
}
