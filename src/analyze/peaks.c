/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/peaks.h"

#include "base/sorted.h"
#include "record/format.h"

#include "base/mem.h"

struct load {
	struct tg_peaks *peaks;
	struct tg_map last; /* place of each process' last one */
};

static int each_cell(void *ctx, const struct tg_process_cell *cell)
{
	struct load *l = ctx;
	struct tg_peaks *p = l->peaks;
	ptrdiff_t last;

	if (cell->field != TG_PROCESS_HWM_BYTES || cell->value == TG_MISSING)
		return 0;
	if (p->n && cell->t_ns < p->peak[p->n - 1].t_ns)
		return 0; /* damage */
	last = tg_map_get(&l->last, cell->entity);
	if (last >= 0 && p->peak[last].value == cell->value)
		return 0;
	if (p->n == TG_PEAKS_MAX) {
		p->full = true;
		return 1;
	}
	TG_GROW(p->peak, p->n + 1, p->cap);
	p->peak[p->n] =
		(struct tg_peak){ cell->t_ns, cell->value, cell->entity, (uint32_t)(last + 1) };
	tg_map_put(&l->last, cell->entity, p->n++);
	return 0;
}

static void load_lives(struct tg_peaks *p, const struct tg_recording *r, uint32_t session)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_lives; i++)
		n += r->life[i].session == session;
	p->birth = tg_xcalloc(n + 1, sizeof(*p->birth));
	p->death = tg_xcalloc(n + 1, sizeof(*p->death));
	for (size_t i = 0; i < r->n_lives; i++) {
		if (r->life[i].session != session)
			continue;
		p->birth[p->n_lives] = r->life[i].birth_ns;
		p->death[p->n_lives++] = r->life[i].death_ns;
	}
	qsort(p->birth, p->n_lives, sizeof(*p->birth), tg_by_int64);
	qsort(p->death, p->n_lives, sizeof(*p->death), tg_by_int64);
}

int tg_peaks_of(struct tg_recording *r, uint32_t session, struct tg_peaks **peaks)
{
	struct tg_span_session *s = tg_recording_session(r, session);
	struct load l = { .last = TG_MAP_INIT };
	int rc = 0;

	if (!s->peaks) {
		l.peaks = tg_xcalloc(1, sizeof(*l.peaks));
		load_lives(l.peaks, r, session);
		rc = tg_reader_processes(r->reader, session, INT64_MIN, INT64_MAX, each_cell, &l);
		tg_map_release(&l.last);
		if (rc < 0)
			tg_peaks_free(l.peaks); /* some of them would be taken for all */
		else
			s->peaks = l.peaks;
	}
	*peaks = s->peaks;
	return TG_MIN(rc, 0);
}

void tg_peaks_free(struct tg_peaks *p)
{
	if (!p)
		return;
	free(p->peak);
	free(p->birth);
	free(p->death);
	free(p->scratch);
	free(p);
}

/* How many of a list in order are less than `t_ns`. */
static size_t count_before(const int64_t *list, size_t n, int64_t t_ns)
{
	return tg_sorted_count(list, n, sizeof(*list), 0, t_ns, false);
}

size_t tg_peaks_lived(const struct tg_peaks *p, int64_t begin_ns, int64_t end_ns)
{
	/* who died before it was born before it */
	return count_before(p->birth, p->n_lives, end_ns + 1) -
	       count_before(p->death, p->n_lives, begin_ns);
}

/* A peak says that its process was there near a row; one that came or went beyond the edge was not
 * in the span. */
static bool lived(
	const struct tg_recording *r, uint32_t session, const struct tg_span *span, uint32_t entity)
{
	const struct tg_life *life = tg_recording_life(r, session, entity);

	return !life || (life->birth_ns <= span->end_ns && life->death_ns >= span->begin_ns);
}

int64_t tg_peaks_risen(const struct tg_recording *r, struct tg_peaks *p, uint32_t session,
	const struct tg_span *span, const int64_t rows_ns[2])
{
	size_t from = tg_sorted_to(p->peak, p->n, t_ns, rows_ns[0]),
	       to = tg_sorted_to(p->peak, p->n, t_ns, rows_ns[1]);
	/* a recorder that began in the span finds processes that have long had their peak */
	bool told_at_birth = !span->since_session || session == span->since_session;
	int64_t best = TG_MISSING;

	if (p->full && (to == p->n || from == p->n))
		return TG_MISSING;
	TG_GROW(p->scratch, to - TG_MIN(from, to), p->cap_scratch);
	/* scratch: what the process had before the span */
	for (size_t i = from; i < to; i++) {
		const struct tg_peak *peak = &p->peak[i];
		size_t before = peak->before;
		int64_t had = !before         ? (told_at_birth ? 0 : peak->value)
			      : before > from ? p->scratch[before - 1 - from]
					      : p->peak[before - 1].value;

		p->scratch[i - from] = had;
		if (peak->value > had && peak->value > best &&
			lived(r, session, span, peak->entity))
			best = peak->value;
	}
	return best;
}
