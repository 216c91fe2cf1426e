/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what is read more seldom than the tree, and of what has a unit of its own. */
#include "run.h"

#include "analyze/totals.h"

#include "base/mem.h"

enum { CPU, HOME, SCRATCH, SENT, ENERGY, COLUMNS };

static const struct tg_metric metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "nfs.wire_read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "nfs.wire_write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "energy.cpu_j", "J", TG_COUNTER, TG_SCOPE_NODE, -6, NULL },
};

static const struct tg_column column[COLUMNS] = {
	[CPU] = { &metric[0], "" },
	[HOME] = { &metric[1], "/home" },
	[SCRATCH] = { &metric[1], "/scratch" },
	[SENT] = { &metric[2], "/home" },
	[ENERGY] = { &metric[3], "" },
};

/* Ten rows a second, of which one has what NFS says. */
static struct tg_recording *load(bool with_nfs)
{
	const char *path = run_path("run.tacho");
	struct tg_block *b = tg_block_new(1, COLUMNS, 128);
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	tg_writer_table(w, 1, "main", column, COLUMNS);
	for (int tick = 0; tick <= 100; tick++) {
		const int64_t ms = tick * 100;
		int64_t row[COLUMNS] = { ms * 1000000, ms, ms / 2, ms * 7, ms * 2000 };

		for (int i = HOME; i <= SENT && (tick % 10 || !with_nfs); i++)
			row[i] = TG_MISSING;
		tg_block_add(b, RUN_T0 + ms * 1000000, row);
	}
	tg_writer_block(w, b);
	run_begin(w, 1, 2.5, "\"count\":1");
	run_end(w, 1, 6.5, "ok");
	tg_writer_finish(w);
	tg_block_free(b);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	return r;
}

/* Whose a device is, how busy it was, what the job and all have of its memory; each in its half. */
struct device {
	const char *name;
	int64_t in_job, util[2], own[2], used[2];
};

/* When a driver did not answer, how late is no gap, and the cell. */
struct rounds {
	int from, to; /* ticks; 0: it always did */
	int64_t late_ns;
	double begin_s, end_s;
};

/* Ten seconds of these. */
static void gpus_of(const struct rounds *rounds, const struct device *device, size_t n, double util,
	double memory)
{
	static const struct tg_metric of[] = {
		{ "gpu.in_job", "count", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
		{ "gpu.util_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, 0, NULL },
		{ "gpu.job_memory_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
		{ "gpu.memory_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, NULL },
	};
	enum { OF = TG_ARRAY_SIZE(of), MOST = 3 };
	struct tg_column columns[MOST * OF] = { 0 };
	const char *path = run_path("run.tacho");
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_totals t;
	struct tg_writer *w;
	struct tg_block *b;

	unlink(path);
	if (n > MOST || tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	for (size_t i = 0; i < n * OF; i++) {
		columns[i].metric = &of[i % OF];
		columns[i].period_ns = rounds->late_ns;
		snprintf(columns[i].instance, sizeof(columns[i].instance), "%s",
			device[i / OF].name);
	}
	tg_writer_table(w, 1, "main", columns, n * OF);
	b = tg_block_new(1, (uint32_t)(n * OF), 128);
	for (int tick = 0; tick <= 100; tick++) {
		int64_t row[MOST * OF];

		for (size_t i = 0; i < n; i++) {
			const struct device *d = &device[i];
			int half = tick > 50;

			row[i * OF] = d->in_job;
			row[i * OF + 1] = d->util[half];
			row[i * OF + 2] = d->own[half];
			row[i * OF + 3] = d->used[half];
		}
		for (size_t i = 0; i < n * OF && tick > rounds->from && tick < rounds->to; i++)
			row[i] = TG_MISSING;
		tg_block_add(b, RUN_T0 + tick * 100 * TG_NS_PER_MS, row);
	}
	tg_writer_block(w, b);
	tg_block_free(b);
	run_begin(w, 1, rounds->begin_s, "\"count\":1");
	run_end(w, 1, rounds->end_s, "ok");
	tg_writer_finish(w);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	if (isnan(util))
		T_OK(isnan(t.gpu_util_mean_pct));
	else
		T_NEAR(t.gpu_util_mean_pct, util, 1);
	if (isnan(memory))
		T_OK(isnan(t.gpu_mem_peak_bytes));
	else
		T_NEAR(t.gpu_mem_peak_bytes, memory, 1e-6);
	tg_recording_close(r);
}

/* With a cell in the middle: 2.5 s of either half. */
static void gpus(const struct device *device, size_t n, double util, double memory)
{
	gpus_of(&(struct rounds){ 0, 0, 0, 2.5, 7.5 }, device, n, util, memory);
}

#define M TG_MISSING

/* pitfalls 32 and 33, reports 26, 27 and 28: the job's devices, of which some do not say how busy
 * they are */
static void test_gpus(void)
{
	static const struct device mine = { "GPU1", 1, { 20, 80 }, { 100, 300 }, { 500, 700 } };
	static const struct device too = { "GPU2", 1, { 40, 0 }, { 250, 10 }, { 300, 60 } };
	static const struct device others = { "GPU0", 0, { 99, 99 }, { 0, 0 }, { 9000, 9000 } };
	static const struct device whose = { "GPU0", M, { 99, 99 }, { M, M }, { 9000, 9000 } };
	static const struct device inside = { "GPU1", 1, { 20, 80 }, { M, M }, { 500, 700 } };
	static const struct device whole = { "GPU0", 1, { M, M }, { M, M }, { 8000, 8000 } };
	static const struct device part = { "GPU0-MIG0", 1, { M, M }, { 70, 60 }, { 90, 80 } };
	static const struct device not = { "GPU0-MIG1", 0, { M, M }, { 0, 0 }, { 5000, 5000 } };

	gpus(&mine, 1, 50, 300);
	gpus((struct device[]){ others, mine }, 2, 50, 300);
	/* the peak of one moment, not the sum of peaks */
	gpus((struct device[]){ others, mine, too }, 3, 35, 350);
	gpus(&others, 1, NAN, NAN);
	gpus(&whose, 1, NAN, NAN);
	/* where processes are not told apart, what is used of the job's devices */
	gpus((struct device[]){ others, inside }, 2, 50, 700);
	gpus((struct device[]){ whole, part, not }, 3, NAN, 70);
}

/* A driver that takes its time: what is between is the line, also in a cell that is shorter. */
static void test_rounds(void)
{
	static const struct device d[] = { { "GPU0", 1, { 20, 80 }, { 100, 300 }, { 500, 700 } },
		{ "GPU1", 1, { 40, 0 }, { 250, 10 }, { 300, 60 } } };

	const int64_t late_ns = TG_NS_PER_S * 5 / 3;

	gpus_of(&(struct rounds){ 30, 70, late_ns, 2.5, 9 }, d, 1, 370 / 6.5, 300);
	gpus_of(&(struct rounds){ 30, 70, 0, 2.5, 9 }, d, 1, 68, 300); /* a gap */
	gpus_of(&(struct rounds){ 30, 70, late_ns, 3.2, 3.3 }, d, 2, 30.6, 348);
}

int main(void)
{
	struct tg_recording *r = load(true);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.cpu_s, 4, 1e-9);
	T_NEAR(t.nfs_read_bytes, 4000 + 2000, 1e-6); /* of all mounts */
	T_NEAR(t.nfs_write_bytes, 28000, 1e-6);
	T_NEAR(t.energy_j, 8, 1e-9);
	T_OK(t.exact); /* the job's own figures are */
	tg_recording_close(r);
	r = load(false);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_OK(isnan(t.nfs_read_bytes) && isnan(t.nfs_write_bytes));
	tg_recording_close(r);
	test_gpus();
	test_rounds();
	unlink(run_path("run.tacho"));
	rmdir(run_dir());
	return t_done();
}
