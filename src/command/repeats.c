/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/repeats.h"

#include <math.h>
#include <stddef.h>

#include "analyze/noise.h"
#include "analyze/requested.h"
#include "command/grid.h"
#include "report/format.h"

#include "base/mem.h"

#define NAME_CHARS 36

static const char *const head[] = { "name", "n", "wall median", "max", "CPU time median", "max",
	"cores median", "max", "peak median", "max", "of requested: cores median", "highest peak",
	"longest" };

/* The last columns, where anything was requested. */
#define ASKED_COLUMNS 3

void tg_repeats_add(struct tg_repeats *r, const struct tg_span *span, const struct tg_totals *t)
{
	struct tg_requested asked;

	r->asked |= tg_requested_of(span, &asked);
	TG_GROW(r->one, r->n + 1, r->cap);
	r->one[r->n++] = (struct tg_repeat){ .name = tg_xstrdup(span->name),
		.wall_s = t->wall_s,
		.cpu_s = t->cpu_s,
		.cores = t->cores_mean,
		.peak_bytes = t->mem_peak_bytes,
		.cores_asked = t->cores_mean / asked.cpus,
		.peak_asked = t->mem_peak_bytes / asked.memory_bytes,
		.wall_asked = t->wall_s / asked.time_s };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tg_repeat *)a)->name, ((const struct tg_repeat *)b)->name);
}

/* Of a member, where it is known; else NaN. */
static void middle_and_top(
	const struct tg_repeat *one, size_t n, size_t member, double *median, double *max)
{
	double *v = tg_xcalloc(n, sizeof(*v));
	struct tg_spread spread;

	for (size_t i = 0; i < n; i++)
		v[i] = *(const double *)((const char *)&one[i] + member);
	tg_spread_of(v, n, &spread);
	*median = spread.median;
	*max = spread.n ? v[spread.n - 1] : NAN;
	free(v);
}

static void add_pair(struct tg_grid *g, const struct tg_repeat *one, size_t n, size_t member,
	void (*format)(struct tg_buf *out, double v))
{
	struct tg_buf b = TG_BUF_INIT;
	double median, max;

	middle_and_top(one, n, member, &median, &max);
	format(&b, median);
	tg_grid_add(g, &b);
	format(&b, max);
	tg_grid_add(g, &b);
}

static void add_part(
	struct tg_grid *g, const struct tg_repeat *one, size_t n, size_t member, bool highest)
{
	struct tg_buf b = TG_BUF_INIT;
	double median, max;

	middle_and_top(one, n, member, &median, &max);
	tg_fmt_pct(&b, highest ? max : median, 1);
	tg_grid_add(g, &b);
}

static void add_line(struct tg_grid *g, const struct tg_repeat *one, size_t n, bool asked)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_plain(&b, one->name, NAME_CHARS);
	tg_grid_add(g, &b);
	tg_buf_addf(&b, "%zu", n);
	tg_grid_add(g, &b);
	add_pair(g, one, n, offsetof(struct tg_repeat, wall_s), tg_fmt_seconds);
	add_pair(g, one, n, offsetof(struct tg_repeat, cpu_s), tg_fmt_seconds);
	add_pair(g, one, n, offsetof(struct tg_repeat, cores), tg_fmt_number);
	add_pair(g, one, n, offsetof(struct tg_repeat, peak_bytes), tg_fmt_bytes);
	if (!asked)
		return;
	add_part(g, one, n, offsetof(struct tg_repeat, cores_asked), false);
	add_part(g, one, n, offsetof(struct tg_repeat, peak_asked), true);
	add_part(g, one, n, offsetof(struct tg_repeat, wall_asked), true);
}

void tg_repeats_print(struct tg_command *c, struct tg_repeats *r)
{
	struct tg_grid g = { .head = head,
		.columns = TG_ARRAY_SIZE(head) - (r->asked ? 0 : ASKED_COLUMNS),
		.left = 1 };

	if (r->n)
		qsort(r->one, r->n, sizeof(*r->one), by_name);
	for (size_t i = 0, n; i < r->n; i += n) {
		for (n = 1; i + n < r->n && !strcmp(r->one[i].name, r->one[i + n].name); n++)
			continue;
		if (n > 1)
			add_line(&g, &r->one[i], n, r->asked);
	}
	if (g.n) {
		c->out.text(c->out.ctx, "\n", 1);
		tg_grid_print(c, &g);
	}
	tg_grid_release(&g);
}

void tg_repeats_release(struct tg_repeats *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->one[i].name);
	free(r->one);
	*r = (struct tg_repeats){ 0 };
}
