/* SPDX-License-Identifier: BSD-3-Clause */
/* Which moments belong to which run, and which of them are told; on lists made by hand. */
#include "tap.h"

#include "analyze/moments.h"

#include "base/mem.h"

static struct tg_span span_of(uint64_t number, const char *kind, uint32_t session, int64_t t)
{
	return (struct tg_span){
		.number = number, .kind = (char *)kind, .session = session, .begin_ns = t
	};
}

static struct tg_moment moment_of(const char *what, uint32_t session, int64_t t)
{
	return (struct tg_moment){
		.what = (char *)what, .session = session, .t_ns = t, .utc_ns = 1000 * session + t
	};
}

/* The numbers of the runs of the moments, in their order. */
static void runs_are(struct tg_recording *r, const char *want)
{
	struct tg_buf got = TG_BUF_INIT;

	tg_moments_find_runs(r);
	for (size_t i = 0; i < r->n_moments; i++)
		tg_buf_addf(&got, "%llu ", (unsigned long long)r->moment[i].run);
	T_EQ_S(got.data, want);
	tg_buf_release(&got);
}

static void test_runs(void)
{
	struct tg_span span[] = { span_of(3, "run", 1, 50), span_of(4, "cell", 1, 60),
		span_of(1, "run", 1, 10), span_of(9, "run", 3, 5), span_of(7, "run", 1, 50) };
	struct tg_moment moment[] = { moment_of("mark", 1, 9), moment_of("mark", 1, 10),
		moment_of("mark", 1, 49), moment_of("mark", 1, 1000), moment_of("mark", 2, 1),
		moment_of("mark", 3, 4), moment_of("mark", 3, 5) };
	struct tg_recording r = { .span = span,
		.n_spans = TG_ARRAY_SIZE(span),
		.moment = moment,
		.n_moments = TG_ARRAY_SIZE(moment) };

	/* of two that begin at once the later in the file; a session goes on with the one before */
	runs_are(&r, "0 1 1 7 7 7 9 ");
	r.n_spans = 0;
	runs_are(&r, "0 0 0 0 0 0 0 ");
}

/* Stamps of what was found, in order; frees. */
static void found(size_t n, const struct tg_moment **moment, const char *want)
{
	struct tg_buf got = TG_BUF_INIT;

	for (size_t i = 0; i < n; i++)
		tg_buf_addf(&got, "%lld ", (long long)moment[i]->utc_ns);
	T_EQ_S(got.data, want);
	tg_buf_release(&got);
	free(moment);
}

static void test_chosen(void)
{
	struct tg_span span[] = { span_of(1, "run", 1, 0), span_of(2, "cell", 1, 20),
		span_of(3, "run", 2, 0), span_of(4, "cell", 2, 20) };
	struct tg_moment moment[] = { moment_of("mark", 2, 30), moment_of("mark", 1, 90),
		moment_of("root_end", 1, 95), moment_of("mark", 1, 10), moment_of("note", 1, 20),
		moment_of("mark", 1, 40) };
	struct tg_recording r = { .span = span,
		.n_spans = TG_ARRAY_SIZE(span),
		.moment = moment,
		.n_moments = TG_ARRAY_SIZE(moment) };
	const struct tg_span *cell = &span[1], *both[] = { &span[3], &span[1] };
	const struct tg_moment **out;
	size_t n;

	for (size_t i = 0; i < r.n_spans; i++)
		span[i].run = span[i].session == 1 ? 1 : 3;
	tg_moments_find_runs(&r);
	n = tg_moments_of(&r, "mark", &cell, 1, &out);
	found(n, out, "1010 1040 1090 ");
	n = tg_moments_of(&r, "root_end", &cell, 1, &out);
	found(n, out, "1095 ");
	n = tg_moments_of(&r, "mark", both, 2, &out);
	found(n, out, "1010 1040 1090 2030 ");
	n = tg_moments_of(&r, "mark", NULL, 0, &out);
	found(n, out, "");
	n = tg_marks_of(&r, 1040, 2030, &out); /* both ends are in */
	found(n, out, "1040 1090 2030 ");
	n = tg_marks_of(&r, 1041, 1089, &out);
	found(n, out, "");
}

int main(void)
{
	test_runs();
	test_chosen();
	return t_done();
}
