/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/write.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "import/lives.h"
#include "import/resolve.h"
#include "import/store.h"
#include "import/stream.h"
#include "import/tasks.h"
#include "import/zone.h"
#include "record/format.h"

#include "base/mem.h"

#define LEAD_NS (10 * TG_NS_PER_S) /* stamps begin at this: 0 is no stamp */

/* What is to be written of a log: some of its grids, and its processes. */
struct source {
	const struct tg_logfile *log;
	struct tg_stream stream[TG_LOG_PARTS_MAX];
	struct tg_lives lives;
	bool has_lives; /* processes that no tool before it tells of */
};

/* Logs of one tool, which follow each other. */
struct chain {
	struct source *at, *end; /* the one at hand, and behind the last one */
	bool open;
	int64_t from_ns; /* up to here those before it have told; INT64_MIN: nothing */
	int64_t last_ns; /* of what was written of all of them */
};

struct job {
	const struct tg_import *im;
	struct tg_store store;
	struct source *source;
	size_t n;
	struct chain *chain;
	size_t n_chains;
	bool has_tree; /* some process counts */
	uint32_t next_entity;
	int64_t first_ns, last_ns; /* of all that has a date */
	int64_t cpus;
	int64_t period_ns; /* the longest of all grids */
	const char *host;
	bool undated;
};

/* ---- what there is ---- */

static void extend(struct job *j, int64_t utc_ns)
{
	if (utc_ns == TG_UNKNOWN)
		return;
	j->first_ns = TG_MIN(j->first_ns, utc_ns);
	j->last_ns = TG_MAX(j->last_ns, utc_ns);
}

static void look_at(struct job *j, const struct tg_logfile *log)
{
	int64_t first, last;

	if (tg_tasks_times(log, &first, &last)) {
		extend(j, first);
		extend(j, last);
	}
	for (size_t i = 0; i < log->n_parts; i++) {
		const struct tg_readings *g = &log->part[i].grid;

		if (!g->n_ticks)
			continue;
		extend(j, g->tick[0].utc_ns);
		extend(j, g->tick[0].begin_ns);
		extend(j, g->tick[g->n_ticks - 1].utc_ns);
		j->period_ns = TG_MAX(j->period_ns, tg_resolve_period_ns(g));
	}
	for (size_t i = 0; i < log->n_stages; i++)
		extend(j, log->stage[i].utc_ns);
}

/* Only logs with dates; when there are none, those without. */
static void choose_logs(struct job *j, struct tg_buf *left_out)
{
	const struct tg_import *im = j->im;

	j->undated = true;
	for (size_t i = 0; i < im->n; i++) {
		const struct tg_logfile *log = im->log[i];

		j->undated &= !log->n_stages && (!log->n_samples || log->undated);
		if (log->cpus > 0 && !j->cpus)
			j->cpus = log->cpus;
		if (log->host[0] && !j->host)
			j->host = log->host;
	}
	for (size_t i = 0; i < im->n; i++) {
		if (im->log[i]->numbered) {
			tg_buf_addf(left_out,
				"%s is not in the recording: it has no times, which --interval "
				"could tell\n",
				im->log[i]->name);
			continue;
		}
		if (im->log[i]->undated && !j->undated) {
			tg_buf_addf(left_out,
				"%s is not in the recording: its date is not known, and that of "
				"other logs is\n",
				im->log[i]->name);
			continue;
		}
		look_at(j, im->log[i]);
		j->source[j->n++].log = im->log[i];
	}
}

/* ---- the session ---- */

static void add_tools(const struct job *j, struct tg_jw *w)
{
	tg_jw_key(w, "logs");
	tg_jw_begin_array(w);
	for (size_t i = 0; i < j->n && w->out->len < TG_SESSION_MAX / 2; i++) {
		const struct tg_logfile *log = j->source[i].log;

		tg_jw_begin_object(w);
		tg_jw_kstr(w, "name", log->name);
		tg_jw_kstr(w, "tool", log->format->tool);
		if (log->version[0])
			tg_jw_kstr(w, "version", log->version);
		if (log->format->noun)
			tg_jw_kstr(w, "noun", log->format->noun);
		tg_jw_kint(w, "samples", (int64_t)log->n_samples);
		tg_jw_kint(w, "skipped", (int64_t)log->n_skipped);
		tg_jw_end_object(w);
	}
	tg_jw_end_array(w);
}

/* The first value of a column; NaN: there is none. */
static double first_value(const struct tg_readings *g, uint32_t column)
{
	for (uint32_t i = 0; i < g->n_items; i++)
		for (uint32_t k = 0; k < g->item[i].n; k++)
			if (g->item[i].change[k].column == column)
				return g->item[i].change[k].value;
	return NAN;
}

/* The machine's memory, where a log tells it. */
static void add_memory(const struct job *j, struct tg_jw *w)
{
	for (size_t i = 0; i < j->n; i++)
		for (size_t p = 0; p < j->source[i].log->n_parts; p++) {
			const struct tg_log_part *part = &j->source[i].log->part[p];

			for (size_t k = 0; k < part->layout->n_outputs; k++) {
				const struct tg_derived *o = &part->layout->output[k];
				double v = NAN;

				if (!strcmp(o->metric.name, "node.mem_total_bytes"))
					v = first_value(&part->grid,
						    (uint32_t)__builtin_ctzll(o->plus)) *
					    o->factor;
				if (v > 0 && v < 1e18) {
					tg_jw_kint(w, "memory_bytes", (int64_t)v);
					return;
				}
			}
		}
}

static void session_json(const struct job *j, struct tg_buf *out)
{
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kstr(&w, "tool", "tachograph " TG_VERSION);
	tg_jw_kstr(&w, "host", j->host ? j->host : "");
	if (j->cpus)
		tg_jw_kint(&w, "cpus", j->cpus);
	add_memory(j, &w);
	if (!j->undated)
		tg_jw_kint(&w, "tz_offset_s", tg_zone_offset_s(j->first_ns / TG_NS_PER_S));
	tg_jw_kbool(&w, "imported", true);
	add_tools(j, &w);
	tg_jw_key(&w, "clock");
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "mono_ns", LEAD_NS);
	tg_jw_kint(&w, "real_ns", TG_MAX(j->first_ns, LEAD_NS));
	tg_jw_kint(&w, "boot_ns", LEAD_NS);
	tg_jw_end_object(&w);
	tg_jw_kstr(&w, "what", "import");
	tg_jw_end_object(&w);
}

/* ---- spans and notes ---- */

/* A stage that was begun; those of one name that have no end yet are a stack. */
struct begun {
	uint64_t span;
	size_t below; /* how many had begun with the one before it; 0: there is none */
};

struct stages {
	struct job *job;
	struct begun *begun;
	size_t n, cap;
	struct tg_map
		top; /* by the hash of a name: how many had begun with the last that is open */
	uint64_t next;
};

static uint64_t key_of(const struct tg_log_stage *stage)
{
	return tg_hash(TG_HASH_INIT, stage->name, strlen(stage->name));
}

static size_t top_of(const struct stages *s, const struct tg_log_stage *stage)
{
	ptrdiff_t at = tg_map_get(&s->top, key_of(stage));

	return at < 0 ? 0 : (size_t)at;
}

static void begin_stage(struct stages *s, const struct tg_log_stage *stage)
{
	struct tg_jw *w = tg_store_event(&s->job->store, "begin", stage->utc_ns);

	tg_jw_kint(w, "span", (int64_t)s->next);
	tg_jw_kstr(w, "kind", "stage");
	tg_jw_kstr(w, "name", stage->name);
	tg_jw_kint(w, "parent", 1);
	tg_store_event_close(&s->job->store);
	TG_GROW(s->begun, s->n + 1, s->cap);
	s->begun[s->n++] = (struct begun){ s->next++, top_of(s, stage) };
	tg_map_put(&s->top, key_of(stage), s->n);
}

/* Ends the one of that name which began last. */
static void end_stage(struct stages *s, const struct tg_log_stage *stage)
{
	size_t top = top_of(s, stage);
	struct tg_jw *w;

	if (!top)
		return;
	w = tg_store_event(&s->job->store, "end", stage->utc_ns);
	tg_jw_kint(w, "span", (int64_t)s->begun[top - 1].span);
	tg_jw_kstr(w, "status", "ok");
	tg_store_event_close(&s->job->store);
	tg_map_put(&s->top, key_of(stage), s->begun[top - 1].below);
}

static void say_stages(struct job *j)
{
	struct stages s = { .job = j, .next = 2 };

	for (size_t i = 0; i < j->n; i++)
		for (size_t k = 0; k < j->source[i].log->n_stages; k++) {
			const struct tg_log_stage *stage = &j->source[i].log->stage[k];

			if (stage->begin)
				begin_stage(&s, stage);
			else
				end_stage(&s, stage);
		}
	for (size_t i = 0; i < j->n; i++)
		tg_tasks_write(&j->store, j->source[i].log, &s.next);
	free(s.begun);
	tg_map_release(&s.top);
}

static void say_note(struct job *j, const char *name, const char *text)
{
	struct tg_buf note = TG_BUF_INIT;
	struct tg_jw *w = tg_store_event(&j->store, "note", j->first_ns);

	tg_buf_addf(&note, "%s: %s", name, text);
	tg_jw_kstr(w, "text", note.data);
	tg_store_event_close(&j->store);
	tg_buf_release(&note);
}

static void say_disk(struct job *j, const struct tg_log_disk *disk)
{
	struct tg_jw *w = tg_store_event(&j->store, "disk", j->first_ns);

	tg_jw_kstr(w, "name", disk->name);
	tg_jw_key(w, "mounts");
	tg_jw_begin_array(w);
	for (size_t i = 0; i < disk->n; i++)
		tg_jw_str(w, disk->mount[i]);
	tg_jw_end_array(w);
	tg_store_event_close(&j->store);
}

static void say_facts(struct job *j, const struct source *s)
{
	const struct tg_logfile *log = s->log;
	struct tg_jw *w;

	for (size_t i = 0; i < log->n_notes; i++)
		say_note(j, log->name, log->note[i]);
	for (size_t i = 0; i < log->n_disks; i++)
		say_disk(j, &log->disk[i]);
	if (!s->has_lives || !j->has_tree)
		return;
	w = tg_store_event(&j->store, "means", j->first_ns);
	tg_jw_kstr(w, "what", "tree.cpu_ns");
	tg_jw_kstr(w, "by", "processes");
	tg_jw_kstr(w, "why",
		"from the CPU time of processes in a log, or their %CPU where that is too coarse; "
		"what lived between two samples is not in it");
	tg_store_event_close(&j->store);
}

static void begin_run(struct job *j, const char *name)
{
	struct tg_jw *w = tg_store_event(&j->store, "begin", j->first_ns);

	tg_jw_kint(w, "span", 1);
	tg_jw_kstr(w, "kind", "run");
	tg_jw_kstr(w, "name", name);
	tg_store_event_close(&j->store);
	for (size_t i = 0; i < j->n; i++)
		say_facts(j, &j->source[i]);
	say_stages(j);
	tg_store_flush(&j->store);
}

/* What all tasks cost, where there are no samples that tell it. */
static void put_figures(const struct job *j, struct tg_jw *w)
{
	double sum[TG_TASK_FIGURES] = { 0 };
	size_t tasks = 0;

	for (size_t i = 0; i < j->n; i++) {
		if (j->source[i].log->n_parts)
			return;
		tasks += j->source[i].log->n_tasks;
		tg_tasks_add_up(j->source[i].log, sum);
	}
	if (tasks)
		tg_tasks_put_figures(w, sum);
}

static void end_run(struct job *j)
{
	struct tg_jw *w = tg_store_event(&j->store, "end", j->last_ns);

	tg_jw_kint(w, "span", 1);
	tg_jw_kstr(w, "status", "unknown");
	put_figures(j, w);
	tg_store_event_close(&j->store);
	tg_store_flush(&j->store);
}

/* ---- samples ---- */

/* Outputs of a part that no tool before this one tells. */
static uint64_t wanted_of(
	const struct job *j, const struct tg_logfile *log, const struct tg_log_part *part)
{
	uint64_t outputs = tg_stream_outputs(part, j->cpus), wanted = outputs;

	for (size_t a = 0; a < part->layout->n_outputs && j->has_tree; a++)
		if (tg_lives_tell(part->layout->output[a].metric.name))
			wanted &= ~(UINT64_C(1) << a);
	for (size_t i = 0; i < j->n; i++) {
		const struct tg_logfile *other = j->source[i].log;

		if (!strcmp(other->format->tool, log->format->tool))
			break; /* its own logs, and those of tools that come later */
		for (size_t p = 0; p < other->n_parts; p++) {
			uint64_t its = tg_stream_outputs(&other->part[p], j->cpus);

			for (size_t a = 0; a < part->layout->n_outputs; a++)
				for (size_t b = 0; b < other->part[p].layout->n_outputs; b++)
					if ((its >> b & 1) &&
						!strcmp(part->layout->output[a].metric.name,
							other->part[p]
								.layout->output[b]
								.metric.name))
						wanted &= ~(UINT64_C(1) << a);
		}
	}
	return wanted;
}

static void open_source(struct job *j, struct chain *c)
{
	struct source *s = c->at;

	for (size_t p = 0; p < s->log->n_parts; p++)
		tg_stream_begin(&s->stream[p], &j->store, s->log, &s->log->part[p], j->cpus,
			wanted_of(j, s->log, &s->log->part[p]));
	if (s->has_lives)
		tg_lives_begin(&s->lives, &j->store, s->log, j->cpus, j->next_entity, j->has_tree);
	c->from_ns = c->last_ns;
	c->open = true;
}

/* The next of its chain comes to hand. */
static void close_source(struct job *j, struct chain *c)
{
	struct source *s = c->at++;

	for (size_t p = 0; p < s->log->n_parts; p++)
		tg_stream_end(&s->stream[p]);
	if (s->has_lives) {
		j->next_entity = s->lives.next_entity;
		tg_lives_end(&s->lives);
	}
	c->open = false;
}

/* When its next tick is, of whichever log; INT64_MAX: all of it is written. */
static int64_t next_of(struct job *j, struct chain *c)
{
	for (; c->at < c->end; close_source(j, c)) {
		const struct source *s = c->at;
		int64_t next;

		if (!c->open)
			open_source(j, c);
		next = s->has_lives ? tg_lives_next_ns(&s->lives) : INT64_MAX;
		for (size_t p = 0; p < s->log->n_parts; p++)
			next = TG_MIN(next, tg_stream_next_ns(&s->stream[p]));
		if (next != INT64_MAX)
			return next;
	}
	return INT64_MAX;
}

/* Write all ticks of that moment. */
static void write_ticks(struct chain *c, int64_t utc_ns)
{
	struct source *s = c->at;

	for (size_t p = 0; p < s->log->n_parts; p++)
		while (tg_stream_next_ns(&s->stream[p]) == utc_ns)
			tg_stream_tick(&s->stream[p], c->from_ns);
	while (s->has_lives && tg_lives_next_ns(&s->lives) == utc_ns)
		tg_lives_tick(&s->lives, c->from_ns);
	c->last_ns = TG_MAX(c->last_ns, utc_ns);
}

static void say_gap(struct job *j, int64_t from_ns, int64_t to_ns)
{
	struct tg_jw *w = tg_store_event(&j->store, "gap", to_ns);

	tg_jw_kint(w, "from", tg_store_stamp(&j->store, from_ns));
	tg_jw_kint(w, "to", tg_store_stamp(&j->store, to_ns));
	tg_jw_kstr(w, "why", "no log has samples of this time");
	tg_store_event_close(&j->store);
}

/* The chain whose tick comes next; NULL: all are written. */
static struct chain *next_chain(struct job *j, int64_t *utc_ns)
{
	struct chain *found = NULL;

	*utc_ns = INT64_MAX;
	for (size_t i = 0; i < j->n_chains; i++) {
		int64_t next = next_of(j, &j->chain[i]);

		if (next < *utc_ns) {
			*utc_ns = next;
			found = &j->chain[i];
		}
	}
	return found;
}

static void write_samples(struct job *j)
{
	int64_t utc, before = INT64_MIN;
	struct chain *c;

	while ((c = next_chain(j, &utc)) && !j->store.error) {
		if (before != INT64_MIN && (utc - before) / 3 > TG_MAX(j->period_ns, TG_NS_PER_S))
			say_gap(j, before, utc);
		write_ticks(c, utc);
		before = utc;
	}
	for (size_t i = 0; i < j->n_chains; i++)
		if (j->chain[i].open)
			close_source(j, &j->chain[i]);
}

/* Logs of a tool follow each other; processes are told by the first tool that tells of any. */
static void chain_sources(struct job *j)
{
	const char *teller = NULL;

	for (size_t i = 0; i < j->n; i++) {
		struct source *s = &j->source[i];
		const char *tool = s->log->format->tool;

		if (!i || strcmp(tool, s[-1].log->format->tool) != 0)
			j->chain[j->n_chains++] = (struct chain){
				.at = s, .from_ns = INT64_MIN, .last_ns = INT64_MIN
			};
		j->chain[j->n_chains - 1].end = s + 1;
		if (s->log->has_processes && !teller)
			teller = tool;
		s->has_lives = s->log->has_processes && !strcmp(teller, tool);
		j->has_tree |= s->has_lives && s->log->processes.counted;
	}
}

static int write_all(struct job *j, const char *path, const char *name, struct tg_err *err)
{
	struct tg_buf session = TG_BUF_INIT;
	struct tg_writer *writer;
	int r;

	session_json(j, &session);
	r = tg_writer_open(&writer, path, session.data, err);
	tg_buf_release(&session);
	if (r < 0)
		return r;
	tg_store_init(&j->store, writer, TG_MAX(j->first_ns, LEAD_NS) - LEAD_NS);
	begin_run(j, name);
	write_samples(j);
	end_run(j);
	r = j->store.error;
	tg_store_release(&j->store);
	if (r < 0)
		tg_writer_abandon(writer);
	else
		r = tg_writer_finish(writer);
	if (r < 0) {
		unlink(path);
		tg_err_set(err, r, "cannot write %.150s: %s", path, strerror(-r));
	}
	return r;
}

int tg_import_write(const struct tg_import *im, const char *path, const char *name,
	struct tg_buf *left_out, struct tg_err *err)
{
	struct job j = { .im = im, .first_ns = INT64_MAX, .last_ns = INT64_MIN, .next_entity = 1 };
	int r;

	if (access(path, F_OK) == 0)
		return tg_err_set(err, -EEXIST,
			"%.150s exists already, and recordings are not written over", path);
	j.source = tg_xcalloc(im->n + 1, sizeof(*j.source));
	j.chain = tg_xcalloc(im->n + 1, sizeof(*j.chain));
	choose_logs(&j, left_out);
	chain_sources(&j);
	if (j.first_ns > j.last_ns)
		r = tg_err_set(
			err, -ENODATA, "there is no sample in these logs: nothing to record");
	else
		r = write_all(&j, path, name, err);
	free(j.source);
	free(j.chain);
	return r;
}
