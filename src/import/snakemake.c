/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snakemake's benchmark files: a line each time that a rule ran, with tabs between, or a JSON
 * object a line. When that was is not in them.
 *
 *  s       h:m:s    max_rss  max_vms  max_uss  max_pss  io_in  io_out  mean_load  cpu_time
 *  2.0711  0:00:02  40.52    1205.11  30.20    33.41    0.00   12.41   98.70      2.03
 */
#include <math.h>

#include "base/json.h"
#include "import/fields.h"
#include "import/scan.h"
#include "import/tasks.h"

#include "base/mem.h"

#define MIB         1048576.0
#define SECONDS_MAX 1e9

/* A run of a rule as numbers and texts with names, wherever they come from. */
struct run {
	const struct tg_fields *head, *row; /* either these */
	const struct tg_json *json; /* or this */
};

static const char *text_of(const struct run *run, const char *name)
{
	return run->json ? tg_json_str(tg_json_get(run->json, name), NULL)
			 : tg_fields_get(run->row, tg_fields_find(run->head, name));
}

static double number_of(const struct run *run, const char *name)
{
	const char *s, *end;
	double v;

	v = tg_json_num(tg_json_get(run->json, name), NAN);
	if (v >= 0)
		return v;
	s = text_of(run, name); /* in JSON, too, "s" is one before Snakemake 9.13.5 */
	end = s ? tg_scan_number(s, &v) : NULL;
	return end && !*end && v >= 0 ? v : NAN;
}

/* Peaks and traffic are in MiB. */
static double bytes_of(const struct run *run, const char *name)
{
	return number_of(run, name) * MIB;
}

/* Where the system tells no PSS it is 0. */
static double pss_of(const struct run *run)
{
	double v = bytes_of(run, "max_pss");

	return v > 0 || !(bytes_of(run, "max_rss") > 0) ? v : NAN;
}

/* Of benchmarks/align/S1.tsv "S1": what a file is called that has no names in it. */
static char *stem_of(const struct tg_logfile *log)
{
	const char *dot = strrchr(log->name, '.');

	return dot && dot > log->name ? tg_xmemdup0(log->name, (size_t)(dot - log->name))
				      : tg_xstrdup(log->name);
}

/* What the file has beside the figures, where it has it. */
static char *attrs_of(const struct run *run)
{
	static const char *const name[] = { "jobid", "wildcards", "params", "resources",
		"input_size_mb" };
	double threads = number_of(run, "threads"), uss = bytes_of(run, "max_uss");
	struct tg_buf text = TG_BUF_INIT, value = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &text);
	tg_jw_begin_object(&w);
	for (size_t i = 0; i < TG_ARRAY_SIZE(name); i++) {
		const struct tg_json *json = run->json ? tg_json_get(run->json, name[i]) : NULL;

		if (json) {
			tg_buf_clear(&value);
			tg_json_dump(json, &value);
			tg_jw_key(&w, name[i]);
			tg_jw_raw(&w, value.data, value.len);
		} else if (!run->json && text_of(run, name[i])) {
			tg_jw_kstr(&w, name[i], text_of(run, name[i]));
		}
	}
	if (!isnan(uss))
		tg_jw_knum(&w, "uss_peak_bytes", uss);
	if (!isnan(threads)) {
		tg_jw_knum(&w, "threads", threads);
		tg_jw_key(&w, "requested");
		tg_jw_begin_object(&w);
		tg_jw_knum(&w, "cpus", threads);
		tg_jw_end_object(&w);
	}
	tg_jw_end_object(&w);
	tg_buf_release(&value);
	return tg_buf_detach(&text);
}

/* False: it is none. */
static bool take_run(struct tg_logfile *log, const struct run *run)
{
	double s = number_of(run, "s"), load = number_of(run, "mean_load");
	const char *rule = text_of(run, "rule_name");
	struct tg_log_task *task;

	if (!(s < SECONDS_MAX))
		return false;
	task = tg_tasks_add(log);
	if (!task)
		return false;
	task->wall_ns = (int64_t)(s * 1e9 + 0.5);
	task->status = "ok"; /* none is written of a rule that failed */
	task->name = rule ? tg_xmemdup0(rule, strnlen(rule, TG_ITEM_NAME_MAX)) : stem_of(log);
	log->named_by_file |= !rule;
	task->attrs = attrs_of(run);
	task->figure[TG_TASK_CPU_S] = number_of(run, "cpu_time");
	if (isnan(task->figure[TG_TASK_CPU_S])) /* older versions have this alone */
		task->figure[TG_TASK_CPU_S] = load / 100 * s;
	task->figure[TG_TASK_RSS] = bytes_of(run, "max_rss");
	task->figure[TG_TASK_PSS] = pss_of(run);
	task->figure[TG_TASK_VMS] = bytes_of(run, "max_vms");
	task->figure[TG_TASK_READ] = bytes_of(run, "io_in");
	task->figure[TG_TASK_WRITE] = bytes_of(run, "io_out");
	return true;
}

static bool take_json(struct tg_logfile *log, const char *line, size_t len)
{
	struct run run = { .json = tg_json_parse(line, len, NULL) };
	bool ok = tg_json_is_object(run.json) && take_run(log, &run);

	tg_json_free((struct tg_json *)run.json);
	return ok;
}

static void read_benchmark(struct tg_logfile *log)
{
	struct tg_fields head = { .n = 0 }, row;
	char *line, *own = NULL;
	size_t len;

	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log)) {
		if (*line == '{') {
			log->n_skipped += !take_json(log, line, len);
		} else if (!own) {
			own = tg_xmemdup0(line, strlen(line));
			tg_fields_split(&head, own, '\t');
		} else if (*line) {
			tg_fields_split(&row, line, '\t');
			log->n_skipped +=
				row.n > head.n ||
				!take_run(log, &(struct run){ .head = &head, .row = &row });
		}
	}
	free(own);
	log->n_samples = log->n_tasks;
}

static bool looks(const char *head, size_t len)
{
	size_t n = strcspn(head, "\n");

	(void)len;
	return tg_scan_starts(head, "s\th:m:s\t") ||
	       (*head == '{' && memmem(head, n, "\"h:m:s\"", 7));
}

const struct tg_log_format tg_format_snakemake = {
	.tool = "Snakemake",
	.key = "snakemake",
	.noun = "run",
	.looks = looks,
	.read = read_benchmark,
	.report = tg_tasks_report,
};
