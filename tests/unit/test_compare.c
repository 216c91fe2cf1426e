/* SPDX-License-Identifier: BSD-3-Clause */
/* Which spans belong together, and what fails a limit. */
#include "tap.h"

#include "analyze/compare.h"

#include "base/mem.h"

static void add(struct tg_compare *c, const char *kind, const char *name, int64_t index,
	const char *attrs, double wall_s)
{
	const struct tg_span span = { .kind = (char *)kind,
		.name = strcmp(kind, "cell") != 0 ? (char *)name : NULL,
		.code = !strcmp(kind, "cell") ? (char *)name : NULL,
		.attrs = (char *)attrs,
		.index = index };
	const struct tg_totals t = { .wall_s = wall_s,
		.cpu_s = NAN,
		.mem_peak_bytes = 1e6 * wall_s,
		.rss_peak_bytes = 2e6 * wall_s,
		.mem_peak_is = wall_s < 10 ? "PSS" : "RSS",
		.read_bytes = NAN,
		.write_bytes = NAN,
		.gpu_util_mean_pct = NAN,
		.exact = true };

	tg_compare_add(c, &span, &t, !strcmp(kind, "run"));
}

/* "run:1/1 align:2/2 …": name, nth when there are several, how many on each side. */
static void rows(const struct tg_compare *c, const char *want)
{
	struct tg_buf got = TG_BUF_INIT;

	for (size_t i = 0; i < c->n_rows; i++) {
		const struct tg_compare_row *row = &c->row[i];

		tg_buf_addf(&got, "%s%s", i ? " " : "", row->whole ? "run" : row->name);
		if (row->several)
			tg_buf_addf(&got, "(%zu)", row->nth);
		for (size_t side = 0; side < c->n_sides; side++)
			tg_buf_addf(
				&got, "%c%zu", side ? '/' : ':', tg_compare_count(c, row, side));
	}
	T_EQ_S(got.data, want);
	tg_buf_release(&got);
}

static void test_names(void)
{
	struct tg_compare c;

	tg_compare_init(&c, 2);
	tg_compare_file(&c, 0);
	add(&c, "run", "sh", TG_NO_NUMBER, NULL, 10);
	add(&c, "stage", "sort", 0, NULL, 1);
	add(&c, "stage", "align", 1, NULL, 2);
	add(&c, "stage", "align", 2, NULL, 3);
	add(&c, "stage", "old", 3, NULL, 1);
	tg_compare_file(&c, 1);
	add(&c, "run", "make", TG_NO_NUMBER, NULL, 12);
	add(&c, "stage", "align", 0, NULL, 2);
	add(&c, "stage", "new", 1, NULL, 2);
	add(&c, "stage", "sort", 2, NULL, 1);
	add(&c, "block", "sort", 0, NULL, 1);
	tg_compare_match(&c);
	rows(&c, "run:1/1 sort:1/1 align:2/1 old:1/0 new:0/1 sort:0/1");
	T_EQ_S(c.row[1].kind, "stage");
	T_EQ_S(c.row[5].kind, "block");
	tg_compare_release(&c);
}

/* Stages of one name that differ are matched one by one; so are those of several recordings. */
static void test_order(void)
{
	struct tg_compare c;

	for (int several = 0; several < 2; several++) {
		tg_compare_init(&c, 2);
		tg_compare_file(&c, 0);
		for (int file = 0; file <= several; file++) {
			add(&c, "stage", "align", 0, several ? NULL : "{\"s\":1}", 1 + file);
			add(&c, "stage", "align", 1, several ? NULL : "{\"s\":2}", 5);
			tg_compare_file(&c, file < several ? 0 : 1);
		}
		add(&c, "stage", "align", 0, NULL, 2);
		tg_compare_match(&c);
		rows(&c, several ? "align(0):2/1 align(1):2/0" : "align(0):1/1 align(1):1/0");
		tg_compare_release(&c);
	}
}

static void test_cells(void)
{
	struct tg_compare c;

	tg_compare_init(&c, 3);
	tg_compare_file(&c, 0);
	add(&c, "cell", "import x\nx.f()", 0, NULL, 1);
	add(&c, "cell", "fit(1)", 1, NULL, 1);
	add(&c, "cell", "plot()", 2, NULL, 1);
	tg_compare_file(&c, 1);
	add(&c, "cell", "import x\nx.g()", 0, NULL, 1);
	add(&c, "cell", "fit(2)", 1, NULL, 1);
	add(&c, "cell", "more()", 2, NULL, 1);
	add(&c, "cell", "plot()", 3, NULL, 1);
	tg_compare_file(&c, 2);
	add(&c, "cell", "plot()", 0, NULL, 1);
	add(&c, "cell", "fit(3)", 1, NULL, 1);
	tg_compare_match(&c);
	rows(&c, "import x:1/1/0 fit(1):1/1/1 plot():1/1/1 more():0/1/0");
	tg_compare_release(&c);
	/* without their code it is the number */
	tg_compare_init(&c, 2);
	for (size_t side = 0; side < 2; side++) {
		tg_compare_file(&c, side);
		add(&c, "cell", NULL, 0, NULL, 1);
		add(&c, "cell", NULL, 1, NULL, 1);
	}
	tg_compare_match(&c);
	rows(&c, ":1/1 :1/1");
	tg_compare_release(&c);
}

static void test_costs(void)
{
	struct tg_difference d;
	struct tg_compare c;
	double *v;

	tg_compare_init(&c, 2);
	tg_compare_file(&c, 0);
	add(&c, "run", "sh", TG_NO_NUMBER, NULL, 4);
	tg_compare_file(&c, 1);
	add(&c, "run", "sh", TG_NO_NUMBER, NULL, 5);
	tg_compare_file(&c, 1);
	add(&c, "run", "sh", TG_NO_NUMBER, NULL, 20); /* of RSS: so all are */
	tg_compare_match(&c);
	rows(&c, "run:1/2");
	T_EQ_S(c.row[0].memory_is, "RSS");
	T_EQ_I(tg_compare_values(&c, &c.row[0], 1, TG_COST_MEMORY, &v), 2);
	T_OK(v[0] == 10e6 && v[1] == 40e6);
	free(v);
	tg_compare_cost(&c, &c.row[0], 1, TG_COST_WALL, &d);
	T_OK(d.a.median == 4 && d.b.median == 12.5 && d.is == TG_CHANGE_WITHIN);
	tg_compare_cost(&c, &c.row[0], 1, TG_COST_CPU, &d);
	T_OK(d.is == TG_CHANGE_UNKNOWN && isnan(d.a.median));
	T_OK(tg_compare_exact(&c, &c.row[0], 1));
	tg_compare_release(&c);
}

static void test_exceeds(void)
{
	struct tg_difference d = { .by = 2, .pct = 20, .is = TG_CHANGE_BEYOND };

	T_OK(tg_compare_exceeds(&d, TG_COST_WALL, 10) && !tg_compare_exceeds(&d, TG_COST_WALL, 20));
	T_OK(!tg_compare_exceeds(&d, TG_COST_GPU, 10));
	d.is = TG_CHANGE_UNSURE;
	T_OK(tg_compare_exceeds(&d, TG_COST_WALL, 10));
	for (enum tg_judgement is = TG_CHANGE_UNKNOWN; is <= TG_CHANGE_BEYOND; is++) {
		d.is = is;
		T_EQ_I(tg_compare_exceeds(&d, TG_COST_CPU, 10),
			is == TG_CHANGE_UNSURE || is == TG_CHANGE_BEYOND);
	}
	d = (struct tg_difference){ .by = -2, .pct = -20, .is = TG_CHANGE_BEYOND };
	T_OK(!tg_compare_exceeds(&d, TG_COST_WALL, 10));
	d = (struct tg_difference){ .by = 2e6, .pct = NAN, .is = TG_CHANGE_BEYOND };
	T_OK(tg_compare_exceeds(&d, TG_COST_READ, 1000)); /* from nothing */
}

int main(void)
{
	test_names();
	test_order();
	test_cells();
	test_costs();
	test_exceeds();
	return t_done();
}
