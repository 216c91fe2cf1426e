/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of logs in a recording, read back as any other is read. */
#include "import_kit.h"

#include "analyze/series.h"
#include "analyze/totals.h"
#include "import/lives.h"
#include "sample/source.h"

#define MIB 1048576.0

static struct tg_span *span_of(struct tg_recording *r, const char *name)
{
	for (size_t i = 0; i < r->n_spans; i++)
		if (r->span[i].name && !strcmp(r->span[i].name, name))
			return &r->span[i];
	return NULL;
}

static void test_spans(struct tg_recording *r)
{
	static const struct {
		const char *name;
		int64_t begin_ms, end_ms;
	} stage[] = { { "setup-cluster", 1796158421628, 1796158423647 },
		{ "normalization", 1796158423657, 1796158431675 },
		{ "registration", 1796158431685, 1796158450770 },
		{ "base-calling", 1796158450778, 1796158458878 } };
	const struct tg_span *run = span_of(r, "logs");

	T_EQ_I(r->n_spans, 5);
	T_EQ_S(run->kind, "run");
	T_EQ_I(run->begin_utc_ns / TG_NS_PER_S, 1796158418);
	T_EQ_I(run->end_utc_ns / TG_NS_PER_S, 1796158467);
	for (size_t i = 0; i < TG_ARRAY_SIZE(stage); i++) {
		const struct tg_span *s = span_of(r, stage[i].name);

		T_EQ_S(s->kind, "stage");
		T_EQ_I(s->parent, run->number);
		T_EQ_I(s->begin_utc_ns / TG_NS_PER_MS, stage[i].begin_ms);
		T_EQ_I(s->end_utc_ns / TG_NS_PER_MS, stage[i].end_ms);
	}
}

/* The same quantities from the log's own statistics, and from /proc, which was read beside it. */
static void test_totals(struct tg_recording *r, const struct tg_import *im)
{
	struct tg_totals t, stage;

	T_EQ_I(tg_totals_of(r, span_of(r, "logs"), &t), 0);
	/* TIME+ as last seen: main 1.78, workers 2.59 and 2.52, and two that used nothing */
	T_NEAR(t.cpu_s, 6.89, 1e-6);
	T_NEAR(t.rss_peak_bytes, kit_number(im, "top|res_mib|max") * MIB, 1);
	T_NEAR(t.vms_peak_bytes, kit_number(im, "top|virt_mib|max") * MIB, 1);
	T_NEAR(t.disk_write_bytes, kit_number(im, "iostat|vda|wkB/s|mean") * 49 * 1024, 2000);
	T_NEAR(t.disk_read_bytes, kit_number(im, "iostat|vda|rkB/s|mean") * 49 * 1024, 2000);
	T_OK(isnan(t.nfs_write_bytes)); /* that log ends 11 s before the others */
	/* /proc/stat: 48.2 s of two cores, all of it busy */
	T_NEAR(t.node_cpu_s, 2 * 49, 0.2);
	/* most of the memory came in one stage, and little of the CPU time in the first */
	T_EQ_I(tg_totals_of(r, span_of(r, "registration"), &stage), 0);
	T_NEAR(stage.rss_peak_bytes, t.rss_peak_bytes, 1);
	T_OK(stage.cpu_s > 4.5 && stage.cpu_s < 5.5);
	T_EQ_I(tg_totals_of(r, span_of(r, "setup-cluster"), &stage), 0);
	T_OK(stage.cpu_s >= 0 && stage.cpu_s < 0.1);
}

static int64_t last_value(struct tg_recording *r, const char *metric, const char *instance)
{
	struct tg_points p = { 0 };
	int64_t v;

	T_EQ_I(tg_series_load(r, metric, instance, 0, INT64_MAX, 0, &p), 0);
	v = p.n ? p.point[p.n - 1].value : TG_MISSING;
	tg_points_release(&p);
	return v;
}

static void test_series(struct tg_recording *r, const struct tg_import *im)
{
	struct tg_points p = { 0 };

	T_EQ_I(last_value(r, "gpu.memory_total_bytes", "0"), 16160 * INT64_C(1048576));
	T_EQ_I(last_value(r, "gpu.temperature_c", "0"), 33);
	T_EQ_I(last_value(r, "nvidia.performance_state", "0"), 8);
	T_EQ_I(last_value(r, "role.cpu_ns", "main"), 1780000000);
	T_EQ_I(last_value(r, "role.cpu_ns", "worker"), 5110000000);
	T_EQ_I(last_value(r, "node.mem_total_bytes", ""), 25276029338);
	T_EQ_I(last_value(r, "nfsiostat.write_rtt_ms", "/mp/nas1"), 0);
	/* 33 reports of a second; the first of the second block stands for the two seconds that
	 * lack one, too, with 20486.836 each */
	T_NEAR((double)last_value(r, "nfs.wire_write_bytes", "/mp/nas1"),
		(kit_number(im, "nfsiostat|/mp/nas1|write_kbs|mean") * 33 + 2 * 20486.836) * 1024,
		2000);
	/* 47 samples of top, each with its own moment; those without a match are 0 and there */
	T_EQ_I(tg_series_load(r, "tree.rss_bytes", NULL, 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 47);
	T_EQ_I(p.point[0].value, 0);
	T_EQ_I(p.point[2].t_ns - p.point[1].t_ns, 2 * TG_NS_PER_S);
	tg_points_release(&p);
	T_EQ_I(tg_series_load(r, "gpu.util_pct", "0", 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 47);
	T_EQ_I(p.point[12].t_ns / TG_NS_PER_MS, 1796158431324);
	T_EQ_I(p.point[12].value, 90);
	tg_points_release(&p);
}

static void test_lives(struct tg_recording *r)
{
	size_t ours = 0, ended = 0;

	for (size_t i = 0; i < r->n_lives; i++) {
		const struct tg_life *life = &r->life[i];

		if (life->pid != 8951)
			continue;
		ours++;
		ended += life->death_ns != INT64_MAX;
		T_EQ_S(life->comm, "MATLAB");
		T_OK(strstr(life->args, "-dmlworker") != NULL);
		T_EQ_I(life->cpu_ns, 2590000000);
	}
	T_EQ_I(ours, 1);
	T_EQ_I(ended, 1);
	T_OK(r->n_lives > 182);
}

static void test_machine(struct tg_recording *r)
{
	struct tg_json *machine = tg_json_parse(r->machine, strlen(r->machine), NULL);
	const struct tg_json *logs = tg_json_get(machine, "logs");

	T_EQ_S(r->session[0].host, "host1");
	T_EQ_I(r->session[0].cpus, 2);
	T_OK(tg_json_bool(tg_json_get(machine, "imported"), false));
	T_EQ_I(tg_json_len(logs), 7);
	T_EQ_I(tg_json_int(tg_json_get(machine, "memory_bytes"), 0), 25276029337); /* 24105.1 MiB */
	T_EQ_S(tg_json_str(tg_json_get(tg_json_at(logs, 0), "version"), ""),
		"procps 3.3.17 or later");
	tg_json_free(machine);
}

static void test_recorded(void)
{
	struct tg_import *im = kit_load("recorded", &(struct tg_import_options){ .zone = "UTC" });
	struct tg_recording *r = kit_recording(im, "logs", NULL);

	test_machine(r);
	test_spans(r);
	test_totals(r, im);
	test_series(r, im);
	test_lives(r);
	tg_recording_close(r);
	tg_import_free(im);
}

/* What stands on others is not added up with them. */
static void test_whole_disks(void)
{
	struct tg_import *im = kit_load(
		"awkward/iostat-many-devices.log", &(struct tg_import_options){ .zone = "UTC" });
	struct tg_recording *r = kit_recording(im, "logs", NULL);
	char **name;
	size_t n = tg_series_instances(r, "disk.read_bytes", &name);

	T_EQ_I(n, 3);
	for (size_t i = 0; i < n; i++) {
		static const char *const want[] = { "vda", "nvme0n1", "nvme10n1" };

		T_EQ_S(name[i], want[i]);
		free(name[i]);
	}
	free(name);
	n = tg_series_instances(r, "iostat.read_bytes", &name);
	T_EQ_I(n, 7);
	for (size_t i = 0; i < n; i++)
		free(name[i]);
	free(name);
	tg_recording_close(r);
	tg_import_free(im);
}

#define TOP(time)                                                                                  \
	"top - " time " up ?,  0 users,  load average: 0.00, 0.00, 0.00\nTasks:   1 total\n"
#define HEAD                "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
#define ROW(pid, time, cmd) pid " u 20 0 100 10 0 R 50.0 0.0 " time " " cmd "\n"

/* A pid that comes again is another process; a gap is a gap; CPU time counts from the first look.
 */
static void test_made(void)
{
	static const char log[] = "datetime: 2026/12/01 10:00:00\n" TOP("10:00:00")
		HEAD ROW("7", "1:00.00", "/bin/a x") TOP("10:00:05")
			HEAD ROW("7", "1:02.50", "/bin/a x") TOP("10:00:10")
				HEAD ROW("7", "0:01.00", "/bin/a y") TOP("11:00:10")
					HEAD ROW("7", "0:02.00", "/bin/a y");
	struct tg_import_options o = { .zone = "UTC", .match = "/bin/a" };
	struct tg_import *im = kit_text(log, &o);
	struct tg_recording *r = kit_recording(im, "logs", NULL);
	struct tg_points p = { 0 };
	size_t gaps = 0;

	T_EQ_I(r->n_lives, 2);
	T_EQ_I(tg_series_load(r, "tree.cpu_ns", NULL, 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 4);
	T_EQ_I(p.point[0].value, 0); /* what it used before is not of this time */
	T_EQ_I(p.point[1].value, 2500000000);
	T_EQ_I(p.point[2].value, 3500000000); /* all of the new one's life is */
	T_EQ_I(p.point[3].value, 4500000000);
	T_OK(p.point[3].cut && !p.point[2].cut);
	tg_points_release(&p);
	for (size_t i = 0; i < r->n_moments; i++)
		gaps += !strcmp(r->moment[i].what, "gap");
	T_EQ_I(gaps, 1);
	tg_recording_close(r);
	tg_import_free(im);
}

/* Two logs of one tool: counters go on; where they overlap the first has told of that time. */
static void test_two_logs(void)
{
	static const char head[] = "Linux 6.1 (h) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n";
	static const char *const time[] = { "10:00:00", "10:00:05", "10:00:10", "10:00:10",
		"10:00:15" };
	struct tg_import *im = kit_new(&(struct tg_import_options){ .zone = "UTC" });
	struct tg_buf text = TG_BUF_INIT;
	struct tg_recording *r;
	struct tg_points p = { 0 };

	for (int log = 0; log < 2; log++) {
		tg_buf_clear(&text);
		tg_buf_adds(&text, head);
		for (int i = log * 2; i < log * 2 + 3; i++)
			tg_buf_addf(&text,
				"12/01/26 %s\nDevice tps kB_read/s kB_wrtn/s\nsda 1.00 2.00 "
				"3.00\n\n",
				time[i]);
		T_EQ_I(tg_import_add_bytes(im, log ? "a" : "b", text.data, text.len, NULL), 0);
	}
	tg_import_settle(im);
	T_EQ_S(im->log[0]->name, "b"); /* in order of time */
	r = kit_recording(im, "logs", NULL);
	T_EQ_I(tg_series_load(r, "disk.read_bytes", NULL, 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 4);
	T_EQ_I(p.point[p.n - 1].value, 3 * 5 * 2048);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&text);
}

/* A log of top from 10:00:00 on, a sample every five seconds: the command of pid 7 is cmd[i]. */
static void add_top(struct tg_import *im, const char *name, int first_s, const char *const *cmd,
	const char *const *cpu, size_t n)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_adds(&text, "datetime: 2026/12/01 10:00:00\n");
	for (size_t i = 0; i < n; i++) {
		int s = first_s + 5 * (int)i;

		tg_buf_addf(&text, TOP("10:00:%02d"), s);
		tg_buf_adds(&text, HEAD);
		if (cmd[i])
			tg_buf_addf(&text, ROW("%d", "%s", "%s"), 7 + (int)i / 2, cpu[i], cmd[i]);
		tg_buf_addf(&text, ROW("9", "%s", "/bin/a stays"), cpu[i]);
	}
	T_EQ_I(tg_import_add_bytes(im, name, text.data, text.len, NULL), 0);
	tg_buf_release(&text);
}

/*
 * The second log of top begins before the first ends: of what it says of that time nothing counts
 * twice, and a process that both saw end there is born once.
 */
static void test_overlap_of_processes(void)
{
	static const char *const cmd[] = { "/bin/a x", "/bin/a x", "/bin/a y", NULL, NULL };
	static const char *const cpu[] = { "0:01.00", "0:02.00", "0:03.00", "0:04.00", "0:05.00" };
	struct tg_import *im =
		kit_new(&(struct tg_import_options){ .zone = "UTC", .match = "/bin/a" });
	struct tg_recording *r;
	struct tg_points p = { 0 };
	size_t births = 0;

	add_top(im, "a", 0, cmd, cpu, 4);
	add_top(im, "b", 0, cmd, cpu, 5);
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	for (size_t i = 0; i < r->n_lives; i++)
		births += strcmp(r->life[i].args, "/bin/a stays") != 0;
	T_EQ_I(births, 2); /* x and y, which the first log told of */
	T_EQ_I(tg_series_load(r, "tree.cpu_ns", NULL, 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 5);
	T_EQ_I(p.point[p.n - 1].t_ns - p.point[0].t_ns, 20 * TG_NS_PER_S);
	/* pid 9 used 4 s; x 1 s, and y, which came with 3 s, what its %CPU says */
	T_EQ_I(p.point[4].value - p.point[3].value, TG_NS_PER_S);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_import_free(im);
}

/* Three logs of a tool, the first of which ends last: each moment is told once. */
static void test_three_logs(void)
{
	static const char head[] = "Linux 6.1 (h) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n";
	static const struct {
		int first, n;
	} log[] = { { 0, 10 }, { 10, 3 }, { 20, 8 } };
	struct tg_import *im = kit_new(&(struct tg_import_options){ .zone = "UTC" });
	struct tg_buf text = TG_BUF_INIT;
	struct tg_recording *r;
	struct tg_points p = { 0 };

	for (size_t k = 0; k < TG_ARRAY_SIZE(log); k++) {
		tg_buf_clear(&text);
		tg_buf_adds(&text, head);
		for (int i = 0; i < log[k].n; i++)
			tg_buf_addf(&text,
				"12/01/26 10:00:%02d\nDevice tps kB_read/s kB_wrtn/s\nsda 1.00 "
				"2.00 3.00\n\n",
				log[k].first + 5 * i);
		T_EQ_I(tg_import_add_bytes(im, "io", text.data, text.len, NULL), 0);
	}
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	T_EQ_I(tg_series_load(r, "disk.read_bytes", NULL, 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 12); /* 0 to 55 s */
	T_EQ_I(p.point[p.n - 1].value, 11 * 5 * 2048);
	for (size_t i = 1; i < p.n; i++)
		T_EQ_I(p.point[i].t_ns - p.point[i - 1].t_ns, 5 * TG_NS_PER_S);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&text);
}

/* Samples two days apart are read back as any other, though a period is a day at most. */
static void test_days_apart(void)
{
	struct tg_import *im = kit_new(&(struct tg_import_options){ .zone = "UTC" });
	struct tg_buf text = TG_BUF_INIT;
	struct tg_recording *r;
	struct tg_points p = { 0 };

	tg_buf_adds(&text, "Linux 6.1 (h) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n");
	for (int i = 0; i < 4; i++)
		tg_buf_addf(&text,
			"12/%02d/26 10:00:00\nDevice tps kB_read/s kB_wrtn/s\nsda 1.00 2.00 "
			"3.00\n\n",
			1 + 2 * i);
	T_EQ_I(tg_import_add_bytes(im, "io", text.data, text.len, NULL), 0);
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	T_EQ_I(tg_series_load(r, "disk.read_bytes", NULL, 0, INT64_MAX, 0, &p), 0);
	T_EQ_I(p.n, 4);
	tg_points_release(&p);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&text);
}

/* Of commands that none of them counts there is no tree that would say 0, and it is said. */
static void test_no_match(void)
{
	static const char log[] = "datetime: 2026/12/01 10:00:00\n" TOP("10:00:00") HEAD ROW(
		"7", "0:01.00", "/bin/a") TOP("10:00:05") HEAD ROW("7", "0:02.00", "/bin/a");
	struct tg_import *im =
		kit_text(log, &(struct tg_import_options){ .zone = "UTC", .match = "/bin/b" });
	struct tg_recording *r = kit_recording(im, "logs", NULL);
	struct tg_points p = { 0 };
	struct tg_buf line = TG_BUF_INIT;

	tg_import_line(im->log[0], &line);
	T_OK(strstr(line.data, "no command in it is one that counts") != NULL);
	tg_series_load(r, "tree.rss_bytes", NULL, 0, INT64_MAX, 0, &p);
	T_EQ_I(p.n, 0);
	T_EQ_I(r->n_lives, 1);
	tg_points_release(&p);
	tg_buf_release(&line);
	tg_recording_close(r);
	tg_import_free(im);
}

/* Two mounts with the same long end are two. */
static void test_long_names(void)
{
	struct tg_import *im = kit_new(&(struct tg_import_options){ .zone = "UTC" });
	struct tg_buf text = TG_BUF_INIT;
	struct tg_recording *r;
	char tail[TG_INSTANCE_MAX + 1], **name;
	size_t n;

	memset(tail, 'x', TG_INSTANCE_MAX);
	tail[TG_INSTANCE_MAX] = '\0';
	tg_buf_adds(&text, "Linux 6.1 (h) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n");
	for (int i = 0; i < 2; i++)
		tg_buf_addf(&text,
			"12/01/26 10:00:%02d\nDevice tps kB_read/s kB_wrtn/s\n"
			"a%s 1.00 2.00 3.00\nb%s 1.00 2.00 3.00\n\n",
			i, tail, tail);
	T_EQ_I(tg_import_add_bytes(im, "io", text.data, text.len, NULL), 0);
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	n = tg_series_instances(r, "iostat.read_bytes", &name);
	T_EQ_I(n, 2);
	for (size_t i = 0; i < n; i++) {
		T_OK(strlen(name[i]) < TG_INSTANCE_MAX);
		free(name[i]);
	}
	free(name);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&text);
}

/* An end is that of the stage of its name which began last and has none; others have none. */
static void test_stages_in_stages(void)
{
	static const char stages[] = "1796119200\tbegin\ta\n1796119210\tbegin\tb\n"
				     "1796119220\tbegin\ta\n1796119230\tend\ta\n"
				     "1796119240\tend\tb\n1796119250\tend\tc\n"
				     "1796119260\tend\ta\n1796119270\tend\ta\n";
	static const int64_t wall_s[] = { 70, 60, 30, 10 }; /* the run, a, b, a */
	struct tg_import *im = kit_text(stages, &(struct tg_import_options){ .zone = "UTC" });
	struct tg_recording *r = kit_recording(im, "logs", NULL);

	T_EQ_I(r->n_spans, 4);
	for (size_t i = 0; i < r->n_spans && i < 4; i++)
		T_EQ_I((r->span[i].end_ns - r->span[i].begin_ns) / TG_NS_PER_S, wall_s[i]);
	tg_recording_close(r);
	tg_import_free(im);
}

/* More devices than a table has columns: it is said, once, and the first are there. */
static void test_too_many_columns(void)
{
	struct tg_import *im = kit_new(&(struct tg_import_options){ .zone = "UTC" });
	struct tg_buf text = TG_BUF_INIT;
	struct tg_recording *r;
	size_t notes = 0;

	tg_buf_adds(&text, "Linux 6.1 (h) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n");
	for (int t = 0; t < 3; t++) {
		tg_buf_addf(&text, "12/01/26 10:00:%02d\nDevice tps kB_read/s kB_wrtn/s\n", t);
		for (int i = 0; i < 25000; i++)
			tg_buf_addf(&text, "sd%d 1.00 2.00 3.00\n", i);
		tg_buf_addc(&text, '\n');
	}
	T_EQ_I(tg_import_add_bytes(im, "io", text.data, text.len, NULL), 0);
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	for (size_t i = 0; i < r->n_moments; i++)
		notes += strstr(r->moment[i].json, "more than 65536 columns") != NULL;
	T_EQ_I(notes, 1);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&text);
}

/* Between samples a minute apart a stage has what the line between them says. */
static void test_slow_logs(void)
{
	static const char *const minute[] = { "00", "01", "02", "03", "04" };
	static const char stages[] =
		"1796119230\tbegin\ts\n1796119350\tend\ts\n"; /* 10:00:30 to 10:02:30 */
	struct tg_import *im = kit_new(&(struct tg_import_options){ .zone = "UTC" });
	struct tg_buf text = TG_BUF_INIT;
	struct tg_recording *r;
	struct tg_totals t;

	tg_buf_adds(&text, "Linux 6.1 (h) \t12/01/26 \t_x86_64_\t(2 CPU)\n\n");
	for (size_t i = 0; i < TG_ARRAY_SIZE(minute); i++)
		tg_buf_addf(&text,
			"12/01/26 10:%s:00\nDevice tps kB_read/s kB_wrtn/s\nsda 1.00 %zu.00 "
			"3.00\n\n",
			minute[i], i);
	T_EQ_I(tg_import_add_bytes(im, "a", text.data, text.len, NULL), 0);
	T_EQ_I(tg_import_add_bytes(im, "b", stages, strlen(stages), NULL), 0);
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	T_EQ_I(tg_totals_of(r, span_of(r, "s"), &t), 0);
	T_NEAR(t.disk_read_bytes, (30 * 1 + 60 * 2 + 30 * 3) * 1024, 1);
	T_NEAR(t.disk_write_bytes, 120 * 3 * 1024, 1);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&text);
}

/* A log without a date has no place beside others that have one. */
static void test_undated(void)
{
	struct tg_import *im =
		kit_load("awkward/top-nodatetime.log", &(struct tg_import_options){ 0 });
	struct tg_buf left_out = TG_BUF_INIT, path = TG_BUF_INIT;
	struct tg_recording *r = kit_recording(im, "logs", &left_out);

	T_EQ_S(left_out.data, "");
	T_EQ_I(r->span[0].end_ns - r->span[0].begin_ns, 4 * TG_NS_PER_S);
	tg_recording_close(r);
	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/recorded/vmstat-20261201.log", t_dir());
	T_EQ_I(tg_import_add(im, path.data, NULL), 0);
	tg_import_settle(im);
	r = kit_recording(im, "logs", &left_out);
	T_OK(strstr(left_out.data, "top-nodatetime.log is not in the recording: its date") != NULL);
	T_EQ_I(r->n_lives, 0);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&left_out);
	tg_buf_release(&path);
}

/* ---- names ---- */

static const struct tg_metric *of_source(const char *name)
{
	for (size_t i = 0; i < tg_source_count; i++)
		for (size_t m = 0; m < tg_source_list[i]->n_metrics; m++)
			if (!strcmp(tg_source_list[i]->metric[m].name, name))
				return &tg_source_list[i]->metric[m];
	return NULL;
}

/* A metric that has no help is one of our own sources, and is what it is there. */
static void check_metric(const struct tg_metric *m, const char *docs)
{
	const struct tg_metric *own = of_source(m->name);
	char row[120];

	t_check((own != NULL) == (m->help == NULL), __FILE__, __LINE__, m->name);
	if (own) {
		t_eq_s(m->unit, own->unit, m->name, 0, "unit");
		t_eq_i(m->kind, own->kind, m->name, 0, "kind");
		t_eq_i(m->scope, own->scope, m->name, 0, "scope");
	} else {
		snprintf(row, sizeof(row), "\n| `%s` | %s | %s |", m->name, m->unit,
			m->kind == TG_GAUGE ? "gauge" : "counter");
		t_check(strstr(docs, row) != NULL, "docs/import.md", 0, row + 1);
	}
}

static void test_names(void)
{
	struct tg_buf path = TG_BUF_INIT, docs;
	const struct tg_metric *metric;
	const struct tg_log_format *const *format;
	size_t n, n_metrics;

	tg_buf_addf(&path, "%s/../docs/import.md", t_dir());
	docs = kit_slurp(path.data);
	format = tg_formats(&n);
	T_EQ_I(n >= 8, true);
	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < TG_LOG_PARTS_MAX && format[i]->layout[p]; p++)
			for (size_t k = 0; k < format[i]->layout[p]->n_outputs; k++)
				check_metric(&format[i]->layout[p]->output[k].metric, docs.data);
	metric = tg_lives_metrics(&n_metrics);
	for (size_t i = 0; i < n_metrics; i++)
		check_metric(&metric[i], docs.data);
	tg_buf_release(&path);
	tg_buf_release(&docs);
}

/* Two tools tell of the tree: the first counts, and nothing is there twice. */
static void test_one_tree(void)
{
	static const char psrecord[] = "# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)\n"
				       "       0.000        0.000      900.000      950.000\n"
				       "       1.000      400.000      900.000      950.000\n";
	struct tg_import *im = kit_new(&(struct tg_import_options){ .match = "other" });
	struct tg_buf path = TG_BUF_INIT;
	struct tg_recording *r;
	struct tg_totals t;
	size_t n_tables, trees = 0;
	const struct tg_table *table;

	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/awkward/top-nodatetime.log", t_dir());
	T_EQ_I(tg_import_add(im, path.data, NULL), 0);
	T_EQ_I(tg_import_add_bytes(im, "psrecord.log", psrecord, strlen(psrecord), NULL), 0);
	tg_import_settle(im);
	r = kit_recording(im, "logs", NULL);
	table = tg_reader_tables(r->reader, &n_tables);
	for (size_t i = 0; i < n_tables; i++)
		for (size_t k = 0; k < table[i].n_columns; k++)
			trees += !strcmp(table[i].column[k].metric->name, "tree.rss_bytes");
	T_EQ_I(trees, 1);
	T_EQ_I(tg_totals_of(r, span_of(r, "logs"), &t), 0);
	T_NEAR(t.rss_peak_bytes, kit_number(im, "top|res_mib|max") * MIB, 1);
	/* one comes with 24 s on its clock: it was hidden, and used what its %CPU says */
	T_EQ_I(last_value(r, "tree.cpu_ns", ""), 2122000000);
	tg_recording_close(r);
	tg_import_free(im);
	tg_buf_release(&path);
}

int main(void)
{
	test_recorded();
	test_whole_disks();
	test_made();
	test_two_logs();
	test_three_logs();
	test_overlap_of_processes();
	test_days_apart();
	test_no_match();
	test_long_names();
	test_too_many_columns();
	test_stages_in_stages();
	test_slow_logs();
	test_undated();
	test_names();
	test_one_tree();
	return t_done();
}
