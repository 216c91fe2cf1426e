/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/repeats.h"

#include <math.h>

#include "analyze/noise.h"
#include "command/grid.h"
#include "report/format.h"

#include "base/mem.h"

#define NAME_CHARS 36

static const char *const head[] = { "name", "n", "wall median", "max", "CPU time median", "max",
	"cores median", "max", "peak median", "max", "of requested: cores median", "highest peak",
	"longest" };

/* The last columns, where anything was requested. */
#define ASKED_COLUMNS 3

/* Of a cost, where it is known; else NaN. */
static void middle_and_top(const struct tg_repeats *r, size_t from, size_t n, enum tg_repeated cost,
	double *median, double *max)
{
	double *v = tg_xcalloc(n, sizeof(*v));
	struct tg_spread spread;

	tg_spread_of(v, tg_repeats_cost(r, from, n, cost, v), &spread);
	*median = spread.median;
	*max = spread.n ? v[spread.n - 1] : NAN;
	free(v);
}

static void add_pair(struct tg_grid *g, const struct tg_repeats *r, size_t from, size_t n,
	enum tg_repeated cost, void (*format)(struct tg_buf *out, double v))
{
	struct tg_buf b = TG_BUF_INIT;
	double median, max;

	middle_and_top(r, from, n, cost, &median, &max);
	format(&b, median);
	tg_grid_add(g, &b);
	format(&b, max);
	tg_grid_add(g, &b);
}

static void add_part(struct tg_grid *g, const struct tg_repeats *r, size_t from, size_t n,
	enum tg_repeated cost, bool highest)
{
	struct tg_buf b = TG_BUF_INIT;
	double median, max;

	middle_and_top(r, from, n, cost, &median, &max);
	tg_fmt_pct(&b, highest ? max : median, 1);
	tg_grid_add(g, &b);
}

static void add_line(struct tg_grid *g, const struct tg_repeats *r, size_t from, size_t n)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_plain(&b, r->one[from].name, NAME_CHARS);
	tg_grid_add(g, &b);
	tg_buf_addf(&b, "%zu", n);
	tg_grid_add(g, &b);
	add_pair(g, r, from, n, TG_REPEATED_WALL, tg_fmt_seconds);
	add_pair(g, r, from, n, TG_REPEATED_CPU, tg_fmt_seconds);
	add_pair(g, r, from, n, TG_REPEATED_CORES, tg_fmt_number);
	add_pair(g, r, from, n, TG_REPEATED_MEMORY, tg_fmt_bytes);
	if (!r->asked)
		return;
	add_part(g, r, from, n, TG_REPEATED_CORES_ASKED, false);
	add_part(g, r, from, n, TG_REPEATED_MEMORY_ASKED, true);
	add_part(g, r, from, n, TG_REPEATED_WALL_ASKED, true);
}

void tg_repeats_print(struct tg_command *c, struct tg_repeats *r)
{
	struct tg_grid g = { .head = head,
		.columns = TG_ARRAY_SIZE(head) - (r->asked ? 0 : ASKED_COLUMNS),
		.left = 1 };

	tg_repeats_sort(r);
	for (size_t i = 0, n; (n = tg_repeats_of(r, i)); i += n)
		if (n > 1)
			add_line(&g, r, i, n);
	if (g.n) {
		c->out.text(c->out.ctx, "\n", 1);
		tg_grid_print(c, &g);
	}
	tg_grid_release(&g);
}
