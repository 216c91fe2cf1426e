/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line a span as Snakemake 9.27 writes benchmark files (benchmark.py) and Nextflow 26.09 trace
 * files (TraceFileObserver, TraceRecord, Duration and MemoryUnit), so that what reads those reads
 * ours. Names are one word's worth of text: no tab, no line break.
 */
#include <errno.h>
#include <math.h>

#include "analyze/totals.h"
#include "base/clock.h"
#include "export/export.h"

#include "base/mem.h"

#define MIB        1048576.0
#define NAME_CHARS 200
#define NUMBER_MAX 1e15
#define WAIT_MAX   1e9 /* s */

struct line {
	const struct tg_export *e;
	const struct tg_span *span;
	struct tg_json *attrs;
	struct tg_totals totals;
	struct tg_buf *out;
};

static void title(const struct line *l, struct tg_buf *out)
{
	bool nameless = l->e->no_code && !strcmp(l->span->kind, "cell");

	if (l->span->name && !nameless)
		tg_plain(out, l->span->name, NAME_CHARS);
	else
		tg_buf_addf(out, "%s %lld", l->span->kind,
			(long long)TG_MAX(l->span->index, (int64_t)0));
}

/* The text of an attribute, or `otherwise`. */
static void attribute(const struct line *l, const char *key, const char *otherwise)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_export_cell(tg_json_get(l->attrs, key), &text);
	tg_plain(l->out, text.len ? text.data : otherwise, NAME_CHARS);
	tg_buf_release(&text);
}

/* A number from 0 on of the attributes, or `otherwise`. */
static double number(const struct line *l, const char *key, double otherwise)
{
	double v = tg_json_num(tg_json_get(l->attrs, key), NAN);

	return v >= 0 && v <= NUMBER_MAX ? v : otherwise;
}

/* ---- Snakemake ---- */

static void two_decimals(struct tg_buf *out, double v)
{
	if (isnan(v))
		tg_buf_adds(out, "\tNA");
	else
		tg_buf_addf(out, "\t%.2f", v);
}

/* As Python prints a timedelta without fractions: "1 day, 2:03:04". */
static void hours(struct tg_buf *out, double s)
{
	long long whole = (long long)s, days = whole / 86400;

	tg_buf_addc(out, '\t');
	if (days)
		tg_buf_addf(out, "%lld day%s, ", days, days == 1 ? "" : "s");
	whole %= 86400;
	tg_buf_addf(out, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

/* The attributes that have no column of their own: what Snakemake calls wildcards. */
static void wildcards(const struct line *l)
{
	static const char *const own[] = { "jobid", "rule_name", "params", "threads", "resources",
		"input_size_mb", "command", "batch", "requested", "uss_peak_bytes" };
	struct tg_buf text = TG_BUF_INIT;
	struct tg_jw w;
	const char *key = NULL;

	if (tg_json_get(l->attrs, "wildcards")) { /* of a benchmark that was imported */
		attribute(l, "wildcards", "{}");
		return;
	}
	tg_jw_init(&w, l->out);
	tg_jw_begin_object(&w);
	while ((key = tg_json_next_key(l->attrs, key))) {
		bool known = false;

		for (size_t i = 0; i < TG_ARRAY_SIZE(own); i++)
			known |= !strcmp(own[i], key);
		if (known)
			continue;
		tg_buf_clear(&text);
		tg_export_cell(tg_json_get(l->attrs, key), &text);
		tg_jw_kstr(&w, key, text.data);
	}
	tg_jw_end_object(&w);
	tg_buf_release(&text);
}

static void snakemake_extended(const struct line *l)
{
	struct tg_buf name = TG_BUF_INIT;

	title(l, &name);
	tg_buf_addc(l->out, '\t');
	attribute(l, "jobid", "NA");
	tg_buf_addc(l->out, '\t');
	attribute(l, "rule_name", name.data);
	tg_buf_addc(l->out, '\t');
	wildcards(l);
	tg_buf_addc(l->out, '\t');
	attribute(l, "params", "{}");
	tg_buf_addc(l->out, '\t');
	attribute(l, "threads", "NA");
	two_decimals(l->out, 100 * l->totals.cpu_s);
	tg_buf_addc(l->out, '\t');
	attribute(l, "resources", "{}");
	tg_buf_addc(l->out, '\t');
	attribute(l, "input_size_mb", "{}");
	tg_buf_release(&name);
}

static void snakemake_head(const struct tg_export *e, struct tg_buf *out)
{
	tg_buf_addf(out,
		"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time"
		"%s\n",
		e->extended ? "\tjobid\trule_name\twildcards\tparams\tthreads\tcpu_usage\t"
			      "resources\tinput_size_mb"
			    : "");
}

static void snakemake_line(struct line *l, size_t i)
{
	const struct tg_totals *t = &l->totals;

	(void)i;
	tg_buf_addf(l->out, "%.2f", t->wall_s);
	hours(l->out, t->wall_s);
	two_decimals(l->out, t->rss_peak_bytes / MIB);
	two_decimals(l->out, t->vms_peak_bytes / MIB);
	/* USS is not recorded, but an import may have it */
	two_decimals(l->out, number(l, "uss_peak_bytes", NAN) / MIB);
	two_decimals(l->out, t->pss_peak_bytes / MIB);
	two_decimals(l->out, t->read_bytes / MIB);
	two_decimals(l->out, t->write_bytes / MIB);
	two_decimals(l->out, t->wall_s > 0 ? 100 * t->cpu_s / t->wall_s : NAN);
	two_decimals(l->out, t->cpu_s);
	if (l->e->extended)
		snakemake_extended(l);
}

/* ---- Nextflow ---- */

static void duration(struct tg_buf *out, double s, bool raw)
{
	long long ms = llround(s * 1000), whole = (ms + 500) / 1000;
	const char *blank = "";
	const struct {
		long long n;
		char unit;
	} part[] = { { whole / 86400, 'd' }, { whole / 3600 % 24, 'h' }, { whole / 60 % 60, 'm' },
		{ whole % 60, 's' } };

	tg_buf_addc(out, '\t');
	if (raw) {
		tg_buf_addf(out, "%lld", ms);
	} else if (ms < 1000) {
		tg_buf_addf(out, "%lldms", ms);
	} else if (ms < 60000) {
		long long tenths = (ms + 50) / 100;

		tg_buf_addf(out, "%lld", tenths / 10);
		if (tenths % 10)
			tg_buf_addf(out, ".%lld", tenths % 10);
		tg_buf_addc(out, 's');
	} else {
		for (size_t i = 0; i < TG_ARRAY_SIZE(part); i++) {
			if (!part[i].n)
				continue;
			tg_buf_addf(out, "%s%lld%c", blank, part[i].n, part[i].unit);
			blank = " ";
		}
	}
}

/* Units of 1024, which Nextflow calls KB, MB, …; at most one decimal. */
static void memory(struct tg_buf *out, double bytes, bool raw)
{
	static const char *const unit[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	char text[32];
	size_t i = 0, len;

	tg_buf_addc(out, '\t');
	if (isnan(bytes)) {
		tg_buf_addc(out, '-');
	} else if (raw || bytes <= 0) {
		tg_buf_addf(out, "%.0f", bytes);
	} else {
		for (; bytes >= 1024 && i + 1 < TG_ARRAY_SIZE(unit); i++)
			bytes /= 1024;
		snprintf(text, sizeof(text), "%.1f", bytes);
		len = strlen(text);
		tg_buf_addf(out, "%.*s %s", (int)(!strcmp(text + len - 2, ".0") ? len - 2 : len),
			text, unit[i]);
	}
}

/* "2026-12-03 11:46:15.761" on the clock of the machine that recorded. */
static void submitted(const struct line *l, double wait_s, bool raw)
{
	const struct tg_span_session *s = tg_recording_session(l->e->recording, l->span->session);
	int64_t utc_ns = l->span->begin_utc_ns - llround(fmin(wait_s, WAIT_MAX) * 1e9);
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_addc(l->out, '\t');
	if (raw) {
		tg_buf_addf(l->out, "%lld", (long long)(utc_ns / TG_NS_PER_MS));
		return;
	}
	tg_utc_text(&text, utc_ns + (s ? s->zone_s : 0) * TG_NS_PER_S);
	if (text.len > 23)
		tg_buf_addf(l->out, "%.10s %.12s", text.data, text.data + 11);
	tg_buf_release(&text);
}

static const char *nextflow_status(const char *status)
{
	return !status                      ? "-"
	       : !strcmp(status, "ok")      ? "COMPLETED"
	       : !strcmp(status, "running") ? "RUNNING"
	       : !strcmp(status, "aborted") ? "ABORTED"
	       : !strcmp(status, "unknown") ? "-"
					    : "FAILED";
}

static void nextflow_head(const struct tg_export *e, struct tg_buf *out)
{
	(void)e;
	tg_buf_adds(out,
		"task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t"
		"%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n");
}

static void nextflow_line(struct line *l, size_t i)
{
	const struct tg_totals *t = &l->totals;
	double pct = t->wall_s > 0 ? 100 * t->cpu_s / t->wall_s : NAN;
	char place[32];
	double wait_s = number(l, "wait_s", 0);
	bool raw = l->e->raw_numbers;

	snprintf(place, sizeof(place), "%zu", i + 1);
	attribute(l, "task_id", place);
	tg_buf_addc(l->out, '\t');
	attribute(l, "hash", "-");
	tg_buf_addc(l->out, '\t');
	attribute(l, "native_id", "-");
	tg_buf_addc(l->out, '\t');
	title(l, l->out);
	tg_buf_addf(l->out, "\t%s\t", nextflow_status(l->span->status));
	attribute(l, "exit", l->span->status && !strcmp(l->span->status, "ok") ? "0" : "-");
	/* of a queue a trace that was imported tells; else it was submitted when it began */
	submitted(l, wait_s, raw);
	duration(l->out, number(l, "duration_s", wait_s + t->wall_s), raw);
	duration(l->out, t->wall_s, raw);
	if (isnan(pct))
		tg_buf_adds(l->out, "\t-");
	else
		tg_buf_addf(l->out, raw ? "\t%.1f" : "\t%.1f%%", pct);
	memory(l->out, t->rss_peak_bytes, raw);
	memory(l->out, t->vms_peak_bytes, raw);
	memory(l->out, t->rchar_bytes, raw);
	memory(l->out, t->wchar_bytes, raw);
}

/* ---- both ---- */

static int lines(const struct tg_export *e, struct tg_err *err,
	void (*head)(const struct tg_export *e, struct tg_buf *out),
	void (*line)(struct line *l, size_t i))
{
	struct tg_buf out = TG_BUF_INIT;
	int rc = 0;

	head(e, &out);
	for (size_t i = 0; i < e->n_spans && rc >= 0; i++) {
		struct line l = { .e = e, .span = e->span[i], .out = &out };

		rc = tg_totals_of(e->recording, l.span, &l.totals);
		if (rc < 0)
			break;
		if (l.span->attrs)
			l.attrs = tg_json_parse(l.span->attrs, strlen(l.span->attrs), NULL);
		line(&l, i);
		tg_buf_addc(&out, '\n');
		tg_json_free(l.attrs);
		rc = tg_export_flush(e, &out);
	}
	if (rc >= 0)
		rc = tg_export_flush(e, &out);
	tg_buf_release(&out);
	return tg_export_failed(e, rc, err);
}

int tg_export_snakemake(const struct tg_export *e, struct tg_err *err)
{
	return lines(e, err, snakemake_head, snakemake_line);
}

int tg_export_nextflow(const struct tg_export *e, struct tg_err *err)
{
	return lines(e, err, nextflow_head, nextflow_line);
}
