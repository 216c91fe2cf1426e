/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdicts.h"

#include <math.h>

#include "base/mem.h"

static void add(struct tg_totals *t, const char *text)
{
	if (t->n_verdicts < TG_VERDICTS_MAX)
		t->verdict[t->n_verdicts++] = text;
}

static bool has(const struct tg_totals *t, const char *text)
{
	for (size_t i = 0; i < t->n_verdicts; i++)
		if (!strcmp(t->verdict[i], text))
			return true;
	return false;
}

/* Nothing has more than its limit: then RSS counts pages that are shared. */
static bool near_limit(const struct tg_totals *t, bool several)
{
	double limit = t->memory_limit_bytes;
	bool sum = several && t->mem_peak_is && !strcmp(t->mem_peak_is, "RSS");

	return t->mem_peak_bytes >= 0.9 * limit && !(sum && t->mem_peak_bytes > limit);
}

void tg_verdicts_add_events(struct tg_totals *t, const struct tg_span *span, bool several)
{
	if (!strcmp(span->status, "died"))
		add(t, "died");
	if (t->cut && !span->open)
		add(t, "its last samples are missing");
	if (t->oom_kills >= 0.5) /* which may be that of a worker, while the cell goes on */
		add(t, "a process was killed for want of memory");
	if (near_limit(t, several))
		add(t, "memory near limit");
	t->n_events = t->n_verdicts;
}

void tg_verdicts_join_events(struct tg_totals *t, const struct tg_totals *from)
{
	t->n_verdicts = t->n_events;
	for (size_t i = 0; i < from->n_events; i++)
		if (!has(t, from->verdict[i]))
			add(t, from->verdict[i]);
	t->n_events = t->n_verdicts;
}

/*
 * Whether it would have used more cores, had others not held them. Of a machine that is full that
 * is known when the main thread stood in the queue for one, or had one all the time; where the
 * queue is not told, one that has half a core is taken not to sleep.
 */
static bool is_crowded_out(const struct tg_totals *t)
{
	if (!(t->node_cpu_s >= 0.9 * t->wall_s * t->node_cores))
		return false;
	if (isnan(t->runqueue_s))
		return t->cores_mean >= 0.5;
	return t->runqueue_s >= 0.1 * t->wall_s || t->cores_mean >= 0.9;
}

void tg_verdicts_add_spending(struct tg_totals *t)
{
	t->n_verdicts = t->n_events;
	if (t->wall_s < 1 || isnan(t->cores_mean)) /* too short to say how it spent its time */
		return;
	if (t->throttled_s >= 0.1 * t->wall_s)
		add(t, "throttled by its CPU quota");
	if (t->cores_mean >= 0.85 * t->cores_allowed)
		add(t, "all cores busy");
	else if (is_crowded_out(t))
		add(t, t->cores_mean >= 0.9 ? "others hold the other cores"
					    : "others hold the cores");
	else if (t->cores_mean >= 0.9 && t->cores_mean <= 1.1 && t->cores_max <= 1.25 &&
		 t->cores_allowed >= 2)
		add(t, "one core busy");
	else if (t->cores_mean < 0.05)
		add(t, "waits");
}
