/* SPDX-License-Identifier: BSD-3-Clause */
/* Every series that there is, in figures: also of what no plot shows. */
#include <errno.h>

#include "analyze/describe.h"
#include "base/hash.h"
#include "base/map.h"
#include "report/format.h"
#include "report/report.h"

#include "base/mem.h"

#define INSTANCES_MAX 16 /* of one metric */
#define ROWS_MAX      1000

/* "bytes" of a gauge, "bytes/s" of a counter, whose rates are what is described. */
static void put_unit(const struct tg_metric *m, struct tg_buf *b)
{
	tg_plain(b, m->unit, 20);
	if (m->kind == TG_COUNTER)
		tg_buf_adds(b, "/s");
}

static void put_figures(struct tg_sheet *s, const struct tg_description *d, struct tg_buf *b)
{
	const double value[] = { d->mean, d->std, d->min, d->q25, d->q50, d->q75, d->max };

	tg_buf_addf(b, "%zu", d->count);
	tg_sheet_value(s, (double)d->count, b);
	for (size_t i = 0; i < TG_ARRAY_SIZE(value); i++) {
		tg_fmt_number(b, value[i]);
		tg_sheet_value(s, value[i], b);
	}
}

/* A row of one metric of one instance. Returns 0 or -errno. */
static int put_series(struct tg_told *t, struct tg_sheet *s, const struct tg_column *c)
{
	struct tg_points p = { 0 };
	struct tg_description d;
	struct tg_buf b = TG_BUF_INIT;
	int rc = tg_series_load(
		t->r, c->metric->name, c->instance, t->sums.from_ns, t->sums.to_ns, 0, &p);

	if (rc == 0) {
		tg_describe_points(&p, t->sums.from_ns, t->sums.to_ns, &d);
		if (d.count) {
			tg_plain(&b, c->metric->name, 80);
			tg_sheet_text(s, b.data);
			tg_buf_clear(&b);
			tg_plain(&b, c->instance, TG_INSTANCE_MAX);
			tg_sheet_text(s, b.data);
			tg_buf_clear(&b);
			put_unit(c->metric, &b);
			tg_sheet_text(s, b.data);
			tg_buf_clear(&b);
			put_figures(s, &d, &b);
		}
	}
	tg_points_release(&p);
	tg_buf_release(&b);
	return rc == -ENOENT ? 0 : rc;
}

static void put_head(struct tg_sheet *s)
{
	static const char *const head[] = { "count", "mean", "std", "min", "25 %", "50 %", "75 %",
		"max" };

	tg_sheet_column(s, "metric", false, NULL);
	tg_sheet_column(s, "of", false, "device, mount, GPU, core");
	tg_sheet_column(s, "unit", false, "of a counter its rate");
	for (size_t i = 0; i < TG_ARRAY_SIZE(head); i++)
		tg_sheet_column(s, head[i], true, NULL);
}

/* Whether the column is of a series that is there already: tables follow each other. */
static bool is_known(struct tg_map *known, const struct tg_column *c)
{
	uint64_t key = tg_hash(TG_HASH_INIT, c->metric->name, strlen(c->metric->name) + 1);

	key = tg_hash(key, c->instance, strlen(c->instance));
	if (tg_map_get(known, key) >= 0)
		return true;
	tg_map_put(known, key, 0);
	return false;
}

int tg_report_series(struct tg_told *t)
{
	size_t n, same = 0;
	const struct tg_table *table = tg_reader_tables(t->r->reader, &n);
	const char *last = "";
	struct tg_sheet sheet = { .keys = false };
	struct tg_map known = TG_MAP_INIT;
	int rc = 0;

	put_head(&sheet);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < table[i].n_columns && rc == 0; k++) {
			const struct tg_column *c = &table[i].column[k];

			same = strcmp(last, c->metric->name) ? 0 : same + 1;
			last = c->metric->name;
			if (same < INSTANCES_MAX && tg_sheet_rows(&sheet) < ROWS_MAX &&
				!is_known(&known, c))
				rc = put_series(t, &sheet, c);
		}
	tg_map_release(&known);
	if (rc == 0 && tg_sheet_rows(&sheet)) {
		struct tg_report_part *p = tg_report_add(t->report, 2, "series", "All series",
			"Each metric that was sampled, also those that no plot shows.");

		p->sheet = sheet;
		p->folded = true;
		p->code = tg_xstrdup("run.metrics");
	} else {
		tg_sheet_release(&sheet);
	}
	return rc;
}
