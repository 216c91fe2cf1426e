/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans that outlived a recorder. The next one was told again of what was open: such spans are
 * "resumed" in their attributes and keep id, kind and times. Here the two become one.
 */
#ifndef TG_ANALYZE_RESUMED_H
#define TG_ANALYZE_RESUMED_H

#include "analyze/recording.h"

/*
 * Drop each span that a later one of another session goes on with; the later one then knows in
 * which session it began, unless the two clocks have nothing to do with each other. Spans
 * and moments that named the dropped one as parent or run name the later one. `at` has the places
 * of the spans by number, and is of no use afterwards.
 */
void tg_resumed_join(struct tg_recording *r, const struct tg_map *at);

/*
 * Whether it was open in that session. All that it covers have one clock, and counters of the
 * machine and of processes go on from each to the next.
 */
bool tg_span_covers(const struct tg_span *span, uint32_t session);

bool tg_span_outlived_recorder(const struct tg_span *span);

/* The session before `s` that the span covers, or NULL. */
const struct tg_span_session *tg_span_session_before(
	const struct tg_recording *r, const struct tg_span *span, const struct tg_span_session *s);

#endif
