/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/compared.h"

#include <errno.h>
#include <math.h>

#include "command/grid.h"
#include "report/format.h"

#include "base/mem.h"

#define NAME_CHARS 36
#define FILE_CHARS 200

enum { STAGE, N, COST, FIRST, OTHER, DIFFERENCE, SAID, COLUMNS };

#define LEFT (1u << STAGE | 1u << COST | 1u << SAID)

static const struct {
	const char *word, *title, *key;
	void (*format)(struct tg_buf *out, double v);
	const char *more, *less;
} costs[TG_COSTS] = {
	[TG_COST_WALL] = { "wall", "wall", "wall_s", tg_fmt_seconds, "slower", "faster" },
	[TG_COST_CPU] = { "cpu", "CPU time", "cpu_s", tg_fmt_seconds, "more", "less" },
	[TG_COST_MEMORY] = { "memory", "peak", "mem_peak_bytes", tg_fmt_bytes, "more", "less" },
	[TG_COST_READ] = { "read", "read", "read_bytes", tg_fmt_bytes, "more", "less" },
	[TG_COST_WRITTEN] = { "written", "written", "write_bytes", tg_fmt_bytes, "more", "less" },
	[TG_COST_GPU] = { "gpu", "GPU use", "gpu_util_mean_pct", NULL, "more", "less" },
};

const char *tg_cost_word(enum tg_cost cost)
{
	return costs[cost].word;
}

static char letter(size_t side)
{
	return (char)('A' + side);
}

static void add_percent(struct tg_buf *b, double v)
{
	tg_fmt_number(b, v);
	tg_buf_adds(b, isnan(v) ? "" : " %");
}

static void add_value(struct tg_buf *b, enum tg_cost cost, double v)
{
	if (costs[cost].format)
		costs[cost].format(b, v);
	else
		add_percent(b, v);
}

/* "+12 %", "−3 %", "0 %"; "from 0" when there is no per cent of it. */
static void add_difference(struct tg_buf *b, const struct tg_difference *d)
{
	if (!isnan(d->by) && isnan(d->pct)) {
		tg_buf_adds(b, "from 0");
		return;
	}
	tg_buf_adds(b, d->pct > 0 ? "+" : d->pct < 0 ? "−" : "");
	add_percent(b, fabs(d->pct));
}

static void add_noise(struct tg_buf *b, const struct tg_difference *d)
{
	tg_buf_adds(b, "the noise");
	if (isnan(d->noise_pct))
		return;
	tg_buf_adds(b, " of ±");
	add_percent(b, fabs(d->noise_pct));
}

static void add_said(struct tg_buf *b, enum tg_cost cost, const struct tg_difference *d)
{
	switch (d->is) {
	case TG_CHANGE_UNKNOWN:
		break;
	case TG_CHANGE_TINY:
		tg_buf_adds(b, d->by == 0 ? "the same" : "too little to tell");
		break;
	case TG_CHANGE_UNSURE:
		tg_buf_addf(b, "%s; one run each: noise unknown",
			d->by > 0 ? costs[cost].more : costs[cost].less);
		break;
	case TG_CHANGE_WITHIN:
		tg_buf_adds(b, "within ");
		add_noise(b, d);
		break;
	case TG_CHANGE_BEYOND:
		tg_buf_addf(b, "%s, more than ", d->by > 0 ? costs[cost].more : costs[cost].less);
		add_noise(b, d);
		break;
	}
}

static void add_stage(struct tg_buf *b, const struct tg_compare_row *row)
{
	if (row->whole) {
		tg_buf_adds(b, "whole run");
		return;
	}
	if (!*row->name)
		tg_plain(b, row->kind, NAME_CHARS);
	if (row->index >= 0 && (!*row->name || !strcmp(row->kind, "cell")))
		tg_buf_addf(b, "%s#%lld%s", *row->name ? "" : " ", (long long)row->index,
			*row->name ? " " : "");
	if (*row->name)
		tg_plain(b, row->name, NAME_CHARS);
	if (row->several)
		tg_buf_addf(b, " (%zu)", row->nth + 1);
}

/* Whether a cost has a line: it is wanted and, unless it was named, known of something. */
static bool has_line(const struct tg_comparison *k, enum tg_cost cost)
{
	if (!k->chosen[cost] || k->asked)
		return k->chosen[cost];
	for (size_t i = 0; i < k->spans.n; i++)
		if (!isnan(k->spans.span[i].cost[cost]))
			return true;
	return false;
}

static void add_side(struct tg_buf *b, const struct tg_comparison *k,
	const struct tg_compare_row *row, size_t side, enum tg_cost cost, double v)
{
	bool from_rows = cost == TG_COST_CPU || cost == TG_COST_READ || cost == TG_COST_WRITTEN;

	if (from_rows && !isnan(v) && !tg_compare_exact(&k->spans, row, side))
		tg_buf_addc(b, '~');
	add_value(b, cost, v);
}

/* What one row costs on `side` and on the first. */
static void add_row(struct tg_grid *g, const struct tg_comparison *k,
	const struct tg_compare_row *row, size_t side)
{
	size_t n = tg_compare_count(&k->spans, row, 0), m = tg_compare_count(&k->spans, row, side);
	struct tg_buf b = TG_BUF_INIT;
	bool first = true;

	for (enum tg_cost cost = 0; cost < TG_COSTS && (n || m); cost++) {
		struct tg_difference d;

		if (!has_line(k, cost))
			continue;
		tg_compare_cost(&k->spans, row, side, cost, &d);
		if (first)
			add_stage(&b, row);
		tg_grid_add(g, &b);
		if (first && n != m)
			tg_buf_addf(&b, "%zu, %zu", n, m);
		else if (first)
			tg_buf_addf(&b, "%zu", n);
		tg_grid_add(g, &b);
		tg_buf_adds(&b, costs[cost].title);
		if (cost == TG_COST_MEMORY && row->memory_is)
			tg_buf_addf(&b, " %s", row->memory_is);
		tg_grid_add(g, &b);
		add_side(&b, k, row, 0, cost, d.a.median);
		tg_grid_add(g, &b);
		add_side(&b, k, row, side, cost, d.b.median);
		tg_grid_add(g, &b);
		add_difference(&b, &d);
		tg_grid_add(g, &b);
		if (first && (!n || !m))
			tg_buf_addf(&b, "only in %c", n ? 'A' : letter(side));
		else
			add_said(&b, cost, &d);
		tg_grid_add(g, &b);
		first = false;
	}
}

static void print_sides(struct tg_command *c, const struct tg_comparison *k)
{
	struct tg_buf b = TG_BUF_INIT;

	for (size_t i = 0; i < k->spans.n_sides; i++) {
		tg_buf_addf(&b, "%c: ", letter(i));
		tg_plain(&b, k->side[i].name, FILE_CHARS);
		if (k->side[i].n > 1) {
			tg_buf_adds(&b, ", ");
			tg_fmt_count(&b, k->side[i].n, "recording");
		}
		tg_buf_addc(&b, '\n');
	}
	c->out.text(c->out.ctx, b.data, b.len);
	tg_buf_release(&b);
}

void tg_compared_print(struct tg_command *c, const struct tg_comparison *k)
{
	print_sides(c, k);
	for (size_t side = 1; side < k->spans.n_sides; side++) {
		const char name[] = { letter(side), '\0' };
		const char *const head[COLUMNS] = { "stage", "n", "", "A", name, "difference", "" };
		struct tg_grid g = { .head = head, .columns = COLUMNS, .left = LEFT };

		for (size_t i = 0; i < k->spans.n_rows; i++)
			add_row(&g, k, &k->spans.row[i], side);
		c->out.text(c->out.ctx, "\n", 1);
		tg_grid_print(c, &g);
		tg_grid_release(&g);
	}
}

/* ---- JSON ---- */

static const char *const change_word[] = {
	[TG_CHANGE_UNKNOWN] = "unknown",
	[TG_CHANGE_TINY] = "tiny",
	[TG_CHANGE_UNSURE] = "noise unknown",
	[TG_CHANGE_WITHIN] = "within noise",
	[TG_CHANGE_BEYOND] = "beyond noise",
};

static void json_values(struct tg_jw *w, const struct tg_comparison *k,
	const struct tg_compare_row *row, size_t side, enum tg_cost cost)
{
	double *v;
	size_t n = tg_compare_values(&k->spans, row, side, cost, &v);

	tg_jw_key(w, "values");
	tg_jw_begin_array(w);
	for (size_t i = 0; i < n; i++)
		tg_jw_num(w, v[i]);
	tg_jw_end_array(w);
	free(v);
}

static void json_side(struct tg_jw *w, const struct tg_comparison *k,
	const struct tg_compare_row *row, size_t side, enum tg_cost cost)
{
	struct tg_difference d;

	tg_compare_cost(&k->spans, row, side, cost, &d);
	tg_jw_begin_object(w);
	tg_jw_knum(w, "median", d.b.median);
	tg_jw_knum(w, "spread", d.b.sd);
	json_values(w, k, row, side, cost);
	if (side) {
		tg_jw_knum(w, "difference", d.by);
		tg_jw_knum(w, "difference_pct", d.pct);
		tg_jw_knum(w, "noise", d.noise);
		tg_jw_knum(w, "noise_pct", d.noise_pct);
		tg_jw_knum(w, "p", d.p);
		tg_jw_kstr(w, "verdict", change_word[d.is]);
		if (!isnan(k->limit_pct))
			tg_jw_kbool(w, "above", tg_compare_exceeds(&d, cost, k->limit_pct));
	}
	tg_jw_end_object(w);
}

static void json_row(
	struct tg_jw *w, const struct tg_comparison *k, const struct tg_compare_row *row)
{
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "kind", row->kind);
	tg_jw_key(w, "name");
	if (*row->name)
		tg_jw_str(w, row->name);
	else
		tg_jw_null(w);
	tg_jw_key(w, "index");
	if (row->index >= 0)
		tg_jw_int(w, row->index);
	else
		tg_jw_null(w);
	tg_jw_kint(w, "nth", (int64_t)row->nth);
	tg_jw_key(w, "mem_peak_is");
	if (row->memory_is)
		tg_jw_str(w, row->memory_is);
	else
		tg_jw_null(w);
	tg_jw_key(w, "costs");
	tg_jw_begin_object(w);
	for (enum tg_cost cost = 0; cost < TG_COSTS; cost++) {
		if (!k->chosen[cost])
			continue;
		tg_jw_key(w, costs[cost].key);
		tg_jw_begin_array(w);
		for (size_t side = 0; side < k->spans.n_sides; side++)
			json_side(w, k, row, side, cost);
		tg_jw_end_array(w);
	}
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

void tg_compared_json(struct tg_command *c, const struct tg_comparison *k)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	tg_jw_key(&w, "sides");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < k->spans.n_sides; i++) {
		tg_jw_begin_object(&w);
		tg_jw_kstr(&w, "name", (const char[]){ letter(i), '\0' });
		tg_jw_key(&w, "files");
		tg_jw_begin_array(&w);
		for (size_t f = 0; f < k->side[i].n; f++)
			tg_jw_str(&w, k->side[i].file[f]);
		tg_jw_end_array(&w);
		tg_jw_end_object(&w);
	}
	tg_jw_end_array(&w);
	tg_jw_knum(&w, "fail_above_pct", k->limit_pct);
	tg_jw_kint(&w, "above", (int64_t)tg_compared_above(k, NULL));
	tg_jw_key(&w, "stages");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < k->spans.n_rows; i++)
		json_row(&w, k, &k->spans.row[i]);
	tg_jw_end_array(&w);
	tg_jw_end_object(&w);
	tg_buf_addc(&out, '\n');
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
}

/* ---- the limit ---- */

static void say_above(struct tg_buf *b, const struct tg_compare_row *row, size_t side,
	enum tg_cost cost, const struct tg_difference *d)
{
	tg_buf_addf(b, "%c: ", letter(side));
	add_stage(b, row);
	tg_buf_addf(b, ", %s ", costs[cost].title);
	add_difference(b, d);
}

size_t tg_compared_above(const struct tg_comparison *k, struct tg_err *err)
{
	struct tg_buf b = TG_BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < k->spans.n_rows && !isnan(k->limit_pct); i++)
		for (size_t side = 1; side < k->spans.n_sides; side++)
			for (enum tg_cost cost = 0; cost < TG_COSTS; cost++) {
				struct tg_difference d;

				if (!k->chosen[cost])
					continue;
				tg_compare_cost(&k->spans, &k->spans.row[i], side, cost, &d);
				if (!tg_compare_exceeds(&d, cost, k->limit_pct))
					continue;
				if (!n++)
					say_above(&b, &k->spans.row[i], side, cost, &d);
			}
	if (n > 1)
		tg_buf_addf(&b, ", and %zu more", n - 1);
	if (n)
		tg_err_set(err, -ERANGE, "Above the limit of %g %%: %s", k->limit_pct, b.data);
	tg_buf_release(&b);
	return n;
}
