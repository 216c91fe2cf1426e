/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran where: the command, the machine, what was allowed, how it ended. */
#include <math.h>

#include "analyze/moments.h"
#include "analyze/series.h"
#include "base/end.h"
#include "base/json.h"
#include "report/format.h"
#include "report/report.h"

#include "base/mem.h"

#define TEXT_CHARS 4096

static void row(struct tg_sheet *s, const char *key, struct tg_buf *value)
{
	if (value->len) {
		tg_sheet_text(s, key);
		tg_sheet_text(s, value->data);
	}
	tg_buf_clear(value);
}

static void put_str(const struct tg_json *v, const char *before, struct tg_buf *out)
{
	const char *s = tg_json_str(v, "");

	if (!s[0])
		return;
	tg_buf_adds(out, out->len ? before : "");
	tg_plain(out, s, TEXT_CHARS);
}

static void put_when(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	const struct tg_span *first = t->run[0];
	const struct tg_span_session *s = tg_recording_session(t->r, first->session);

	tg_fmt_date(b, t->sums.from_ns, s->zone_s);
	tg_buf_adds(b, " to ");
	tg_fmt_date(b, t->sums.to_ns, s->zone_s);
	tg_fmt_zone(b, s->zone_s);
	tg_buf_adds(b, " · ");
	tg_fmt_seconds(b, (double)(t->sums.to_ns - t->sums.from_ns) / 1e9);
	row(sheet, "when", b);
}

static void put_end(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	const struct tg_moment **end;
	size_t n = tg_moments_of(t->r, "root_end", t->run, t->n_runs, &end);

	tg_plain(b, t->run[t->n_runs - 1]->status, 20);
	for (size_t i = 0; i < n; i++) {
		struct tg_json *e = tg_json_parse(end[i]->json, strlen(end[i]->json), NULL);
		int code = (int)tg_json_int(tg_json_get(e, "exit"), -1);
		int signal = (int)tg_json_int(tg_json_get(e, "signal"), 0);

		if (i + 1 == n && (code >= 0 || signal > 0)) {
			tg_buf_adds(b, ": ");
			tg_end_words(TG_MAX(code, 0), signal, b);
			put_str(tg_json_get(e, "text"), " ", b);
		}
		tg_json_free(e);
	}
	free(end);
	row(sheet, "ended", b);
}

/* "top · procps 4.0.2 · 47 samples · 3 lines skipped", of logs that other tools took. */
static void put_logs(const struct tg_json *m, struct tg_sheet *sheet, struct tg_buf *b)
{
	const struct tg_json *logs = tg_json_get(m, "logs");

	for (size_t i = 0; i < tg_json_len(logs); i++) {
		const struct tg_json *log = tg_json_at(logs, i);
		int64_t skipped = tg_json_int(tg_json_get(log, "skipped"), 0);
		int64_t samples = tg_json_int(tg_json_get(log, "samples"), 0);
		struct tg_buf name = TG_BUF_INIT, noun = TG_BUF_INIT;

		put_str(tg_json_get(log, "tool"), "", b);
		put_str(tg_json_get(log, "version"), " · ", b);
		tg_plain(&noun, tg_json_str(tg_json_get(log, "noun"), "sample"), 20);
		tg_buf_adds(b, " · ");
		tg_fmt_count(b, (uint64_t)TG_MAX(samples, 0), noun.data);
		tg_buf_release(&noun);
		if (skipped)
			tg_buf_addf(b, " · %lld %s skipped", (long long)skipped,
				skipped == 1 ? "line" : "lines");
		tg_plain(&name, tg_json_str(tg_json_get(log, "name"), "log"), 120);
		row(sheet, name.data, b);
		tg_buf_release(&name);
	}
}

static void put_machine(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	struct tg_json *m =
		t->r->machine ? tg_json_parse(t->r->machine, strlen(t->r->machine), NULL) : NULL;
	int64_t cpus = tg_json_int(tg_json_get(m, "cpus"), 0);
	double bytes = tg_json_num(tg_json_get(m, "memory_bytes"), NAN);

	put_str(tg_json_get(m, "host"), "", b);
	row(sheet, "machine", b);
	put_str(tg_json_get(m, "cpu_model"), "", b);
	if (cpus > 0)
		tg_buf_addf(b, "%s%lld %s", b->len ? " · " : "", (long long)cpus,
			cpus == 1 ? "core" : "cores");
	row(sheet, "processors", b);
	if (!isnan(bytes))
		tg_fmt_bytes(b, bytes);
	row(sheet, "memory", b);
	put_str(tg_json_get(m, "kernel"), "", b);
	put_str(tg_json_get(m, "machine"), " · ", b);
	row(sheet, "Linux", b);
	put_str(tg_json_get(m, "cgroup"), "", b);
	row(sheet, "control group", b);
	put_logs(m, sheet, b);
	tg_json_free(m);
}

static void put_limits(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	const struct tg_totals *sums = &t->sums.totals;

	if (!isnan(sums->cores_allowed))
		tg_fmt_cores(b, sums->cores_allowed);
	if (!isnan(sums->memory_limit_bytes)) {
		tg_buf_adds(b, b->len ? " · " : "");
		tg_fmt_bytes(b, sums->memory_limit_bytes);
	}
	row(sheet, "allowed", b);
}

static void put_gpus(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	char **name;
	size_t n = tg_series_instances(t->r, "gpu.util_pct", &name);

	for (size_t i = 0; i < n; i++) {
		tg_buf_adds(b, b->len ? ", " : "");
		tg_plain(b, name[i], TG_INSTANCE_MAX);
		free(name[i]);
	}
	free(name);
	row(sheet, "GPUs", b);
}

/* A text, a number; of an object its members, "system Slurm · job 4711". */
static void put_attr(const struct tg_json *v, struct tg_buf *b)
{
	struct tg_buf text = TG_BUF_INIT;

	if (tg_json_is_object(v)) {
		for (const char *key = tg_json_next_key(v, NULL); key;
			key = tg_json_next_key(v, key)) {
			tg_buf_addf(b, "%s%.60s ", b->len ? " · " : "", key);
			put_attr(tg_json_get(v, key), b);
		}
		return;
	}
	if (tg_json_str(v, NULL))
		tg_buf_adds(&text, tg_json_str(v, ""));
	else
		tg_json_dump(v, &text);
	tg_plain(b, text.data, TEXT_CHARS);
	tg_buf_release(&text);
}

/* What is known of the job beside its command: who asked for it and for what. */
static void put_attrs(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	const char *text = t->run[0]->attrs;
	struct tg_json *attrs = text ? tg_json_parse(text, strlen(text), NULL) : NULL;

	for (const char *key = tg_json_next_key(attrs, NULL); key;
		key = tg_json_next_key(attrs, key)) {
		const struct tg_json *v = tg_json_get(attrs, key);
		struct tg_buf shown = TG_BUF_INIT;

		/* what was requested is told with what was used of it */
		if (!strcmp(key, "requested") || (!strcmp(key, "command") && t->o->no_args))
			continue;
		put_attr(v, b);
		tg_plain(&shown, key, 60);
		row(sheet, shown.data, b);
		tg_buf_release(&shown);
	}
	tg_json_free(attrs);
}

static void put_sampling(const struct tg_told *t, struct tg_sheet *sheet, struct tg_buf *b)
{
	const struct tg_totals *sums = &t->sums.totals;

	if (sums->samples)
		tg_buf_addf(b, "%lld samples", (long long)sums->samples);
	if (sums->missed)
		tg_buf_addf(b, ", and %lld that came too late", (long long)sums->missed);
	tg_buf_adds(b, b->len ? " · " : "");
	tg_plain(b, t->r->path, TEXT_CHARS);
	row(sheet, "recorded", b);
}

void tg_report_machine(struct tg_told *t)
{
	struct tg_report_part *p = tg_report_add(t->report, 2, "where", "What ran where", NULL);
	struct tg_buf b = TG_BUF_INIT;

	p->sheet.keys = true;
	tg_sheet_column(&p->sheet, "", false, NULL);
	tg_sheet_column(&p->sheet, "", false, NULL);
	put_attrs(t, &p->sheet, &b);
	put_when(t, &p->sheet, &b);
	put_end(t, &p->sheet, &b);
	put_machine(t, &p->sheet, &b);
	put_gpus(t, &p->sheet, &b);
	put_limits(t, &p->sheet, &b);
	put_sampling(t, &p->sheet, &b);
	p->code = tg_xstrdup("run.machine");
	tg_buf_release(&b);
}
