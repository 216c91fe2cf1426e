/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/repeats.h"

#include <math.h>

#include "analyze/requested.h"
#include "base/json.h"

#include "base/mem.h"

/* Tasks of a workflow have names of their own, and that of the step that they are of. */
static char *name_of(const struct tg_span *span)
{
	bool task = !strcmp(span->kind, "task") && span->attrs;
	struct tg_json *attrs = task ? tg_json_parse(span->attrs, strlen(span->attrs), NULL) : NULL;
	char *name = tg_xstrdup(tg_json_str(tg_json_get(attrs, "process"), span->name));

	tg_json_free(attrs);
	return name;
}

void tg_repeats_add(struct tg_repeats *r, const struct tg_span *span, const struct tg_totals *t)
{
	struct tg_requested asked;

	r->asked |= tg_requested_of(span, &asked);
	TG_GROW(r->one, r->n + 1, r->cap);
	r->one[r->n++] = (struct tg_repeat){ .name = name_of(span),
		.cost = {
			[TG_REPEATED_WALL] = t->wall_s,
			[TG_REPEATED_CPU] = t->cpu_s,
			[TG_REPEATED_CORES] = t->cores_mean,
			[TG_REPEATED_MEMORY] = t->mem_peak_bytes,
			[TG_REPEATED_STORAGE] = t->read_bytes + t->write_bytes,
			[TG_REPEATED_CORES_ASKED] = t->cores_mean / asked.cpus,
			[TG_REPEATED_MEMORY_ASKED] = t->mem_peak_bytes / asked.memory_bytes,
			[TG_REPEATED_WALL_ASKED] = t->wall_s / asked.time_s,
		} };
}

void tg_repeats_release(struct tg_repeats *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->one[i].name);
	free(r->one);
	*r = (struct tg_repeats){ 0 };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tg_repeat *)a)->name, ((const struct tg_repeat *)b)->name);
}

void tg_repeats_sort(struct tg_repeats *r)
{
	if (r->n)
		qsort(r->one, r->n, sizeof(*r->one), by_name);
}

size_t tg_repeats_of(const struct tg_repeats *r, size_t from)
{
	size_t n = 0;

	while (from + n < r->n && !strcmp(r->one[from].name, r->one[from + n].name))
		n++;
	return n;
}

size_t tg_repeats_cost(
	const struct tg_repeats *r, size_t from, size_t n, enum tg_repeated cost, double *v)
{
	size_t known = 0;

	for (size_t i = from; i < from + n; i++)
		if (isfinite(r->one[i].cost[cost]))
			v[known++] = r->one[i].cost[cost];
	return known;
}
