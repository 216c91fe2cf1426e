/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which spans are running: a guess from the file alone, since whoever looks may be on another
 * machine. It errs towards "unknown".
 */
#include <stdlib.h>

#include "analyze/recording.h"
#include "base/clock.h"
#include "base/map.h"
#include "record/format.h"

#include "base/mem.h"

#define SILENT_NS      (15 * TG_NS_PER_S) /* between cells the file is written to every 10 s */
#define SILENT_PERIODS 3 /* where one samples more seldom */

/* Whether the session is being written to: it has no end, and something of it is fresh. */
static bool is_alive(const struct tg_recording *r, const struct tg_span_session *s, int64_t now_ns)
{
	int64_t period = tg_steps_at(&s->period, s->last_ns), silent = SILENT_NS;
	int64_t last = tg_session_utc(s, s->last_ns);

	if (tg_reader_damage(r->reader)->ended || !s->last_ns)
		return false;
	if (period != TG_MISSING && period < TG_TIME_MAX / SILENT_PERIODS)
		silent = TG_MAX(silent, period * SILENT_PERIODS);
	return now_ns >= last - silent && now_ns <= last + silent;
}

void tg_recording_tell_running(struct tg_recording *r, int64_t now_ns)
{
	/* only the last session can be at work; one run at a time, and one cell a lane */
	const struct tg_span_session *s = r->n_sessions ? &r->session[r->n_sessions - 1] : NULL;
	bool alive = s && is_alive(r, s, now_ns);
	struct tg_map cells = TG_MAP_INIT; /* those that have been seen, by lane */
	bool run = false; /* one has been seen */

	for (size_t i = alive ? r->n_spans : 0; i-- > 0;) {
		struct tg_span *span = &r->span[i];
		bool is_cell = !strcmp(span->kind, "cell"), is_run = !strcmp(span->kind, "run");
		bool over = (is_cell || is_run) && run;

		if (is_cell) {
			over |= tg_map_get(&cells, tg_span_lane(span)) >= 0;
			tg_map_put(&cells, tg_span_lane(span), i);
		}
		if (span->open && span->session == s->number && !over) {
			free(span->status);
			span->status = tg_xstrdup("running");
		}
		run |= is_run;
	}
	tg_map_release(&cells);
}
