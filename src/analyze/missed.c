/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/missed.h"

#include "analyze/resumed.h"

#include "base/mem.h"

#define MISSED_MAX (INT64_C(1) << 61) /* ticks: more are damage, and the sum cannot overflow */

int64_t tg_missed_in(const struct tg_recording *r, const struct tg_span *span)
{
	int64_t missed = 0, last_ns = TG_MISSING;
	const struct tg_span_session *in = NULL;
	size_t n;
	const struct tg_table *table = tg_reader_tables(r->reader, &n);

	for (const struct tg_span_session *s = tg_recording_session(r, span->session); s;
		s = tg_span_session_before(r, span, s))
		for (ptrdiff_t i = tg_steps_find(&s->missed, span->end_ns);
			i >= 0 && s->missed.step[i].t_ns >= span->begin_ns; i--)
			missed = TG_MIN(missed + s->missed.step[i].value, MISSED_MAX);
	for (size_t i = 0; tg_span_outlived_recorder(span) && i < n; i++) {
		if (!tg_span_covers(span, table[i].session) || !table[i].n_rows)
			continue;
		if (in && table[i].session != in->number) {
			int64_t period = tg_steps_at(&in->period, last_ns);

			if (period > 0 && table[i].first_ns > last_ns)
				missed = TG_MIN(missed + (table[i].first_ns - last_ns - 1) / period,
					MISSED_MAX);
		}
		in = tg_recording_session(r, table[i].session);
		last_ns = TG_MAX(last_ns, table[i].last_ns);
	}
	return missed;
}
