/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/edges.h"

#include <stdlib.h>

#include "analyze/resumed.h"
#include "base/sorted.h"

#include "base/mem.h"

static int by_time(const void *a, const void *b)
{
	const struct tg_edge *x = a, *y = b;

	return x->t_ns != y->t_ns ? (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns) : x->begin - y->begin;
}

const struct tg_edges *tg_edges_of(const struct tg_recording *r, struct tg_span_session *s)
{
	struct tg_edges *e = s->edges;

	if (e)
		return e;
	e = s->edges = tg_xcalloc(1, sizeof(*e));
	e->edge = tg_xcalloc(2 * r->n_spans + 1, sizeof(*e->edge));
	for (size_t i = 0; i < r->n_spans; i++) {
		const struct tg_span *span = &r->span[i];

		if (!tg_span_covers(span, s->number) || !strcmp(span->kind, "task"))
			continue;
		e->edge[e->n++] = (struct tg_edge){ span->begin_ns, true };
		e->edge[e->n++] = (struct tg_edge){ span->end_ns, false };
	}
	qsort(e->edge, e->n, sizeof(*e->edge), by_time);
	return e;
}

void tg_edges_free(struct tg_edges *e)
{
	if (!e)
		return;
	free(e->edge);
	free(e);
}

size_t tg_edges_after(const struct tg_edges *e, int64_t t_ns)
{
	return tg_sorted_to(e->edge, e->n, t_ns, t_ns);
}
