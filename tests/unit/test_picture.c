/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chart of the known run holds before it is drawn, and what all writers make of it. */
#include "run_devices.h"

#include "analyze/moments.h"
#include "analyze/select.h"
#include "command/run.h"
#include "report/picture.h"

#include "base/mem.h"

struct shown {
	struct tg_recording *recording;
	struct tg_chart chart;
	struct tg_buf svg, vega, text;
};

/* Draw spans of the known run, or of the recording that is there already. */
static struct shown draw_with(
	const char *selection, const char *panels, bool node, const char *path)
{
	struct shown s = { .svg = TG_BUF_INIT };
	struct tg_picture picture = {
		.panels = panels, .node = node, .buckets = TG_PICTURE_BUCKETS
	};
	const struct tg_span **span = NULL;
	struct tg_select select = { 0 };
	struct tg_err err = { 0 };

	if (!path)
		run_write(path = run_path("run.tacho"), 0);
	T_EQ_I(tg_recording_open(&s.recording, path, &err), 0);
	T_EQ_I(tg_select_parse(&select, selection, &err), 0);
	picture.recording = s.recording;
	picture.n_spans = (size_t)tg_select_spans(&select, s.recording, &span, &err);
	picture.span = span;
	T_EQ_I(tg_picture_draw(&picture, &s.chart, &err), 0);
	T_EQ_S(err.text, "");
	tg_chart_svg(&s.chart, "x1", &s.svg);
	tg_chart_vega(&s.chart, &s.vega);
	tg_chart_text(&s.chart, &s.text);
	tg_select_release(&select);
	free(span);
	return s;
}

static struct shown draw(const char *selection, const char *panels)
{
	return draw_with(selection, panels, false, NULL);
}

static void release(struct shown *s)
{
	tg_buf_release(&s->svg);
	tg_buf_release(&s->vega);
	tg_buf_release(&s->text);
	tg_chart_free(&s->chart);
	tg_recording_close(s->recording);
}

static bool all_have(const struct shown *s, const char *what)
{
	return strstr(s->svg.data, what) && strstr(s->vega.data, what) &&
	       strstr(s->text.data, what);
}

static bool some_have(const struct shown *s, const char *what)
{
	return strstr(s->svg.data, what) || strstr(s->vega.data, what) ||
	       strstr(s->text.data, what);
}

/* 3 ms between two rows at edges have a mean and no maximum; memory is what was seen. */
static void test_mean_only(void)
{
	struct shown s = draw("1", "cpu");

	T_OK(s.chart.panel[0].mean_only);
	T_OK(all_have(&s, "mean 0.97") && !some_have(&s, "max 0"));
	T_OK(!strstr(s.svg.data, "tg-peak"));
	release(&s);
	s = draw("2", "cpu");
	T_OK(!s.chart.panel[0].mean_only);
	T_OK(all_have(&s, "max 3.2") && !some_have(&s, "mean 3.2"));
	T_OK(strstr(s.svg.data, "tg-peak") != NULL);
	release(&s);
	s = draw("1", "memory");
	T_OK(!s.chart.panel[0].mean_only && all_have(&s, "max 300"));
	release(&s);
}

/* A recording without cells yet, of a machine with a disk. */
static struct tg_writer *begin(const char *path)
{
	static const struct tg_metric disk[] = {
		{ "disk.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "read" },
		{ "disk.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "written" },
	};
	struct tg_column column[RUN_COLUMNS] = { 0 };
	struct tg_writer *w;

	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	run_columns(column);
	for (size_t i = 0; i < 2; i++) { /* in place of the root's own */
		column[7 + i].metric = &disk[i];
		snprintf(column[7 + i].instance, sizeof(column[0].instance), "sda");
	}
	tg_writer_table(w, tg_writer_next_table(w), "main", column, RUN_COLUMNS);
	return w;
}

/* All cells are given to who draws them. */
static void test_many_cells(void)
{
	const char *path = run_path("many.tacho");
	struct tg_writer *w = begin(path);
	struct shown s;

	for (int i = 0; i < 1000; i++) {
		run_begin(w, i + 2, 2 + i * 0.007, "\"code\":\"pass\"");
		run_end(w, i + 2, 2.006 + i * 0.007, i == 900 ? "error" : "ok");
	}
	run_rows(w, tg_writer_next_table(w) - 1, 0);
	tg_writer_finish(w);
	s = draw_with("all", NULL, false, path);
	T_EQ_I(s.chart.n_bands, 1000);
	T_EQ_I(s.chart.n_cells, 1000);
	T_OK(s.svg.len < 150000 && s.vega.len < 150000 && s.text.len < 20000);
	T_OK(strstr(s.svg.data, "999 cells are too short to be drawn alone") != NULL);
	release(&s);
	T_EQ_I(unlink(path), 0);
}

/* The mark at 8 s in the time of the chart, whatever that begins with; none beside its time. */
static void test_marks(void)
{
	struct shown s = draw("all", NULL);

	T_EQ_I(s.chart.n_flags, 1);
	T_EQ_S(s.chart.flag[0].name, "half rows=4000");
	T_NEAR(s.chart.flag[0].t, 6, 1e-9);
	T_OK(all_have(&s, "half rows=4000") && !some_have(&s, "not drawn"));
	release(&s);
	s = draw("2", NULL);
	T_EQ_I(s.chart.n_flags, 1);
	T_NEAR(s.chart.flag[0].t, 2, 1e-9);
	T_OK(strstr(s.text.data, "\nat 2.0 s: half rows=4000\n") != NULL);
	release(&s);
	s = draw("0", NULL);
	T_EQ_I(s.chart.n_flags, 0);
	T_OK(!some_have(&s, "half") && !some_have(&s, "flag"));
	release(&s);
}

/* Some are drawn, all are counted. */
static void test_many_marks(void)
{
	const char *path = run_path("marks.tacho");
	struct tg_buf e = TG_BUF_INIT;
	struct tg_writer *w;
	struct shown s;

	run_write(path, 0);
	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, NULL), 0);
	for (int i = 0; i < TG_MARKS_TOLD + 4; i++) {
		tg_buf_clear(&e);
		tg_buf_addf(&e, "{\"ev\":\"mark\",\"t\":%lld,\"name\":\"m%d\"}",
			(long long)(RUN_T0 + 2 * TG_NS_PER_S + i), i);
		run_event(w, e.data);
	}
	tg_writer_finish(w);
	s = draw_with("all", NULL, false, path);
	T_EQ_I(s.chart.n_flags, TG_MARKS_TOLD);
	T_OK(all_have(&s, "5 more marks are not drawn"));
	release(&s);
	tg_buf_release(&e);
	unlink(path);
}

/* What was asked for and has nothing to show is said; what was not is no news. */
static void test_empty_panels(void)
{
	struct shown s = draw("1", "gpu,cpu,gpu-memory");

	T_EQ_I(s.chart.n_panels, 1);
	T_OK(all_have(&s, "nothing to show for gpu, gpu-memory"));
	release(&s);
	s = draw("1", "all");
	T_OK(s.chart.n_panels > 1 && !some_have(&s, "nothing to show"));
	release(&s);
	s = draw("1", NULL);
	T_OK(!some_have(&s, "nothing to show"));
	release(&s);
}

/* A full bar is what its title says: all cores, however few were used, and the most memory. */
static void test_bars(void)
{
	static const struct tg_metric metric[] = {
		{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "CPU time" },
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "memory" },
	};
	struct tg_column column[] = { { .metric = &metric[0] }, { .metric = &metric[1] } };
	const char *path = run_path("light.tacho");
	struct tg_writer *w = begin(path);
	struct tg_block *b = tg_block_new(tg_writer_next_table(w), 2, 128);
	struct shown s;

	run_event(w, "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"cores\",\"value\":2,"
		     "\"why\":\"affinity\"}");
	run_cells(w, 0);
	tg_writer_table(w, b->table, "main", column, 2);
	for (int64_t i = 0; i <= 100; i++) /* 0.036 of a core, and 100 MB */
		tg_block_add(
			b, RUN_T0 + i * 100 * TG_NS_PER_MS, (int64_t[]){ i * 3600000, 100000000 });
	tg_writer_block(w, b);
	tg_block_free(b);
	tg_writer_finish(w);
	s = draw_with("0,2", NULL, false, path);
	T_EQ_I(s.chart.n_cells, 2);
	T_NEAR(s.chart.cell[0].cores, 0.036, 1e-6);
	T_NEAR(s.chart.cores_full, 2, 0);
	T_OK(strstr(s.svg.data, ">CPU · cores of 2<") && strstr(s.vega.data, "cores of 2\""));
	T_OK(strstr(s.svg.data, ">peak · MB RSS of 100<") &&
		strstr(s.vega.data, "MB RSS of 100\""));
	release(&s);
	T_EQ_I(unlink(path), 0);
}

/* Lines of one panel differ, also where colour is not seen. */
static void test_lines(void)
{
	const char *path = run_path("disk.tacho");
	struct shown s = draw("all", "cpu-raw");
	struct tg_writer *w;
	const struct tg_panel *p = &s.chart.panel[0];

	T_EQ_I(p->n_series, 4);
	for (size_t i = 0; i < p->n_series; i++)
		for (size_t k = 0; k < i; k++)
			T_OK(p->series[i].hue != p->series[k].hue);
	release(&s);
	w = begin(path);
	run_cells(w, 0);
	run_rows(w, tg_writer_next_table(w) - 1, 0);
	tg_writer_finish(w);
	s = draw_with("all", "io-bytes,net", true, path);
	T_EQ_I(s.chart.n_panels, 2);
	p = &s.chart.panel[1];
	T_OK(!(p->series[0].style & TG_STYLE_DASHED) && p->series[1].style & TG_STYLE_DASHED);
	p = &s.chart.panel[0];
	T_EQ_I(p->n_series, 4);
	T_EQ_S(p->series[3].name, "machine write");
	T_OK(!(p->series[2].style & TG_STYLE_DASHED) && p->series[3].style & TG_STYLE_DASHED);
	release(&s);
	T_EQ_I(unlink(path), 0);
}

/* Two GPUs, of which one is the job's, in a table of their own. */
static void gpu_rows(struct tg_writer *w)
{
	static const struct tg_metric gpu[] = {
		{ "gpu.util_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, 0, "busy" },
		{ "gpu.memory_busy_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, 0, "memory busy" },
		{ "gpu.memory_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "memory" },
		{ "gpu.job_memory_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "of the job" },
		{ "gpu.in_job", "count", TG_GAUGE, TG_SCOPE_JOB, 0, "whether it is the job's" },
	};
	enum { N = TG_ARRAY_SIZE(gpu) };
	static const int64_t row[2 * N] = { 50, 20, 3000000000, 2000000000, 1, 90, 80, 7000000000,
		0, 0 };
	struct tg_column column[2 * N] = { 0 };
	struct tg_block *b;

	for (size_t i = 0; i < 2 * N; i++) {
		column[i].metric = &gpu[i % N];
		snprintf(column[i].instance, sizeof(column[i].instance), "GPU%zu", i / N);
	}
	b = tg_block_new(tg_writer_next_table(w), 2 * N, 64);
	tg_writer_table(w, b->table, "main", column, 2 * N);
	for (int i = 0; i < 50; i++)
		tg_block_add(b, RUN_T0 + i * TG_NS_PER_S / 5, row);
	tg_writer_block(w, b);
	tg_block_free(b);
}

/* An engine of another GPU that works for the job a quarter of the time, read once a second. */
static void engine_rows(struct tg_writer *w)
{
	static const struct tg_metric drm[] = {
		{ "tree.processes", "count", TG_GAUGE, TG_SCOPE_JOB, 0, "processes" },
		{ "drm.engine_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "busy" },
	};
	struct tg_column column[] = { { .metric = &drm[0] },
		{ .metric = &drm[1], .instance = "0000:00:02.0 render" } };
	struct tg_block *b = tg_block_new(tg_writer_next_table(w), 2, 64);

	tg_writer_table(w, b->table, "main", column, 2);
	for (int64_t i = 0; i < 50; i++) {
		const int64_t row[2] = { 1, i % 5 ? TG_MISSING : i * TG_NS_PER_S / 20 };

		tg_block_add(b, RUN_T0 + i * TG_NS_PER_S / 5, row);
	}
	tg_writer_block(w, b);
	tg_block_free(b);
}

/* GPUs are drawn where there are some: those of the job, or all of the machine. */
static void test_gpus(void)
{
	const char *path = run_path("gpu.tacho");
	struct tg_writer *w = begin(path);
	struct shown s = draw("all", NULL);
	const struct tg_panel *p;

	T_OK(!some_have(&s, "GPU"));
	release(&s);
	run_cells(w, 0);
	run_rows(w, tg_writer_next_table(w) - 1, 0);
	gpu_rows(w);
	tg_writer_finish(w);
	s = draw_with("all", NULL, false, path);
	T_OK(all_have(&s, "GPU busy") && all_have(&s, "GPU memory"));
	T_OK(!some_have(&s, "GPU1"));
	release(&s);
	s = draw_with("all", "gpu,gpu-memory", false, path);
	T_EQ_I(s.chart.n_panels, 2);
	p = &s.chart.panel[0];
	T_EQ_I(p->n_series, 2);
	T_EQ_S(p->unit, "%");
	T_EQ_S(p->series[0].name, "GPU0");
	T_OK(p->series[0].bucket[1].mean == 50);
	T_EQ_S(p->series[1].name, "GPU0 memory");
	T_OK(p->series[1].bucket[1].mean == 20);
	p = &s.chart.panel[1];
	T_EQ_S(p->series[0].name, "GPU0 job");
	T_OK(fabs(p->series[0].bucket[1].mean - 2) < 1e-6);
	T_EQ_S(p->series[1].name, "GPU0 all");
	T_OK(fabs(p->series[1].bucket[1].mean - 3) < 1e-6);
	release(&s);
	s = draw_with("all", "gpu", true, path);
	T_EQ_I(s.chart.panel[0].n_series, 4);
	T_OK(all_have(&s, "GPU1"));
	release(&s);
	T_EQ_I(unlink(path), 0);
	w = begin(path);
	run_cells(w, 0);
	run_rows(w, tg_writer_next_table(w) - 1, 0);
	engine_rows(w);
	tg_writer_finish(w);
	s = draw_with("all", "gpu", false, path);
	p = &s.chart.panel[0];
	T_EQ_S(p->series[0].name, "0000:00:02.0 render job");
	for (size_t i = 0; i < p->series[0].n_buckets; i++)
		T_OK(isnan(p->series[0].bucket[i].mean) ||
			fabs(p->series[0].bucket[i].mean - 25) < 1e-6);
	T_OK(fabs(p->series[0].bucket[1].mean - 25) < 1e-6);
	release(&s);
	T_EQ_I(unlink(path), 0);
}

/* Memory of which `pct` per cent would be left if what is shared counted once; and its kinds. */
static void memory_rows(struct tg_writer *w, int64_t pct)
{
	static const struct tg_metric memory[] = {
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "resident" },
		{ "tree.pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "shared counted once" },
		{ "tree.anon_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "anonymous" },
		{ "tree.file_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "of files" },
		{ "tree.shmem_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "shared memory" },
		{ "tree.swap_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "swapped out" },
	};
	enum { N = TG_ARRAY_SIZE(memory) };
	struct tg_column column[N] = { 0 };
	struct tg_block *b;

	for (size_t i = 0; i < N; i++)
		column[i].metric = &memory[i];
	b = tg_block_new(tg_writer_next_table(w), N, 64);
	tg_writer_table(w, b->table, "main", column, N);
	for (int64_t i = 0; i < 50; i++) {
		const int64_t rss = 4000000000;
		int64_t row[N] = { rss, rss / 100 * pct, 3000000000, 600000000, 400000000, 0 };

		for (size_t k = 1; k < N && i % 5; k++)
			row[k] = TG_MISSING;
		tg_block_add(b, RUN_T0 + i * TG_NS_PER_S / 5, row);
	}
	tg_writer_block(w, b);
	tg_block_free(b);
}

/* pitfall 14: what is shared is a line of its own when it matters; 15: kinds are a panel */
static void test_memory(void)
{
	static const int64_t pct[] = { 25, 95 };
	const char *path = run_path("memory.tacho");

	for (size_t i = 0; i < TG_ARRAY_SIZE(pct); i++) {
		struct tg_writer *w = begin(path);
		const struct tg_panel *p;
		struct shown s;

		run_cells(w, 0);
		memory_rows(w, pct[i]);
		tg_writer_finish(w);
		s = draw_with("all", "memory,memory-kinds", false, path);
		T_EQ_I(s.chart.n_panels, 2);
		p = &s.chart.panel[0];
		T_EQ_I(p->n_series, i ? 1 : 2);
		T_EQ_S(p->series[p->n_series - 1].name, i ? "RSS" : "PSS");
		T_OK(i || fabs(p->series[1].bucket[0].max - 1) < 1e-6);
		p = &s.chart.panel[1];
		T_EQ_I(p->n_series, 3); /* without swap, of which there was none */
		T_EQ_S(p->series[0].name, "anonymous");
		T_EQ_S(p->series[1].name, "files");
		T_EQ_S(p->series[2].name, "shared");
		T_OK(fabs(p->series[1].bucket[0].max - 0.6) < 1e-6);
		release(&s);
		T_EQ_I(unlink(path), 0);
	}
}

static const struct tg_panel *panel_of(const struct shown *s, const char *title)
{
	for (size_t i = 0; i < s->chart.n_panels; i++)
		if (!strncmp(s->chart.panel[i].title, title, strlen(title)))
			return &s->chart.panel[i];
	return NULL;
}

/* The greatest mean of a line; NaN when there is no such line, or nothing in it. */
static double greatest(const struct tg_panel *p, const char *name)
{
	double max = NAN;

	for (size_t i = 0; p && i < p->n_series; i++)
		for (size_t j = 0; !strcmp(p->series[i].name, name) && j < p->series[i].n_buckets;
			j++)
			max = fmax(max, p->series[i].bucket[j].mean);
	return max;
}

/* Devices are drawn where the recording has them, in units that people know. */
static void test_devices(void)
{
	const char *path = run_path("devices.tacho");
	const struct tg_panel *p;
	struct shown s;

	devices_write(path);
	s = draw_with("all", NULL, false, path);
	p = panel_of(&s, "CPU");
	T_NEAR(greatest(p, "unattributed"), 0.9, 1e-6); /* whoever asks for what */
	p = panel_of(&s, "NFS of the machine, over the wire · MB/s");
	T_EQ_I(p ? p->n_series : 0, 3); /* what was idle is not there */
	T_NEAR(greatest(p, "/home read"), 80, 1e-6);
	T_NEAR(greatest(p, "/scratch read"), 20, 1e-6);
	T_NEAR(greatest(p, "/home write"), 45, 1e-6);
	p = panel_of(&s, "NFS of the machine, a reply takes · ms");
	T_EQ_I(p ? p->n_series : 0, 1);
	T_NEAR(greatest(p, "/home"), 20, 1e-6);
	T_NEAR(greatest(panel_of(&s, "Lustre of the machine · GB/s"), "work read"), 1.2, 1e-6);
	T_NEAR(greatest(panel_of(&s, "InfiniBand of the machine · GB/s"), "receive"), 1.24, 1e-6);
	p = panel_of(&s, "Power of the machine · W");
	T_NEAR(greatest(p, "processors"), 128, 1e-6);
	T_NEAR(greatest(p, "GPUs"), 290, 1e-6);
	T_OK(!panel_of(&s, "Page faults") && !panel_of(&s, "Main thread"));
	release(&s);
	s = draw_with("all", "faults,run-queue,nfs-ops", false, path);
	T_NEAR(greatest(panel_of(&s, "Page faults · faults/s"), "major"), 300, 1e-6);
	T_NEAR(greatest(panel_of(&s, "Main thread waits for a core · %"), "waiting"), 30, 1e-6);
	p = panel_of(&s, "NFS of the machine, requests to servers · requests/s");
	T_NEAR(greatest(p, "/home"), 80, 1e-6);
	release(&s);
	s = draw_with("all", "disks", false, path);
	p = panel_of(&s, "Disks of the machine · MB/s");
	T_EQ_I(p ? p->n_series : 0, 4);
	T_NEAR(greatest(p, "/scratch, /data, … (nvme0n1) read"), 500, 1e-6);
	T_NEAR(greatest(p, "/scratch, /data, … (nvme0n1) write"), 700, 1e-6);
	T_NEAR(greatest(p, "sdc read"), 50, 1e-6);
	T_NEAR(greatest(p, "/ (vda) read"), 20, 1e-6);
	release(&s);
	T_EQ_I(unlink(path), 0);
	s = draw("all", "cpu,nfs,nfs-rtt,power");
	T_EQ_I(s.chart.n_panels, 1);
	T_EQ_I(s.chart.panel[0].n_series, 1);
	T_OK(all_have(&s, "nothing to show for nfs, nfs-rtt, power"));
	release(&s);
}

/* The figures below the panels are of the panels; without a list, of all. */
static void test_rows(void)
{
	static const struct {
		const char *panels;
		const char *rows[6];
	} want[] = {
		{ "cpu", { "CPU" } },
		{ "cpu-raw,memory", { "Memory RSS" } },
		{ "memory,cpu", { "CPU", "Memory RSS" } },
		{ "node-cpu", { NULL } },
		{ "all", { "CPU", "Memory RSS", "Disk write", "Network receive", "Network send" } },
		{ NULL, { "CPU", "Memory RSS", "Disk write", "Network receive", "Network send" } },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++) {
		struct shown s = draw("2", want[i].panels);
		size_t n = 0;

		for (; want[i].rows[n] && n < s.chart.n_rows; n++)
			T_EQ_S(s.chart.row[n].cell[0], want[i].rows[n]);
		T_OK(!want[i].rows[n]);
		T_EQ_I(s.chart.n_rows, n);
		release(&s);
	}
}

int main(void)
{
	test_rows();
	test_gpus();
	test_memory();
	test_devices();
	test_marks();
	test_many_marks();
	test_empty_panels();
	test_mean_only();
	test_many_cells();
	test_bars();
	test_lines();
	unlink(run_path("run.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
