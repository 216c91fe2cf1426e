/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event lines (record/format.h) that wait for the next flush. Bounded: what does not fit is
 * counted and said in the file afterwards.
 */
#ifndef TG_RECORDER_EVENTS_H
#define TG_RECORDER_EVENTS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define TG_EVENTS_MAX  (1u << 20)
#define TG_EVENTS_FULL (64u << 10) /* worth handing over before the next flush */

struct tg_events {
	struct tg_buf lines;
	struct tg_jw jw;
	size_t start; /* of the line being written */
	uint64_t lost;
};

/* Start an event; add members with the writer that is returned; close it. */
struct tg_jw *tg_events_open(struct tg_events *e, const char *ev, int64_t t_ns);
void tg_events_close(struct tg_events *e);

/* Put a note that some were lost, when some were, now that there is room again. */
void tg_events_say_lost(struct tg_events *e, int64_t t_ns);

#endif
