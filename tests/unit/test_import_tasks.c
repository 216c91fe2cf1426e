/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What workflows tell of their tasks, and psrecord of a process: read, written as a recording, read
 * back and written again in the form that it had. All values are worked out by hand.
 */
#include "import_kit.h"

#include "analyze/requested.h"
#include "analyze/totals.h"
#include "base/clock.h"
#include "export/export.h"

#define MIB 1048576.0
#define GIB (1024 * MIB)

static const struct tg_import_options utc = { .zone = "UTC" };

static struct tg_import *load(const char *name)
{
	struct tg_buf path = TG_BUF_INIT;
	struct tg_import *im;

	tg_buf_addf(&path, "workflows/%s", name);
	im = kit_load(path.data, &utc);
	tg_buf_release(&path);
	return im;
}

static void says(const struct tg_import *im, const char *want)
{
	struct tg_buf line = TG_BUF_INIT;

	T_EQ_I(im->n, 1);
	tg_import_line(im->log[0], &line);
	T_EQ_S(line.data, want);
	tg_buf_release(&line);
}

/* The n-th span of that name, and what it cost; the first is the run. */
static const struct tg_span *span_of(
	struct tg_recording *r, const char *name, int n, struct tg_totals *t)
{
	for (size_t i = 0; i < r->n_spans; i++)
		if (!strcmp(r->span[i].name, name) && !n--) {
			T_EQ_I(tg_totals_of(r, &r->span[i], t), 0);
			return &r->span[i];
		}
	T_EQ_S("no such span", name);
	return &r->span[0];
}

static double attr_of(const struct tg_span *span, const char *key)
{
	struct tg_json *attrs = tg_json_parse(span->attrs, strlen(span->attrs), NULL);
	double v = tg_json_num(tg_json_get(attrs, key), NAN);

	tg_json_free(attrs);
	return v;
}

static bool has_text(const struct tg_span *span, const char *text)
{
	return span->attrs && strstr(span->attrs, text);
}

static int collect(void *ctx, const char *data, size_t len)
{
	tg_buf_add(ctx, data, len);
	return 0;
}

/* All spans of kind task in that form; caller releases. */
static struct tg_buf exported(struct tg_recording *r, bool raw, bool extended,
	int (*write)(const struct tg_export *e, struct tg_err *err))
{
	const struct tg_span **span = tg_xcalloc(r->n_spans, sizeof(*span));
	struct tg_buf text = TG_BUF_INIT;
	struct tg_export e = { .recording = r,
		.span = span,
		.raw_numbers = raw,
		.extended = extended,
		.sink = { collect, &text } };

	for (size_t i = 0; i < r->n_spans; i++)
		if (!strcmp(r->span[i].kind, "task"))
			span[e.n_spans++] = &r->span[i];
	T_EQ_I(write(&e, NULL), 0);
	free(span);
	return text;
}

/* ---- Nextflow ---- */

/* 2026-12-01 20:53:38.120 UTC is 1796158418.120. */
static void test_trace(void)
{
	struct tg_import *im = load("trace.txt");
	struct tg_recording *r = kit_recording(im, "work", NULL);
	const struct tg_span *s;
	struct tg_totals t;

	says(im, "trace.txt: Nextflow, 3 tasks, 0 lines skipped; 1 task is not in it, as cached: "
		 "they ran before; 1 task is not in it: when they ran is unknown");
	T_EQ_I(r->n_spans, 4);
	T_EQ_S(r->span[1].name, "align (S1)"); /* it began first, and ended first */
	s = span_of(r, "align (S2)", 0, &t);
	T_EQ_S(s->kind, "task");
	T_EQ_S(s->status, "ok");
	/* 72 s from 20:53:40.5, of which it ran the last 62 */
	T_EQ_I(s->begin_utc_ns / TG_NS_PER_MS, 1796158430500);
	T_NEAR(t.wall_s, 62, 1e-9);
	T_NEAR(attr_of(s, "wait_s"), 10, 1e-9);
	T_NEAR(t.cpu_s, 1.985 * 62, 1e-6);
	T_NEAR(t.cores_mean, 1.985, 1e-6);
	T_NEAR(t.rss_peak_bytes, 3.2 * GIB, 1);
	T_NEAR(t.mem_peak_bytes, 3.2 * GIB, 1);
	T_NEAR(t.vms_peak_bytes, 7 * GIB, 1);
	T_NEAR(t.rchar_bytes, 1.5 * GIB, 1);
	T_NEAR(t.wchar_bytes, 512 * MIB, 1);
	T_OK(isnan(t.read_bytes) && isnan(t.pss_peak_bytes));
	T_OK(has_text(s, "\"process\":\"align\"") && has_text(s, "\"hash\":\"8e/77aa01\""));
	s = span_of(r, "align (S1)", 0, &t);
	T_EQ_S(s->status, "error");
	T_OK(has_text(s, "\"exit\":\"137\"") && !has_text(s, "requested"));
	T_OK(isnan(t.vms_peak_bytes) && isnan(t.rchar_bytes));
	T_NEAR(t.wchar_bytes, 0, 0); /* that is known */
	s = span_of(r, "sort (S2)", 0, &t);
	T_NEAR(t.wall_s, 0.3, 1e-9);
	T_OK(isnan(t.cpu_s) && isnan(t.cores_mean));
	/* of all: sums where each tells, and no sum of peaks */
	s = span_of(r, "work", 0, &t);
	T_EQ_S(s->kind, "run");
	T_NEAR(t.wchar_bytes, 512 * MIB, 1);
	T_OK(isnan(t.cpu_s) && isnan(t.rchar_bytes) && isnan(t.rss_peak_bytes));
	tg_recording_close(r);
	tg_import_free(im);
}

static void test_raw_trace(void)
{
	struct tg_import *im = load("trace-raw.csv");
	struct tg_recording *r = kit_recording(im, "work", NULL);
	struct tg_requested asked;
	const struct tg_span *s;
	struct tg_totals t;

	/* a separator in a name would shift what is behind it */
	says(im, "trace-raw.csv: Nextflow, 2 tasks, 1 line skipped; its last line is cut and was "
		 "left out");
	s = span_of(r, "ALIGN (S1)", 0, &t);
	T_EQ_I(s->begin_utc_ns / TG_NS_PER_MS, 1796158410000);
	T_NEAR(t.wall_s, 60, 1e-9);
	T_NEAR(attr_of(s, "wait_s"), 10, 1e-9);
	T_NEAR(attr_of(s, "duration_s"), 72, 1e-9);
	T_NEAR(t.cpu_s, 450, 1e-6);
	T_NEAR(t.rss_peak_bytes, 3435973836, 0);
	T_NEAR(t.read_bytes, 300, 0);
	T_NEAR(t.write_bytes, 400, 0);
	T_NEAR(t.read_ops, 5, 0);
	T_NEAR(t.write_ops, 6, 0);
	T_OK(tg_requested_of(s, &asked));
	T_NEAR(asked.cpus, 8, 0);
	T_NEAR(asked.memory_bytes, 8 * GIB, 0);
	T_NEAR(asked.time_s, 7200, 0);
	s = span_of(r, "work", 0, &t);
	T_NEAR(t.cpu_s, 450 + 2, 1e-6);
	T_NEAR(t.read_bytes, 303, 0);
	T_NEAR(t.wall_s, 111, 1e-9);
	tg_recording_close(r);
	tg_import_free(im);
}

/* What was read goes out as it came: but for those that were left out, and in order of begin. */
static void test_trace_again(void)
{
	static const char human[] =
		"task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\t"
		"peak_rss\tpeak_vmem\trchar\twchar\n"
		"1\t1f/a1b2c3\t4011\talign (S1)\tFAILED\t137\t2026-12-01 20:53:38.120\t12.5s\t"
		"9.5s\t50.0%\t512 MB\t-\t-\t0\n"
		"2\t8e/77aa01\t4012\talign (S2)\tCOMPLETED\t0\t2026-12-01 20:53:40.500\t1m 12s\t"
		"1m 2s\t198.5%\t3.2 GB\t7 GB\t1.5 GB\t512 MB\n"
		"5\t31/000002\t4020\tsort (S2)\tCOMPLETED\t0\t2026-12-01 20:55:00.000\t350ms\t"
		"300ms\t-\t10 MB\t20 MB\t0\t0\n";
	static const char raw[] =
		"task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\t"
		"peak_rss\tpeak_vmem\trchar\twchar\n"
		"1\t-\t-\tALIGN "
		"(S1)\tCOMPLETED\t0\t1796158400000\t72000\t60000\t750.0\t3435973836\t"
		"6871947672\t1000\t2000\n"
		"2\t-\t-\tSORT (S1)\tCOMPLETED\t0\t1796158510000\t11000\t10000\t20.0\t52428800\t"
		"104857600\t10\t20\n";
	struct tg_import *im = load("trace.txt");
	struct tg_recording *r = kit_recording(im, "work", NULL);
	struct tg_buf text = exported(r, false, false, tg_export_nextflow);

	T_EQ_S(text.data, human);
	tg_buf_release(&text);
	tg_recording_close(r);
	tg_import_free(im);
	im = load("trace-raw.csv");
	r = kit_recording(im, "work", NULL);
	text = exported(r, true, false, tg_export_nextflow);
	T_EQ_S(text.data, raw);
	tg_buf_release(&text);
	tg_recording_close(r);
	tg_import_free(im);
}

/* Clocks were set back from 03:00 to 02:00 while it waited, and while it ran. */
static void test_trace_in_autumn(void)
{
	static const struct {
		const char *submit, *start, *complete;
		double wait_s, wall_s;
	} of[] = {
		{ "2026-10-25 01:30:00", "2026-10-25 03:30:00", "2026-10-25 04:00:00", 10800,
			1800 },
		{ "2026-10-25 01:00:00", "2026-10-25 01:30:00", "2026-10-25 04:00:00", 1800,
			12600 },
		{ "2026-10-25 02:50:00", "2026-10-25 02:10:00", "2026-10-25 02:30:00", 1200, 1200 },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(of); i++) {
		struct tg_buf text = TG_BUF_INIT;
		struct tg_import *im;
		struct tg_recording *r;
		const struct tg_span *s;
		struct tg_totals t;

		tg_buf_addf(&text, "task_id,name,submit,start,complete,%%cpu\n1,a,%s,%s,%s,50%%\n",
			of[i].submit, of[i].start, of[i].complete);
		im = kit_text(text.data, &(struct tg_import_options){ .zone = BERLIN });
		r = kit_recording(im, "work", NULL);
		s = span_of(r, "a", 0, &t);
		T_NEAR(attr_of(s, "wait_s"), of[i].wait_s, 1e-9);
		T_NEAR(attr_of(s, "duration_s"), of[i].wait_s + of[i].wall_s, 1e-9);
		T_NEAR(t.wall_s, of[i].wall_s, 1e-9);
		T_NEAR(t.cpu_s, of[i].wall_s / 2, 1e-6);
		tg_recording_close(r);
		tg_import_free(im);
		tg_buf_release(&text);
	}
}

static void test_odd_traces(void)
{
	static const struct {
		const char *text, *line;
		double wall_s, rss, cpu_s;
	} odd[] = {
		/* without any moment they are laid one after the other */
		{ "name;realtime;peak_rss\na;2s;1 KB\nb;1h;x\n",
			"log: Nextflow, 2 tasks, 0 lines skipped; when they ran is not in it: they "
			"are laid one after the other",
			2, 1024, NAN },
		/* a script of several lines */
		{ "task_id|script|submit|realtime|%cpu|name\n1|\n  bwa\n  sort\n|1796158400000|"
		  "1000|50|a\n",
			"log: Nextflow, 1 task, 0 lines skipped", 1, NAN, 0.5 },
		/* the log ends in the script of one, or in what is behind it */
		{ "task_id|script|submit|realtime|%cpu|name\n1|x|1796158400000|1000|50|a\n2|\n"
		  "  bwa\n  sor",
			"log: Nextflow, 1 task, 0 lines skipped; its last line is cut and was left "
			"out",
			1, NAN, 0.5 },
		{ "task_id|script|submit|realtime|%cpu|name\n1|x|1796158400000|1000|50|a\n2|\n"
		  "  bwa\n|1796158400000|2000|50|al",
			"log: Nextflow, 1 task, 0 lines skipped; its last line is cut and was left "
			"out",
			1, NAN, 0.5 },
		/* one that lacks columns takes no other with it */
		{ "task_id|script|submit|realtime|%cpu|name\n1|x|17961584\n2|y|1796158400000|3000|"
		  "50|b\n3|\nz\n|1796158400000|2000|50|c\n",
			"log: Nextflow, 2 tasks, 1 line skipped", 3, NAN, 1.5 },
		/* what is no number, or too large, is unknown; not the task */
		{ "task_id,name,start,complete,%cpu,peak_rss\n1,a,2026-12-01 20:53:38,2026-12-01 "
		  "20:53:40,-5%,9 XB\n",
			"log: Nextflow, 1 task, 0 lines skipped", 2, NAN, NAN },
		{ "task_id,name,submit,realtime,%cpu\n1,a,12,1s,1\n2,b,2026-13-01 00:00:00,1s,1\n"
		  "3,c,1796158400000,99999999999999999,1\n4,d,1796158400000,1 fortnight,1\n"
		  "5,e,1796158400000,4s,25%\n",
			"log: Nextflow, 1 task, 0 lines skipped; 4 tasks are not in it: when they "
			"ran is unknown",
			4, NAN, 1 },
	};
	static const char other[] = "name,time,duration,status\na,1,2,COMPLETED\n";
	struct tg_import *im;

	for (size_t i = 0; i < TG_ARRAY_SIZE(odd); i++) {
		const struct tg_log_task *task;

		im = kit_text(odd[i].text, &utc);
		says(im, odd[i].line);
		T_OK(im->log[0]->n_tasks >= 1);
		task = &im->log[0]->task[0];
		T_NEAR((double)task->wall_ns / 1e9, odd[i].wall_s, 1e-9);
		T_OK(task->figure[TG_TASK_RSS] == odd[i].rss ||
			(isnan(odd[i].rss) && isnan(task->figure[TG_TASK_RSS])));
		T_OK(task->figure[TG_TASK_CPU_S] == odd[i].cpu_s ||
			(isnan(odd[i].cpu_s) && isnan(task->figure[TG_TASK_CPU_S])));
		tg_import_free(im);
	}
	im = kit_new(&utc); /* a table of somebody else */
	T_OK(tg_import_add_bytes(im, "log", other, strlen(other), NULL) < 0);
	tg_import_free(im);
}

/* ---- Snakemake ---- */

static void test_benchmarks(void)
{
	struct tg_import *im = load("benchmarks");
	struct tg_recording *r = kit_recording(im, "work", NULL);
	struct tg_requested asked;
	const struct tg_span *s;
	struct tg_totals t;

	T_EQ_I(im->n, 3);
	T_EQ_I(r->n_spans, 1 + 3 + 1 + 2);
	s = span_of(r, "align", 0, &t);
	T_NEAR(t.wall_s, 2.0711, 1e-9);
	T_NEAR(t.cpu_s, 2.03, 1e-9);
	T_NEAR(t.rss_peak_bytes, 40.5 * MIB, 0);
	T_NEAR(t.pss_peak_bytes, 33.5 * MIB, 0);
	T_NEAR(t.mem_peak_bytes, 33.5 * MIB, 0);
	T_EQ_S(t.mem_peak_is, "PSS");
	T_NEAR(t.vms_peak_bytes, 1205 * MIB, 0);
	T_NEAR(attr_of(s, "uss_peak_bytes"), 30.25 * MIB, 0);
	T_NEAR(t.read_bytes, 0, 0);
	T_NEAR(t.write_bytes, 12.5 * MIB, 0);
	s = span_of(
		r, "align", 1, &t); /* no CPU time: by the mean load; it comes behind the first */
	T_NEAR((double)(s->begin_utc_ns - r->span[1].begin_utc_ns) / 1e9, 2.0711, 1e-6);
	T_NEAR(t.cpu_s, 1.5, 1e-9);
	T_EQ_S(t.mem_peak_is, "RSS");
	T_OK(isnan(t.write_bytes));
	span_of(r, "align", 2, &t);
	T_OK(isnan(t.cpu_s) && isnan(t.mem_peak_bytes) && isnan(t.read_bytes));
	span_of(r, "old", 0, &t); /* where PSS is not known to it, it is 0 there */
	T_NEAR(t.wall_s, 86401.5, 1e-6);
	T_NEAR(t.cpu_s, 4 * 86401.5, 1e-6);
	T_OK(isnan(t.pss_peak_bytes));
	s = span_of(r, "sort", 0, &t);
	T_NEAR(t.cpu_s, 3.5, 0);
	T_OK(isnan(t.write_bytes));
	T_OK(tg_requested_of(s, &asked));
	T_NEAR(asked.cpus, 2, 0);
	T_OK(has_text(s, "\"wildcards\":{\"sample\":\"S1\"}"));
	span_of(r, "sort", 1, &t); /* seconds as a string, as they once were */
	T_NEAR(t.wall_s, 5.25, 1e-9);
	T_OK(isnan(t.cpu_s));
	tg_recording_close(r);
	tg_import_free(im);
}

static void test_benchmark_again(void)
{
	static const char want[] =
		"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
		"2.07\t0:00:02\t40.50\t1205.00\t30.25\t33.50\t0.00\t12.50\t98.02\t2.03\n"
		"3.00\t0:00:03\t41.00\t1205.00\tNA\tNA\t1.00\tNA\t50.00\t1.50\n"
		"0.10\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n";
	struct tg_import *im = load("benchmarks/align.tsv");
	struct tg_recording *r = kit_recording(im, "work", NULL);
	struct tg_buf text = exported(r, false, false, tg_export_snakemake);
	char *line, *columns;

	says(im, "align.tsv: Snakemake, 3 runs, 0 lines skipped; when they ran is not in it: they "
		 "are laid one after the other");
	T_EQ_S(text.data, want);
	tg_buf_release(&text);
	tg_recording_close(r);
	tg_import_free(im);
	im = load("benchmarks/sort.jsonl");
	r = kit_recording(im, "work", NULL);
	text = exported(r, false, true, tg_export_snakemake);
	line = kit_line(text.data, 1);
	columns = strstr(line, "\t7\t");
	T_EQ_S(columns ? columns : line,
		"\t7\tsort\t{\"sample\":\"S1\"}\t{}\t2\t350.00\t{\"mem_mb\":1000}\t{\"in.bam\":"
		"12.5}");
	free(line);
	tg_buf_release(&text);
	tg_recording_close(r);
	tg_import_free(im);
}

/* ---- psrecord ---- */

static void test_psrecord(void)
{
	struct tg_import *im = load("psrecord-io.log");
	struct tg_recording *r = kit_recording(im, "work", NULL);
	struct tg_totals t;

	says(im, "psrecord-io.log: psrecord, 3 samples, 0 lines skipped; the date is not in it: "
		 "only relative times are known");
	span_of(r, "work", 0, &t);
	T_NEAR(t.wall_s, 3, 1e-9);
	T_NEAR(t.cpu_s, 0.5 + 2 * 1.5, 1e-9);
	T_NEAR(t.rss_peak_bytes, 10 * MIB, 0);
	T_NEAR(t.vms_peak_bytes, 20 * MIB, 0);
	T_NEAR(t.read_bytes, 8192, 0);
	T_NEAR(t.write_bytes, 8192, 0);
	T_NEAR(t.read_ops, 20, 0);
	T_NEAR(t.write_ops, 4, 0);
	tg_recording_close(r);
	tg_import_free(im);
	im = load("psrecord.csv");
	r = kit_recording(im, "work", NULL);
	span_of(r, "work", 0, &t);
	T_NEAR(t.cpu_s, 1, 1e-6);
	T_NEAR(t.rss_peak_bytes, 88.5 * MIB, 0);
	T_OK(isnan(t.read_bytes));
	tg_recording_close(r);
	tg_import_free(im);
}

int main(void)
{
	test_trace();
	test_raw_trace();
	test_trace_again();
	test_trace_in_autumn();
	test_odd_traces();
	test_benchmarks();
	test_benchmark_again();
	test_psrecord();
	return t_done();
}
