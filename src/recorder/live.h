/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans that are open: marks go in, begin and end events come out. Only open spans are held. A span
 * belongs to the connection that began it; once that is closed, any other may end it by its id.
 */
#ifndef TG_RECORDER_LIVE_H
#define TG_RECORDER_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "mark/protocol.h"
#include "recorder/events.h"
#include "recorder/watch.h"

#define TG_LIVE_MAX 16384 /* open at the same time */

struct tg_live_span {
	uint64_t number;
	uint64_t client; /* serial number of its connection; 0: closed */
	uint32_t hash; /* of id */
	struct tg_watch owner; /* it ends with that process; pid 0: none */
	bool is_run, is_cell;
	char *id;
	char *stage; /* its name, of a stage; else NULL */
};

struct tg_live {
	struct tg_live_span *open;
	size_t n, cap;
	uint64_t next; /* number of the next span */
	int64_t next_index; /* of the next cell in its run */
	size_t n_runs; /* open spans of kind run */
};

void tg_live_release(struct tg_live *s);

/* Returns 0, or -errno with a sentence for the client. `now_ns` stands in for an absent "t". */
int tg_live_begin(struct tg_live *s, struct tg_events *e, uint64_t client,
	const struct tg_mark_message *m, int64_t now_ns, struct tg_err *err);
int tg_live_end(struct tg_live *s, struct tg_events *e, uint64_t client,
	const struct tg_mark_message *m, int64_t now_ns, struct tg_err *err);

/* A connection was closed: its spans stay open, for anyone. */
void tg_live_orphan(struct tg_live *s, uint64_t client);

/* The name of the stage that began last and goes on; NULL: none. */
const char *tg_live_stage(const struct tg_live *s);

/* Those whose owner has ended, end. Returns how many did. */
size_t tg_live_end_with_owners(struct tg_live *s, struct tg_events *e, int64_t t_ns);

/* Spans that end with a status of ours, not by a mark. */
enum tg_live_which { TG_LIVE_CELLS, TG_LIVE_ORPHANS, TG_LIVE_ALL };

void tg_live_end_by_us(struct tg_live *s, struct tg_events *e, enum tg_live_which which,
	int64_t t_ns, const char *status);

#endif
