/* SPDX-License-Identifier: BSD-3-Clause */
/* JUmPER's lists and report of a machine with two GPUs. */
#include "run.h"

#include "command/jumper.h"

#include "base/mem.h"

enum { CORE0, CORE1, UTIL_A, UTIL_B, BUSY_A, BUSY_B, COLUMNS };

static const struct tg_metric metric[] = {
	{ "core.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "gpu.util_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, 0, NULL },
	{ "gpu.memory_busy_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, 0, NULL },
};

static const struct tg_column column[COLUMNS] = {
	[CORE0] = { &metric[0], "cpu0" },
	[CORE1] = { &metric[0], "cpu1" },
	[UTIL_A] = { &metric[1], "0:GPU-a" },
	[UTIL_B] = { &metric[1], "1:GPU-b" },
	[BUSY_A] = { &metric[2], "0:GPU-a" },
	[BUSY_B] = { &metric[2], "1:GPU-b" },
};

/* A cell of 2 s in which one core is busy and GPUs are at 20 and 60 %, then at 30 and 70 %. */
static struct tg_recording *load(void)
{
	const char *path = run_path("run.tacho");
	struct tg_block *b = tg_block_new(1, COLUMNS, 64);
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_writer *w;

	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	tg_writer_table(w, 1, "main", column, COLUMNS);
	for (int64_t ms = 0; ms <= 4000; ms += 100) {
		const int64_t more = ms > 2000 ? 10 : 0;
		const int64_t row[COLUMNS] = { ms * 1000000, 0, 20 + more, 60 + more, 1, 3 + more };

		tg_block_add(b, RUN_T0 + ms * 1000000, row);
	}
	tg_writer_block(w, b);
	run_begin(w, 1, 1, "\"count\":1");
	run_end(w, 1, 3, "ok");
	tg_writer_finish(w);
	tg_block_free(b);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	return r;
}

/* As with cores: a list for each, then mean, most and least of them; means over nodes at the end.
 */
static void test_lists(struct tg_recording *r)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &out);
	T_EQ_I(tg_jumper_cell(r, &r->span[0], 1, &w), 0);
	T_EQ_S(out.data, "[[[[100,100],[0,0],[50,50],[100,100],[0,0]],"
			 "[null,null],[null,null],[null,null],[null,null],[null,null],"
			 "[[20,30],[60,70],[40,50],[60,70],[20,30]],"
			 "[[1,1],[3,13],[2,7],[3,13],[1,1]]],"
			 "[50,50],[null,null],[null,null],[null,null],[null,null],[null,null],"
			 "[40,50],[2,7]]");
	tg_buf_release(&out);
}

static void test_report(struct tg_recording *r)
{
	struct tg_buf out = TG_BUF_INIT;

	T_EQ_I(tg_jumper_report(r, &r->span[0], 1, 1, &out), 0);
	T_EQ_S(out.data, "\n----Performance Data----\nDuration: 2.00\n"
			 "\nCPU Util (Across CPUs)       \tAVG: 50.00\t MIN: 0.00\t MAX: 100.00\n"
			 "--GPU Util and Mem per GPU--\n"
			 "GPU Util \tAVG: 45.00\t MIN: 20.00\t MAX: 70.00\n"
			 "\t    \tMem AVG: 4.50\t MIN: 1.00\t MAX: 13.00\n");
	tg_buf_release(&out);
}

int main(void)
{
	struct tg_recording *r = load();

	test_lists(r);
	test_report(r);
	tg_recording_close(r);
	return t_done();
}
