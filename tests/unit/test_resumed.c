/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans that outlived their recorders, on lists made by hand. */
#include "tap.h"

#include "analyze/resumed.h"

#include "base/mem.h"

struct given {
	uint32_t session;
	const char *kind, *id;
	bool resumed;
	uint64_t parent, run;
};

static struct tg_span_session session[] = {
	{ .number = 1, .host = (char *)"n1", .boot = (char *)"b" },
	{ .number = 2, .host = (char *)"n1", .boot = (char *)"b" },
	{ .number = 3, .host = (char *)"n1", .boot = (char *)"b" },
	{ .number = 4, .host = (char *)"n1", .boot = (char *)"another" },
	{ .number = 5, .host = (char *)"n1", .boot = NULL },
};

/* Numbers are 1, 2, 3, … What is left is told as "number:since-session^parent@run". */
static void joined(const struct given *given, size_t n, const char *want)
{
	struct tg_recording r = {
		.session = session, .n_sessions = TG_ARRAY_SIZE(session), .n_spans = n
	};
	struct tg_buf got = TG_BUF_INIT;
	struct tg_map at = TG_MAP_INIT;

	for (size_t i = 0; i < r.n_sessions; i++)
		tg_map_put(&r.session_at, session[i].number, i);
	r.span = tg_xcalloc(n, sizeof(*r.span));
	for (size_t i = 0; i < n; i++) {
		const struct given *g = &given[i];

		r.span[i] = (struct tg_span){ .number = i + 1,
			.parent = g->parent,
			.run = g->run,
			.session = g->session,
			.since_session = g->session,
			.kind = tg_xstrdup(g->kind),
			.id = g->id ? tg_xstrdup(g->id) : NULL,
			.attrs = tg_xstrdup(g->resumed ? "{\"resumed\":true}" : "{\"a\":1}") };
		tg_map_put(&at, i + 1, i);
	}
	tg_resumed_join(&r, &at);
	for (size_t i = 0; i < r.n_spans; i++) {
		const struct tg_span *s = &r.span[i];

		tg_buf_addf(&got, "%llu:%u-%u^%llu@%llu ", (unsigned long long)s->number,
			s->since_session, s->session, (unsigned long long)s->parent,
			(unsigned long long)s->run);
		tg_span_release(&r.span[i]);
	}
	T_EQ_S(got.data, want);
	tg_buf_release(&got);
	tg_map_release(&at);
	tg_map_release(&r.session_at);
	free(r.span);
}

#define JOINED(want, ...)                                                                          \
	do {                                                                                       \
		static const struct given given[] = { __VA_ARGS__ };                               \
		joined(given, TG_ARRAY_SIZE(given), want);                                         \
	} while (0)

static void test_join(void)
{
	/* a run and a cell in it; the cell before it belongs to the run that stands for the first
	 */
	JOINED("2:1-1^4@4 4:1-2^0@4 5:1-2^4@4 6:2-2^4@4 ", { 1, "run", "r", false, 0, 1 },
		{ 1, "cell", "c1", false, 1, 1 }, { 1, "cell", "c2", false, 1, 1 },
		{ 2, "run", "r", true, 0, 4 }, { 2, "cell", "c2", true, 4, 4 },
		{ 2, "cell", "c3", false, 4, 4 });
	/* the second recorder died, too */
	JOINED("1:1-1^5@5 4:2-2^5@5 5:1-3^0@5 6:2-2^5@5 7:3-3^5@5 ",
		{ 1, "cell", "c1", false, 2, 2 }, { 1, "run", "r", false, 0, 2 },
		{ 2, "run", "r", true, 0, 3 }, { 2, "cell", "c2", false, 3, 3 },
		{ 3, "run", "r", true, 0, 5 }, { 2, "cell", "c3", false, 3, 3 },
		{ 3, "cell", "c4", false, 5, 5 });
}

/* Only what says so, of another session, and of the same kind and id. */
static void test_apart(void)
{
	JOINED("1:1-1^0@0 2:2-2^0@0 ", { 1, "cell", "c" }, { 2, "cell", "c" });
	JOINED("1:1-1^0@0 2:1-1^0@0 ", { 1, "cell", "c" }, { 1, "cell", "c", true });
	JOINED("1:1-1^0@0 2:2-2^0@0 ", { 1, "cell", "c" }, { 2, "cell", "d", true });
	JOINED("1:1-1^0@0 2:2-2^0@0 ", { 1, "cell", "c" }, { 2, "task", "c", true });
	JOINED("1:1-1^0@0 2:2-2^0@0 ", { 1, "cell", NULL }, { 2, "cell", NULL, true });
	JOINED("1:1-1^0@0 2:1-1^0@0 3:1-1^0@0 ", { 1, "cell", "c" }, { 1, "cell", "d" },
		{ 1, "cell", "e" });
}

/* It goes on, but what the old clock says of its beginning means nothing to the new one. */
static void test_other_clock(void)
{
	JOINED("2:4-4^0@0 ", { 1, "cell", "c" }, { 4, "cell", "c", true });
	JOINED("2:5-5^0@0 ", { 1, "cell", "c" }, { 5, "cell", "c", true });
	JOINED("2:1-1^0@0 ", { 5, "cell", "c" }, { 1, "cell", "c", true });
}

/* What happened in the run of the first recorder, or of none, after the spans became one. */
static void test_moments(void)
{
	struct tg_span *span = tg_xcalloc(2, sizeof(*span));
	struct tg_moment moment[] = { { .run = 1 }, { .run = 2 }, { .run = 0 } };
	struct tg_recording r = { .session = session,
		.n_sessions = TG_ARRAY_SIZE(session),
		.span = span,
		.n_spans = 2,
		.moment = moment,
		.n_moments = TG_ARRAY_SIZE(moment) };
	struct tg_map at = TG_MAP_INIT;

	for (size_t i = 0; i < 2; i++) {
		span[i] = (struct tg_span){ .number = i + 1,
			.run = i + 1,
			.session = (uint32_t)i + 1,
			.kind = tg_xstrdup("run"),
			.id = tg_xstrdup("r"),
			.attrs = tg_xstrdup(i ? "{\"resumed\":true}" : "{}") };
		tg_map_put(&at, i + 1, i);
	}
	tg_resumed_join(&r, &at);
	T_EQ_I(r.n_spans, 1);
	T_EQ_I(moment[0].run, 2);
	T_EQ_I(moment[1].run, 2);
	T_EQ_I(moment[2].run, 0);
	tg_span_release(&span[0]);
	tg_map_release(&at);
	free(span);
}

int main(void)
{
	test_join();
	test_moments();
	test_apart();
	test_other_clock();
	return t_done();
}
