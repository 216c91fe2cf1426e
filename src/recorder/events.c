/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/events.h"

#include <inttypes.h>

#include "base/mem.h"

struct tg_jw *tg_events_open(struct tg_events *e, const char *ev, int64_t t_ns)
{
	e->start = e->lines.len;
	tg_jw_init(&e->jw, &e->lines);
	tg_jw_begin_object(&e->jw);
	tg_jw_kstr(&e->jw, "ev", ev);
	tg_jw_kint(&e->jw, "t", t_ns);
	return &e->jw;
}

void tg_events_close(struct tg_events *e)
{
	tg_jw_end_object(&e->jw);
	tg_buf_addc(&e->lines, '\n');
	if (e->lines.len > TG_EVENTS_MAX) {
		tg_buf_splice(&e->lines, e->start, e->lines.len - e->start, NULL, 0);
		e->lost++;
	}
}

void tg_events_say_lost(struct tg_events *e, int64_t t_ns)
{
	char text[80];

	if (!e->lost)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " events are lost: no room to write them", e->lost);
	tg_jw_kstr(tg_events_open(e, "note", t_ns), "text", text);
	tg_events_close(e);
	e->lost = 0;
}
