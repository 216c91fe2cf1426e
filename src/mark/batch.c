/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/batch.h"

#include <errno.h>
#include <math.h>

#include "mark/protocol.h"

#include "base/mem.h"

#define KIB        1024.0
#define MIB        (KIB * KIB)
#define NUMBER_MAX 1e18
#define TEXT_MAX   200 /* bytes of a name */

static const char *told(const char *name)
{
	const char *v = name ? getenv(name) : NULL;

	return v && *v ? v : NULL;
}

static double number(const char *name)
{
	const char *text = told(name);
	char *end;
	double v = text ? strtod(text, &end) : NAN;

	return text && end != text && !*end && v > 0 && v <= NUMBER_MAX ? v : NAN;
}

static const struct system {
	const char *system, *id, *index;
	const char *no_index; /* what the index is where there is no array */
	const char *name, *queue;
	const char *cpus[2], *time_s; /* of this job on this host */
} systems[] = {
	{ "Slurm", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "", "SLURM_JOB_NAME",
		"SLURM_JOB_PARTITION", { NULL, NULL }, NULL },
	{ "Slurm", "SLURM_JOB_ID", NULL, "", "SLURM_JOB_NAME", "SLURM_JOB_PARTITION",
		{ NULL, NULL }, NULL },
	{ "PBS", "PBS_JOBID", "PBS_ARRAY_INDEX", "", "PBS_JOBNAME", "PBS_QUEUE",
		{ "NCPUS", "PBS_NUM_PPN" }, "PBS_WALLTIME" },
	{ "LSF", "LSB_JOBID", "LSB_JOBINDEX", "0", "LSB_JOBNAME", "LSB_QUEUE",
		{ "LSB_DJOB_NUMPROC", NULL }, NULL },
	{ "Grid Engine", "JOB_ID", "SGE_TASK_ID", "undefined", "JOB_NAME", "QUEUE",
		{ "NSLOTS", NULL }, NULL },
};

static const struct system *find(void)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(systems); i++)
		if (told(systems[i].id))
			return &systems[i];
	return NULL;
}

void tg_batch_find(struct tg_batch *b)
{
	const struct system *s = find();

	*b = (struct tg_batch){ NULL };
	if (!s)
		return;
	*b = (struct tg_batch){ s->system, told(s->id), told(s->index), told(s->name),
		told(s->queue) };
	if (b->index && !strcmp(b->index, s->no_index))
		b->index = NULL;
}

/* ---- what it was asked for ---- */

static double first_of(double a, double b)
{
	return isnan(a) ? b : a;
}

/* A task of a step has its own part; the script of a job, and its only task, all on this node. */
static void ask_slurm(struct tg_job_request *out)
{
	double per_task = number("SLURM_CPUS_PER_TASK"), on_node = number("SLURM_CPUS_ON_NODE");
	double step_tasks = number("SLURM_STEP_NUM_TASKS"), tasks = number("SLURM_NTASKS");
	double begin = number("SLURM_JOB_START_TIME"), end = number("SLURM_JOB_END_TIME");
	double per_node_mib = number("SLURM_MEM_PER_NODE"), mib = number("SLURM_MEM_PER_CPU");
	bool part = step_tasks > 1;

	if (part)
		out->cpus = first_of(per_task, 1);
	else
		out->cpus = tasks > 1 ? on_node : first_of(per_task, on_node);
	if (!part)
		out->memory_bytes = per_node_mib * MIB;
	if (isnan(out->memory_bytes))
		out->memory_bytes = mib * MIB * (part ? out->cpus : first_of(on_node, out->cpus));
	if (end > begin)
		out->time_s = end - begin;
	if (!part)
		out->gpus = number("SLURM_GPUS_ON_NODE");
}

void tg_job_request_told(const struct tg_batch *b, struct tg_job_request *out)
{
	const struct system *s = find();

	*out = TG_JOB_REQUEST_NONE;
	if (!b->system || !s)
		return;
	if (!strcmp(b->system, "Slurm")) {
		ask_slurm(out);
		return;
	}
	out->cpus = first_of(number(s->cpus[0]), number(s->cpus[1]));
	out->time_s = number(s->time_s);
}

static bool take_count(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && *out > 0 && *out <= NUMBER_MAX;
}

static bool take_bytes(const char *text, double *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;

	*out = strtod(text, &end);
	if (end == text || !(*out > 0) || !(*out <= NUMBER_MAX))
		return false;
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit) {
		*out *= pow(KIB, (double)(unit - units + 1));
		end++;
		if (*end == 'i')
			end++;
	}
	return !*end || !strcmp(end, "B");
}

/* "1-12:30:00", "2:00:00", "30:00" */
static bool take_clock(const char *text, double *out)
{
	double part[3] = { 0 }, days = 0;
	size_t n = 0;
	char *end;

	if (strchr(text, '-')) {
		days = (double)strtoul(text, &end, 10);
		if (end == text || *end != '-')
			return false;
		text = end + 1;
	}
	for (;; text = end + 1) {
		part[n++] = (double)strtoul(text, &end, 10);
		if (end == text || (*end && *end != ':') || (*end && n == 3))
			return false;
		if (!*end)
			break;
	}
	*out = days * 86400;
	if (n == 3)
		*out += part[0] * 3600 + part[1] * 60 + part[2];
	else if (n == 2)
		*out += part[0] * 60 + part[1];
	return n > 1 && *out > 0 && *out <= NUMBER_MAX;
}

static bool take_time(const char *text, double *out)
{
	static const struct {
		char letter;
		double s;
	} unit[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;

	if (strchr(text, ':'))
		return take_clock(text, out);
	*out = strtod(text, &end);
	if (end == text || !(*out > 0) || !(*out <= NUMBER_MAX))
		return false;
	for (size_t i = 0; i < TG_ARRAY_SIZE(unit); i++)
		if (end[0] == unit[i].letter && !end[1]) {
			*out *= unit[i].s;
			return true;
		}
	return !*end;
}

static bool take_one(const char *name, const char *value, struct tg_job_request *out)
{
	if (!strcmp(name, "cpus"))
		return take_count(value, &out->cpus);
	if (!strcmp(name, "gpus"))
		return take_count(value, &out->gpus);
	if (!strcmp(name, "mem"))
		return take_bytes(value, &out->memory_bytes);
	return !strcmp(name, "time") && take_time(value, &out->time_s);
}

int tg_job_request_parse(const char *text, struct tg_job_request *out, struct tg_err *err)
{
	char *copy = tg_xstrdup(text), *rest = copy, *one;
	struct tg_job_request r = *out;
	int rc = 0;

	while (rc == 0 && (one = strsep(&rest, ","))) {
		char *value = one;
		const char *name = strsep(&value, "=");

		if (!value || !take_one(name, value, &r))
			rc = tg_err_set(err, -EINVAL,
				"what is requested is said like cpus=8,mem=16G,time=2h,gpus=1, not "
				"\"%.60s\"",
				text);
	}
	if (rc == 0)
		*out = r;
	free(copy);
	return rc;
}

/* ---- as attributes ---- */

static void add_str(struct tg_jw *w, const char *key, const char *v)
{
	if (!v)
		return;
	tg_jw_key(w, key);
	tg_jw_strn(w, v, tg_mark_cut(v, strlen(v), TEXT_MAX));
}

static void add_num(struct tg_jw *w, const char *key, double v)
{
	if (!isnan(v))
		tg_jw_knum(w, key, v);
}

void tg_batch_add(struct tg_jw *w, const struct tg_batch *b)
{
	if (!b->system)
		return;
	tg_jw_key(w, "batch");
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "system", b->system);
	add_str(w, "job", b->job);
	add_str(w, "index", b->index);
	add_str(w, "name", b->name);
	add_str(w, "queue", b->queue);
	tg_jw_end_object(w);
}

void tg_job_request_add(struct tg_jw *w, const struct tg_job_request *r)
{
	if (isnan(r->cpus) && isnan(r->memory_bytes) && isnan(r->time_s) && isnan(r->gpus))
		return;
	tg_jw_key(w, "requested");
	tg_jw_begin_object(w);
	add_num(w, "cpus", r->cpus);
	add_num(w, "memory_bytes", r->memory_bytes);
	add_num(w, "time_s", r->time_s);
	add_num(w, "gpus", r->gpus);
	tg_jw_end_object(w);
}
