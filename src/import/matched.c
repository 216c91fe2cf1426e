/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/matched.h"

#include <math.h>

#include "base/mem.h"

bool tg_matched_counts(const struct tg_walk_row *row)
{
	return !isnan(row->value[TG_P_ROLE]);
}

void tg_matched_sum(const struct tg_walk *w, struct tg_matched *sum)
{
	*sum = (struct tg_matched){ 0 };
	for (size_t i = 0; i < w->n; i++) {
		const double *v = w->row[i].value;

		if (!tg_matched_counts(&w->row[i]))
			continue;
		sum->n++;
		sum->virt_kib += v[TG_P_VIRT];
		sum->res_kib += v[TG_P_RES];
		sum->shr_kib += v[TG_P_SHR];
		sum->cpu_pct += v[TG_P_CPU_PCT];
		sum->mem_pct += v[TG_P_MEM_PCT];
	}
}

void tg_matched_each(const struct tg_import *im, const char *tool,
	void (*each)(void *ctx, const struct tg_matched_tick *t), void *ctx)
{
	size_t first, n = tg_import_of_tool(im, tool, &first);
	int64_t begin = TG_UNKNOWN;

	for (size_t i = first; i < first + n; i++) {
		const struct tg_logfile *log = im->log[i];
		struct tg_matched_tick t = { .log = log };
		struct tg_walk w;

		if (!log->has_processes)
			continue;
		tg_walk_begin_placed(&w, &log->processes.grid);
		t.walk = &w;
		while (tg_walk_next(&w)) {
			t.tick = &log->processes.grid.tick[w.tick];
			if (begin == TG_UNKNOWN)
				begin = t.tick->utc_ns;
			t.elapsed_ns = t.tick->utc_ns - begin;
			tg_matched_sum(&w, &t.sum);
			each(ctx, &t);
		}
		tg_walk_end(&w);
	}
}
