/* SPDX-License-Identifier: BSD-3-Clause */
/* What several cells cost together: time that is covered twice counts once, a gap not at all. */
#include "run.h"

#include "analyze/together.h"

#include "base/mem.h"

static struct tg_recording *r;

static struct tg_together together(const struct tg_span *const *span, size_t n)
{
	struct tg_together t;

	T_EQ_I(tg_together_of(r, span, n, &t), 0);
	return t;
}

/* Cells 0 and 2 in any order, without what lies between them. */
static void test_apart(void)
{
	const struct tg_span *cells[] = { &r->span[3], &r->span[1] };
	struct tg_together t = together(cells, 2);

	T_NEAR(t.totals.wall_s, 5, 1e-9);
	T_NEAR(t.totals.cpu_s, 2 + 3.2 * 3, 0.01);
	T_NEAR(t.totals.cores_mean, 11.6 / 5, 0.01);
	T_NEAR(t.totals.cores_max, 3.2, 0.01);
	T_NEAR(t.totals.read_bytes, 20e6, 1e5);
	T_NEAR(t.totals.write_bytes, 600e6, 1e6);
	T_NEAR(t.totals.rss_peak_bytes, 7.6e9, 1e6);
	T_NEAR(t.rate_max[TG_TRAFFIC_WRITE], 200e6, 1e6);
	T_NEAR(t.rate_max[TG_TRAFFIC_READ], 10e6, 1e5);
	T_EQ_I(t.from_ns, RUN_REAL + 2 * TG_NS_PER_S);
	T_EQ_I(t.to_ns, RUN_REAL + 9 * TG_NS_PER_S);
}

/* What happened in any of them happened; how time was spent is said of all, not of the last. */
static void test_verdicts(void)
{
	const struct tg_span *busy[] = { &r->span[1], &r->span[2] };
	const struct tg_span *near[] = { &r->span[1], &r->span[3] };
	struct tg_together t = together(busy, 2);

	T_EQ_I(t.totals.n_verdicts, 1);
	T_EQ_S(t.totals.verdict[0], "one core busy");
	t = together(near, 2);
	T_EQ_I(t.totals.n_verdicts, 1);
	T_EQ_S(t.totals.verdict[0], "memory near limit");
	t = together(near, 1);
	T_EQ_I(t.totals.n_verdicts, 1);
	T_EQ_S(t.totals.verdict[0], "one core busy");
}

/* The run covers its cells, and one cell itself: they add nothing. */
static void test_within(void)
{
	const struct tg_span *all[] = { &r->span[1], &r->span[0], &r->span[1], &r->span[2] };
	struct tg_together run = together(&all[1], 1), t = together(all, 4);

	T_NEAR(t.totals.wall_s, run.totals.wall_s, 1e-9);
	T_NEAR(t.totals.cpu_s, run.totals.cpu_s, 1e-9);
	T_NEAR(t.rss_mean_bytes, run.rss_mean_bytes, 1);
	T_EQ_I(t.totals.samples, run.totals.samples);
}

/* One that is too short for a maximum has its mean only, which may be the highest of all. */
static void test_short(void)
{
	const struct tg_span *cells[] = { &r->span[2], &r->span[1] };
	struct tg_together one = together(cells, 1), t = together(cells, 2);

	T_OK(one.totals.single && !t.totals.single);
	T_OK(isnan(one.rate_max[TG_TRAFFIC_READ]));
	T_NEAR(one.totals.cores_mean, 1, 0.05);
	T_NEAR(t.totals.cpu_s, 2.003, 0.001);
	T_NEAR(t.totals.wall_s, 2.003, 1e-6);
}

int main(void)
{
	const char *path = run_path("together.tacho");

	run_write(path, 0);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	test_apart();
	test_verdicts();
	test_within();
	test_short();
	tg_recording_close(r);
	unlink(path);
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
