/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/report.h"

#include <math.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/sorted.h"
#include "import/civil.h"
#include "import/matched.h"
#include "import/stats.h"
#include "import/walk.h"

#include "base/mem.h"

/* ---- processes ---- */

struct top {
	struct tg_stats res, virt, cpu, mem, cpu_all, steps;
	int64_t samples, matches, last_ns;
	int64_t first_match_ns, last_match_ns; /* civil */
	bool undated;
};

static void take_top(void *ctx, const struct tg_matched_tick *t)
{
	struct top *top = ctx;

	if (top->samples++)
		tg_stats_add(&top->steps, (double)(t->tick->utc_ns - top->last_ns) / 1e9);
	top->last_ns = t->tick->utc_ns;
	top->undated = t->log->processes.grid.undated;
	tg_stats_add(&top->cpu_all, t->sum.cpu_pct);
	if (!t->sum.n)
		return;
	if (!top->matches++)
		top->first_match_ns = t->tick->civil_ns;
	top->last_match_ns = t->tick->civil_ns;
	tg_stats_add(&top->res, t->sum.res_kib / 1024);
	tg_stats_add(&top->virt, t->sum.virt_kib / 1024);
	tg_stats_add(&top->cpu, t->sum.cpu_pct);
	tg_stats_add(&top->mem, t->sum.mem_pct);
}

/* The distances that there are between samples, each once. */
static void write_steps(struct tg_stats *s, struct tg_jw *w)
{
	tg_jw_begin_array(w);
	if (s->n)
		qsort(s->value, s->n, sizeof(*s->value), tg_by_double);
	for (size_t i = 0; i < s->n; i++)
		if (!i || s->value[i] != s->value[i - 1])
			tg_jw_num(w, s->value[i]);
	tg_jw_end_array(w);
	free(s->value);
}

static void write_time(struct tg_jw *w, const char *key, const struct top *top, int64_t civil_ns)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_jw_key(w, key);
	if (top->matches) {
		tg_civil_text(&text, civil_ns, top->undated);
		tg_jw_str(w, text.data);
	} else {
		tg_jw_null(w);
	}
	tg_buf_release(&text);
}

static void write_stats(struct tg_jw *w, const char *key, struct tg_stats *s)
{
	tg_jw_key(w, key);
	tg_stats_write(s, w);
}

void tg_report_top(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w)
{
	struct top top = { 0 };

	tg_matched_each(im, f->tool, take_top, &top);
	tg_jw_begin_object(w);
	tg_jw_kint(w, "samples", top.samples);
	write_stats(w, "res_mib", &top.res);
	write_stats(w, "virt_mib", &top.virt);
	write_stats(w, "cpu_pct", &top.cpu);
	write_stats(w, "mem_pct", &top.mem);
	write_stats(w, "cpu_pct_all_samples", &top.cpu_all);
	tg_jw_key(w, "gaps_s");
	write_steps(&top.steps, w);
	tg_jw_kint(w, "samples_with_match", top.matches);
	write_time(w, "match_first", &top, top.first_match_ns);
	write_time(w, "match_last", &top, top.last_match_ns);
	tg_jw_end_object(w);
}

/* ---- grids ---- */

struct table {
	char *name; /* of the item */
	struct tg_stats *of; /* each column */
};

/* Statistics by item and by column. */
struct tables {
	const struct tg_log_layout *layout;
	struct table *table;
	size_t n, cap;
	struct tg_map at; /* by the hash of the name, or what follows it and is free */
};

static struct tg_stats *stats_of(struct tables *t, const char *name)
{
	uint64_t key = tg_hash(TG_HASH_INIT, name, strlen(name));
	ptrdiff_t at;

	while ((at = tg_map_get(&t->at, key)) >= 0 && strcmp(t->table[at].name, name) != 0)
		key++;
	if (at >= 0)
		return t->table[at].of;
	tg_map_put(&t->at, key, t->n);
	TG_GROW(t->table, t->n + 1, t->cap);
	t->table[t->n] = (struct table){ tg_xstrdup(name),
		tg_xcalloc(t->layout->n_columns, sizeof(struct tg_stats)) };
	return t->table[t->n++].of;
}

static void add_row(struct tables *t, const char *name, const double *value)
{
	struct tg_stats *stats = stats_of(t, name);

	for (size_t c = 0; c < t->layout->n_columns; c++)
		if (t->layout->column[c].key)
			tg_stats_add(&stats[c], value[c]);
}

static void add_items(struct tables *t, const struct tg_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		add_row(t, w->grid->item[w->row[i].item].name, w->row[i].value);
}

static void add_sums(struct tables *t, const struct tg_walk *w)
{
	double sum[TG_READINGS_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < w->n; i++)
		for (size_t c = 0; c < t->layout->n_columns; c++)
			sum[c] += w->row[i].value[c];
	if (w->n)
		add_row(t, "", sum);
}

static void collect(const struct tg_import *im, const struct tg_log_format *f, struct tables *t,
	void (*add)(struct tables *t, const struct tg_walk *w))
{
	size_t first, n = tg_import_of_tool(im, f->tool, &first);

	for (size_t i = first; i < first + n; i++) {
		struct tg_walk w;

		t->layout = im->log[i]->part[0].layout; /* the first is the tool's own */
		tg_walk_begin(&w, &im->log[i]->part[0].grid);
		while (tg_walk_next(&w))
			add(t, &w);
		tg_walk_end(&w);
	}
}

static void write_item(struct tables *t, size_t i, struct tg_jw *w)
{
	tg_jw_begin_object(w);
	for (size_t c = 0; c < t->layout->n_columns; c++)
		if (t->layout->column[c].key)
			write_stats(w, t->layout->column[c].key, &t->table[i].of[c]);
	tg_jw_end_object(w);
}

static void tables_release(struct tables *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->table[i].name);
		free(t->table[i].of);
	}
	free(t->table);
	tg_map_release(&t->at);
}

/* The only item, which is written without its name; one without values when there is none. */
static void write_only(struct tables *t, struct tg_jw *w)
{
	if (!t->n)
		stats_of(t, "");
	write_item(t, 0, w);
	tables_release(t);
}

void tg_report_one(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w)
{
	struct tables t = { 0 };

	collect(im, f, &t, add_items);
	write_only(&t, w);
}

void tg_report_sums(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w)
{
	struct tables t = { 0 };

	collect(im, f, &t, add_sums);
	write_only(&t, w);
}

void tg_report_items(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w)
{
	struct tables t = { 0 };

	collect(im, f, &t, add_items);
	tg_jw_begin_object(w);
	for (size_t i = 0; i < t.n; i++) {
		tg_jw_key(w, t.table[i].name);
		write_item(&t, i, w);
	}
	tg_jw_end_object(w);
	tables_release(&t);
}
