/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans that tell what they cost: that counts, and nothing else does. */
#include "run.h"

#include <math.h>

#include "analyze/figures.h"
#include "analyze/together.h"
#include "record/writer.h"

#include "base/mem.h"

static const char *const events =
	"{\"ev\":\"begin\",\"t\":1001000000000,\"span\":11,\"kind\":\"task\",\"name\":\"a\"}\n"
	"{\"ev\":\"begin\",\"t\":1002000000000,\"span\":12,\"kind\":\"task\",\"name\":\"b\"}\n"
	"{\"ev\":\"begin\",\"t\":1002000000000,\"span\":13,\"kind\":\"task\",\"name\":\"c\"}\n"
	"{\"ev\":\"end\",\"t\":1005000000000,\"span\":11,\"status\":\"ok\",\"figures\":{\"cpu_s\":"
	"6,"
	"\"rss_peak_bytes\":5000,\"rchar_bytes\":7,\"read_ops\":3,\"wall_s\":99,\"odd\":1}}\n"
	"{\"ev\":\"end\",\"t\":1006000000000,\"span\":12,\"status\":\"error\",\"figures\":{"
	"\"cpu_s\":-1,\"rss_peak_bytes\":1e300,\"pss_peak_bytes\":800,\"read_bytes\":\"12\","
	"\"write_bytes\":null,\"wchar_bytes\":[1]}}\n"
	"{\"ev\":\"end\",\"t\":1006000000000,\"span\":13,\"status\":\"ok\",\"figures\":3}\n";

static void write_recording(const char *path)
{
	struct tg_writer *w;

	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	T_EQ_I(tg_writer_events(w, events, strlen(events)), 0);
	T_EQ_I(tg_writer_finish(w), 0);
}

static void test_told(void)
{
	const char *path = run_path("figures.tacho");
	const struct tg_span *span[2];
	struct tg_together sums;
	struct tg_recording *r;
	struct tg_totals t;

	write_recording(path);
	T_EQ_I(tg_recording_open(&r, path, NULL), 0);
	T_EQ_I(r->n_spans, 3);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.wall_s, 4, 1e-9); /* its own, not what it says */
	T_NEAR(t.cpu_s, 6, 0);
	T_NEAR(t.cores_mean, 1.5, 1e-9);
	T_NEAR(t.mem_peak_bytes, 5000, 0);
	T_EQ_S(t.mem_peak_is, "RSS");
	T_NEAR(t.rchar_bytes, 7, 0);
	T_NEAR(t.read_ops, 3, 0);
	T_OK(isnan(t.read_bytes) && isnan(t.pss_peak_bytes) && isnan(t.gpu_util_mean_pct));
	T_OK(t.exact && t.single && !t.cut);

	T_EQ_I(tg_totals_of(r, &r->span[1], &t), 0); /* what is no figure is unknown */
	T_OK(isnan(t.cpu_s) && isnan(t.cores_mean) && isnan(t.rss_peak_bytes));
	T_OK(isnan(t.read_bytes) && isnan(t.write_bytes) && isnan(t.wchar_bytes));
	T_NEAR(t.mem_peak_bytes, 800, 0);
	T_EQ_S(t.mem_peak_is, "PSS");

	T_OK(!r->span[2].figures);
	span[0] = &r->span[0];
	span[1] = &r->span[1];
	T_EQ_I(tg_together_of(r, span, 2, &sums), 0);
	T_OK(isnan(sums.totals.cpu_s)); /* side by side: those of one are not those of both */
	tg_recording_close(r);
}

/* Each name is there once, and each is a member of its own. */
static void test_names(void)
{
	size_t n;
	const struct tg_figure *f = tg_figures(&n);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			T_OK(strcmp(f[i].name, f[k].name) != 0 && f[i].offset != f[k].offset);
}

int main(void)
{
	test_told();
	test_names();
	unlink(run_path("figures.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
