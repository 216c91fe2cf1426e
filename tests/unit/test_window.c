/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said of a span agrees, whatever its neighbours did: no maximum below its mean, nor one
 * that is theirs; and a span with fewer than two samples between its edges has its mean only.
 */
#include "run.h"

#include "analyze/totals.h"
#include "analyze/window.h"
#include "base/json.h"
#include "command/worker.h"

#include "base/mem.h"

#define MS TG_NS_PER_MS

/* Points of a counter in tenths of a millisecond; a negative time: nothing is known before it. */
static struct tg_points points(const int64_t (*at)[2], size_t n)
{
	struct tg_points p = { .kind = TG_COUNTER };

	for (size_t i = 0; i < n; i++)
		tg_points_add(&p, (at[i][0] < 0 ? -at[i][0] : at[i][0]) * MS / 10, at[i][1] * MS,
			at[i][0] < 0);
	return p;
}

/* Rates over [from, to] (ms): how many, the least and the greatest, and what they add up to. */
static void rates_are(const int64_t (*at)[2], size_t n_points, int64_t from, int64_t to,
	bool single, size_t n, double least, double most, double sum)
{
	struct tg_points p = points(at, n_points);
	struct tg_rates rates = { 0 };
	double min = INFINITY, max = -INFINITY, total = 0;

	T_EQ_I(tg_points_window(&p, from * MS, to * MS), single);
	tg_rates_from(&p, &rates);
	T_EQ_I(rates.n, n);
	for (size_t i = 0; i < rates.n; i++) {
		const struct tg_rate *r = &rates.rate[i];

		T_OK(r->t0_ns >= from * MS && r->t1_ns <= to * MS);
		min = fmin(min, r->per_s);
		max = fmax(max, r->per_s);
		total += r->per_s * (double)(r->t1_ns - r->t0_ns) / 1e9;
	}
	if (n) {
		T_NEAR(min / 1e9, least, 1e-6);
		T_NEAR(max / 1e9, most, 1e-6);
		T_NEAR(total / 1e6, sum, 1e-6);
	}
	tg_rates_release(&rates);
	tg_points_release(&p);
}

static void test_points(void)
{
	/* 4 cores before, a cell of 150 ms that used 180 ms, 4 cores behind it */
	static const int64_t shortly[][2] = { { 9500, 0 }, { 10001, 200 }, { 10600, 280 },
		{ 11501, 380 }, { 12000, 580 } };
	/* the same with three samples: 1, 2, 1 cores, then the rest of 0.5 */
	static const int64_t longer[][2] = { { 9500, 0 }, { 10001, 200 }, { 11000, 300 },
		{ 12000, 500 }, { 13000, 600 }, { 14001, 650 }, { 14500, 900 } };
	/* without rows at the edges: what lies between the neighbours is shared out */
	static const int64_t bare[][2] = { { 9000, 0 }, { 11000, 200 }, { 13000, 600 } };
	/* a row 4 ms and one 35 ms behind the edge of 40 ms: there is one rate all the same */
	static const int64_t tardy[][2] = { { 9990, 198 }, { 10040, 202 }, { 10350, 216 },
		{ 10460, 220 } };
	/* an end that is 4 ms late */
	static const int64_t late[][2] = { { 10001, 200 }, { 11040, 300 }, { 12000, 700 } };
	static const int64_t gap[][2] = { { 9000, 0 }, { -10500, 100 }, { 10800, 130 },
		{ -11200, 400 }, { 11400, 400 } };
	static const int64_t fall[][2] = { { 9999, 100 }, { 10500, 150 }, { 10600, 10 },
		{ 11001, 60 } };

	rates_are(shortly, 5, 1000, 1150, true, 1, 1.2, 1.2, 180);
	rates_are(longer, 7, 1000, 1400, false, 4, 0.5, 2, 450);
	rates_are(bare, 3, 1000, 1050, true, 1, 1, 1, 50);
	rates_are(bare, 3, 1000, 1200, true, 1, 1.5, 1.5, 300);
	rates_are(late, 3, 1000, 1100, true, 1, 1, 1, 100);
	rates_are(tardy, 4, 1000, 1040, true, 1, 0.4954545, 0.4954545, 19.818181);
	rates_are(gap, 5, 1000, 1100, false, 1, 1, 1, 30);
	rates_are(fall, 4, 1000, 1100, false, 2, 1, 50. / 40, 100);
	rates_are(gap, 1, 1000, 1100, true, 0, 0, 0, 0);
}

/* Values as far apart as they can be: the one at an edge lies between them. */
static void test_far_values(void)
{
	struct tg_points p = { .kind = TG_COUNTER };

	tg_points_add(&p, 0, INT64_MIN + 1, true);
	tg_points_add(&p, 1000 * MS, INT64_MAX, false);
	tg_points_window(&p, 900 * MS, 950 * MS);
	if (T_EQ_I(p.n, 2)) {
		T_NEAR((double)p.point[0].value / 9223372036854775807.0, 0.8, 1e-9);
		T_NEAR((double)p.point[1].value / 9223372036854775807.0, 0.9, 1e-9);
	}
	tg_points_release(&p);
}

static void test_gauge(void)
{
	static const int64_t at[][2] = { { 9500, 1 }, { 10500, 2 }, { 12000, 3 } };
	struct tg_points p = points(at, 3);

	p.kind = TG_GAUGE;
	T_OK(!tg_points_window(&p, 1000 * MS, 1100 * MS));
	T_EQ_I(p.n, 3);
	tg_points_release(&p);
}

/* The chart's table, or NULL: caller frees. */
static char *chart_of(const char *path, const char *selection)
{
	struct tg_buf request = TG_BUF_INIT, answer = TG_BUF_INIT;
	const struct tg_json *content;
	struct tg_json *v;
	char *text;

	tg_buf_addf(&request,
		"{\"n\":1,\"do\":\"magic\",\"code\":\"%%tacho chart --span %s\","
		"\"recorder\":{\"file\":\"%s\",\"socket\":null,\"run\":1}}",
		selection, path);
	tg_worker_answer(NULL, request.data, request.len, &answer);
	v = tg_json_parse(answer.data, answer.len, NULL);
	content = tg_json_get(tg_json_at(tg_json_get(v, "messages"), 0), "content");
	text = tg_xstrdup(
		tg_json_str(tg_json_get(tg_json_get(content, "data"), "text/plain"), answer.data));
	tg_json_free(v);
	tg_buf_release(&request);
	tg_buf_release(&answer);
	return text;
}

static void says(const char *text, const char *part, bool yes)
{
	if (!T_OK(!strstr(text, part) == !yes))
		fprintf(stderr, "# %s is %sin:\n%s\n", part, yes ? "not " : "", text);
}

/* A cell of 150 ms at 1.2 cores among neighbours at 3.9, and one of 2 s. */
static void test_words(void)
{
	static const double at[][2] = { { 2, 0 }, { 3, 3.9 }, { 3.1501, 3.9 + 0.18 },
		{ 3.2, 3.9 + 0.18 + 0.195 }, { 4, 7.395 } };
	const char *path = run_path("short.tacho");
	struct tg_column column = { .metric = &run_metric[0] };
	struct tg_block *b = tg_block_new(1, 1, 64);
	struct tg_recording *r;
	struct tg_writer *w;
	struct tg_totals t;
	char *text;

	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	tg_writer_table(w, tg_writer_next_table(w), "main", &column, 1);
	b->table = tg_writer_next_table(w) - 1;
	run_begin(w, 2, 3, "\"code\":\"short\"");
	run_end(w, 2, 3.15, "ok");
	run_begin(w, 3, 4, "\"code\":\"long\"");
	run_end(w, 3, 6, "ok");
	for (size_t i = 0; i < TG_ARRAY_SIZE(at); i++)
		tg_block_add(b, RUN_T0 + llround(at[i][0] * 1e9),
			(int64_t[]){ llround(at[i][1] * 1e9) });
	for (int i = 1; i <= 30; i++) /* half a core, but for a tenth of a second */
		tg_block_add(b, RUN_T0 + llround((4 + i / 10.0) * 1e9),
			(int64_t[]){ llround((7.395 + i * 0.05 + (i > 5 ? 0.2 : 0)) * 1e9) });
	tg_writer_block(w, b);
	tg_writer_finish(w);
	tg_block_free(b);

	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0);
	T_OK(t.single);
	T_NEAR(t.cores_mean, 1.2, 1e-6);
	T_NEAR(t.cores_max, 1.2, 1e-6);
	T_EQ_I(tg_totals_of(r, &r->span[2], &t), 0);
	T_OK(!t.single);
	T_NEAR(t.cores_mean, 0.6, 1e-6);
	T_NEAR(t.cores_max, 2.5, 1e-6);
	tg_recording_close(r);
	text = chart_of(path, "0");
	says(text, "mean 1.2 cores", true);
	says(text, "max 1.2", false);
	says(text, "3.9", false);
	says(text, "too short for a maximum: its rates are means", true);
	says(text, "1.2 cores       0.18 core·s", true); /* mean, nothing, total */
	free(text);
	text = chart_of(path, "1");
	says(text, "max 2.5", true);
	says(text, "too short", false);
	says(text, "0.6 cores  2.5 cores  1.2 core·s", true);
	free(text);
	unlink(path);
}

int main(void)
{
	test_points();
	test_far_values();
	test_gauge();
	test_words();
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
