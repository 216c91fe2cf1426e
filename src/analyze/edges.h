/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the spans of a session begin and end, in order of time. Tasks are left out: there are very
 * many, side by side.
 */
#ifndef TG_ANALYZE_EDGES_H
#define TG_ANALYZE_EDGES_H

#include "analyze/recording.h"

struct tg_edge {
	int64_t t_ns;
	bool begin; /* ends come first where times are the same */
};

struct tg_edges {
	struct tg_edge *edge;
	size_t n;
};

/* Those of a session, found at the first call. Borrowed from `s`. */
const struct tg_edges *tg_edges_of(const struct tg_recording *r, struct tg_span_session *s);
void tg_edges_free(struct tg_edges *e); /* NULL is fine */

/* The place of the first one that is later than `t_ns`; e->n: none is. */
size_t tg_edges_after(const struct tg_edges *e, int64_t t_ns);

#endif
