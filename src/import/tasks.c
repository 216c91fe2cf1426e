/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/tasks.h"

#include <math.h>

#include "base/json.h"
#include "import/import.h"
#include "import/stats.h"
#include "import/zone.h"

#include "base/mem.h"

#define LAID_MAX_NS INT64_C(1000000000000000000)

/* As the format has them. A peak of several tasks is no sum of theirs. */
static const struct {
	const char *name;
	bool adds_up;
} figures[TG_TASK_FIGURES] = {
	[TG_TASK_CPU_S] = { "cpu_s", true },
	[TG_TASK_RSS] = { "rss_peak_bytes", false },
	[TG_TASK_PSS] = { "pss_peak_bytes", false },
	[TG_TASK_VMS] = { "vms_peak_bytes", false },
	[TG_TASK_READ] = { "read_bytes", true },
	[TG_TASK_WRITE] = { "write_bytes", true },
	[TG_TASK_RCHAR] = { "rchar_bytes", true },
	[TG_TASK_WCHAR] = { "wchar_bytes", true },
	[TG_TASK_READ_OPS] = { "read_ops", true },
	[TG_TASK_WRITE_OPS] = { "write_ops", true },
};

const struct tg_log_task tg_tasks_unknown = { .begin_ns = TG_UNKNOWN,
	.submit_ns = TG_UNKNOWN,
	.end_ns = TG_UNKNOWN,
	.wall_ns = TG_UNKNOWN,
	.status = "unknown",
	.cores = NAN };

struct tg_log_task *tg_tasks_add(struct tg_logfile *log)
{
	struct tg_log_task *task;

	if (log->n_tasks == TG_TASKS_MAX)
		return NULL;
	TG_GROW(log->task, log->n_tasks + 1, log->cap_tasks);
	task = &log->task[log->n_tasks];
	*task = tg_tasks_unknown;
	task->place = (uint32_t)log->n_tasks++;
	for (size_t i = 0; i < TG_TASK_FIGURES; i++)
		task->figure[i] = NAN;
	return task;
}

static int by_begin(const void *a, const void *b)
{
	const struct tg_log_task *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Leave out what has no room in the time that a recording may have. */
static void cut_off(struct tg_logfile *log, size_t n)
{
	log->n_skipped += log->n_tasks - n;
	while (log->n_tasks > n) {
		free(log->task[--log->n_tasks].name);
		free(log->task[log->n_tasks].attrs);
	}
	log->n_samples = n;
}

static void lay(struct tg_logfile *log, int64_t *at_ns)
{
	for (size_t i = 0; i < log->n_tasks; i++) {
		struct tg_log_task *task = &log->task[i];

		if (*at_ns > LAID_MAX_NS) {
			cut_off(log, i);
			return;
		}
		task->begin_ns = *at_ns;
		*at_ns += task->wall_ns;
	}
}

/* From a clock on the wall to UTC; not before what came before it. */
static int64_t moment_of(int64_t civil_ns, int64_t not_before_ns)
{
	return civil_ns == TG_UNKNOWN ? TG_UNKNOWN
				      : TG_MAX(tg_zone_utc(civil_ns, not_before_ns), 0);
}

static void settle(struct tg_log_task *task)
{
	if (task->civil) {
		task->submit_ns = moment_of(task->submit_ns, INT64_MIN);
		task->begin_ns = moment_of(task->begin_ns,
			task->submit_ns == TG_UNKNOWN ? INT64_MIN : task->submit_ns);
		task->end_ns = moment_of(task->end_ns, task->begin_ns);
		task->civil = false;
	}
	if (task->wall_ns == TG_UNKNOWN)
		task->wall_ns =
			task->end_ns == TG_UNKNOWN ? 0 : TG_MAX(task->end_ns - task->begin_ns, 0);
	if (isnan(task->figure[TG_TASK_CPU_S]))
		task->figure[TG_TASK_CPU_S] = task->cores * (double)task->wall_ns / 1e9;
}

bool tg_tasks_resolve(struct tg_logfile *log, int64_t *at_ns)
{
	for (size_t i = 0; i < log->n_tasks; i++)
		settle(&log->task[i]);
	if (log->n_tasks && log->task[0].begin_ns == TG_UNKNOWN) {
		lay(log, at_ns);
		return true;
	}
	if (log->n_tasks) /* a log may have them as they ended */
		qsort(log->task, log->n_tasks, sizeof(*log->task), by_begin);
	return false;
}

bool tg_tasks_times(const struct tg_logfile *log, int64_t *first_ns, int64_t *last_ns)
{
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	for (size_t i = 0; i < log->n_tasks; i++) {
		const struct tg_log_task *task = &log->task[i];

		*first_ns = TG_MIN(*first_ns, task->begin_ns);
		*last_ns = TG_MAX(*last_ns, task->begin_ns + task->wall_ns);
	}
	return log->n_tasks > 0;
}

void tg_tasks_add_up(const struct tg_logfile *log, double sum[TG_TASK_FIGURES])
{
	for (size_t i = 0; i < log->n_tasks; i++)
		for (size_t k = 0; k < TG_TASK_FIGURES; k++)
			sum[k] += figures[k].adds_up ? log->task[i].figure[k] : NAN;
}

void tg_tasks_put_figures(struct tg_jw *w, const double figure[TG_TASK_FIGURES])
{
	tg_jw_key(w, "figures");
	tg_jw_begin_object(w);
	for (size_t k = 0; k < TG_TASK_FIGURES; k++)
		if (!isnan(figure[k]))
			tg_jw_knum(w, figures[k].name, figure[k]);
	tg_jw_end_object(w);
}

/* What the log says of it, and how long it waited before, where that is known. */
static void put_attrs(struct tg_jw *w, const struct tg_log_task *task, const char *group)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_jw more;

	tg_jw_init(&more, &text);
	tg_jw_begin_object(&more);
	if (group)
		tg_jw_kstr(&more, "process", group);
	if (task->submit_ns != TG_UNKNOWN && task->begin_ns >= task->submit_ns) {
		tg_jw_knum(&more, "wait_s", (double)(task->begin_ns - task->submit_ns) / 1e9);
		if (task->end_ns != TG_UNKNOWN && task->end_ns >= task->begin_ns)
			tg_jw_knum(&more, "duration_s",
				(double)(task->end_ns - task->submit_ns) / 1e9);
	}
	if (task->attrs && strlen(task->attrs) > 2) { /* its members behind ours */
		if (text.len > 1)
			tg_buf_addc(&text, ',');
		tg_buf_adds(&text, task->attrs + 1);
	} else {
		tg_jw_end_object(&more);
	}
	if (text.len > 2) {
		tg_jw_key(w, "attrs");
		tg_jw_raw(w, text.data, text.len);
	}
	tg_buf_release(&text);
}

void tg_tasks_write(struct tg_store *store, const struct tg_logfile *log, uint64_t *span)
{
	for (size_t i = 0; i < log->n_tasks; i++, ++*span) {
		const struct tg_log_task *task = &log->task[i];
		struct tg_jw *w = tg_store_event(store, "begin", task->begin_ns);

		tg_jw_kint(w, "span", (int64_t)*span);
		tg_jw_kstr(w, "kind", "task");
		if (task->name)
			tg_jw_kstr(w, "name", task->name);
		tg_jw_kint(w, "parent", 1);
		put_attrs(w, task, log->group);
		tg_store_event_close(store);
		w = tg_store_event(store, "end", task->begin_ns + task->wall_ns);
		tg_jw_kint(w, "span", (int64_t)*span);
		tg_jw_kstr(w, "status", task->status);
		tg_tasks_put_figures(w, task->figure);
		tg_store_event_close(store);
	}
}

void tg_tasks_report(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w)
{
	struct tg_stats wall = { 0 }, of[TG_TASK_FIGURES] = { 0 };
	size_t first, n = tg_import_of_tool(im, f->tool, &first);
	int64_t tasks = 0, failed = 0;

	for (size_t i = first; i < first + n; i++)
		for (size_t t = 0; t < im->log[i]->n_tasks; t++) {
			const struct tg_log_task *task = &im->log[i]->task[t];

			tasks++;
			failed += !strcmp(task->status, "error");
			tg_stats_add(&wall, (double)task->wall_ns / 1e9);
			for (size_t k = 0; k < TG_TASK_FIGURES; k++)
				tg_stats_add(&of[k], task->figure[k]);
		}
	tg_jw_begin_object(w);
	tg_jw_kint(w, "tasks", tasks);
	tg_jw_kint(w, "failed", failed);
	tg_jw_key(w, "wall_s");
	tg_stats_write(&wall, w);
	for (size_t k = 0; k < TG_TASK_FIGURES; k++) {
		if (!of[k].n)
			continue;
		tg_jw_key(w, figures[k].name);
		tg_stats_write(&of[k], w);
	}
	tg_jw_end_object(w);
}
