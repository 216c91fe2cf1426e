/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/job.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "mark/address.h"
#include "recorder/crowd.h"
#include "recorder/events.h"
#include "recorder/facts.h"
#include "recorder/gpu_helper.h"
#include "recorder/live.h"
#include "recorder/pace.h"
#include "recorder/reply.h"
#include "recorder/rows.h"
#include "recorder/watch.h"
#include "sample/sampler.h"

#include "base/mem.h"

#define FLUSH_NS      TG_NS_PER_S /* the most that a kill may cost, within spans */
#define IDLE_FLUSH_NS (10 * TG_NS_PER_S) /* and between them */
#define SLOW_NS       (10 * TG_NS_PER_S) /* clocks and limits */
#define REFRESH_NS    TG_NS_PER_S
#define EDGE_YOUNG_NS (200 * TG_NS_PER_US) /* a row that young serves an edge as well */
#define EDGES_PER_S   200
#define STATUS_NS     TG_NS_PER_S /* how long a dead root's parent may take to say how it died */
#define NEVER         INT64_MAX

struct tg_job {
	struct tg_output *output;
	const char *gpu_helper;
	struct tg_sampler *sampler;
	struct tg_rows rows;
	struct tg_events events;
	struct tg_live spans;
	struct tg_crowd crowd;
	struct tg_reply usage;
	struct tg_facts facts;
	struct tg_drift drift;
	struct tg_pace pace;
	int64_t said_period_ns; /* in the last interval event */
	struct tg_budget edges;
	struct tg_watch root;
	bool root_asked; /* to end */
	bool root_ended; /* its root_end event is written */
	bool spans_only; /* between spans, sample slowly although the root lives */
	int64_t root_dead_ns; /* when its death was seen; 0: it lives */
	int64_t interval_ns, idle_interval_ns;
	int64_t flush_ns, slow_ns, refresh_ns; /* when each is due */
};

static bool active(const struct tg_job *j)
{
	if (j->spans.n > j->spans.n_runs)
		return true;
	return !j->spans_only && (j->spans.n > 0 || tg_job_root_lives(j));
}

/* Something waits to be flushed: within `within_ns` from now. */
static void flush_within(struct tg_job *j, int64_t now, int64_t within_ns)
{
	j->flush_ns = TG_MIN(j->flush_ns, now + within_ns);
}

static void mark_event_added(struct tg_job *j, int64_t now)
{
	flush_within(j, now, FLUSH_NS);
	if (j->events.lines.len >= TG_EVENTS_FULL)
		tg_rows_flush_events(&j->rows, &j->events);
}

/* Sample at the rate that fits: spans have begun or ended, or a setting has changed. */
static void set_pace(struct tg_job *j, int64_t now)
{
	int64_t period = active(j) ? j->interval_ns : j->idle_interval_ns;

	if (period != j->pace.period_ns)
		tg_pace_set(&j->pace, now, period);
}

/* At a tick, so that spans between two ticks do not fill the file with changes to and fro. */
static void say_pace(struct tg_job *j, int64_t now)
{
	if (j->pace.period_ns == j->said_period_ns)
		return;
	tg_jw_kint(tg_events_open(&j->events, "interval", now), "ns", j->pace.period_ns);
	tg_events_close(&j->events);
	j->said_period_ns = j->pace.period_ns;
}

static void on_birth(void *ctx, const struct tg_birth *birth)
{
	struct tg_job *j = ctx;

	tg_crowd_birth(&j->crowd, &j->events, birth);
}

static void on_death(void *ctx, int64_t t_ns, uint32_t entity, pid_t pid, int64_t cpu_ns)
{
	struct tg_job *j = ctx;

	tg_crowd_death(&j->crowd, &j->events, t_ns, entity, pid, cpu_ns);
}

static void on_value(void *ctx, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value)
{
	struct tg_job *j = ctx;

	if (tg_crowd_value(&j->crowd, &j->events, t_ns, entity))
		tg_rows_value(&j->rows, t_ns, entity, field, value);
}

static void on_note(void *ctx, int64_t t_ns, const char *text)
{
	struct tg_job *j = ctx;

	tg_jw_kstr(tg_events_open(&j->events, "note", t_ns), "text", text);
	tg_events_close(&j->events);
}

static void on_disk(void *ctx, int64_t t_ns, const char *name, const char *mounts)
{
	struct tg_job *j = ctx;

	tg_facts_disk(&j->events, name, mounts, t_ns);
}

static int on_start_gpu(void *ctx)
{
	const struct tg_job *j = ctx;

	return tg_gpu_helper_start(j->gpu_helper, false);
}

static int on_start_apart(void *ctx)
{
	const struct tg_job *j = ctx;

	return tg_gpu_helper_start(j->gpu_helper, true);
}

static void read_row(struct tg_job *j, unsigned flags, int64_t now)
{
	struct tg_reading reading;

	if (!j->sampler)
		return;
	if (!(flags & TG_READ_EDGE) && now >= j->refresh_ns) {
		flags |= TG_READ_REFRESH;
		j->refresh_ns = now + REFRESH_NS - j->interval_ns / 2;
	}
	tg_sampler_read(j->sampler, flags, &reading);
	if (j->root.pid)
		tg_facts_means(&j->facts, j->sampler, &j->events, now);
	tg_rows_add(&j->rows, &reading);
	if (!(flags & TG_READ_EDGE))
		tg_reply_take(&j->usage, &reading);
	flush_within(j, now, active(j) ? FLUSH_NS : IDLE_FLUSH_NS);
	if (j->events.lines.len >= TG_EVENTS_FULL)
		tg_rows_flush_events(&j->rows, &j->events);
}

/* A row for the edge of a span, unless there is one or there are too many. */
static void edge_row(struct tg_job *j, int64_t now)
{
	if (now - j->rows.last_ns >= EDGE_YOUNG_NS && tg_budget_take(&j->edges, now, EDGES_PER_S))
		read_row(j, TG_READ_EDGE, now);
}

static void clock_event(struct tg_job *j, const struct tg_clocks *clocks)
{
	struct tg_jw *w = tg_events_open(&j->events, "clock", clocks->mono_ns);

	tg_jw_kint(w, "mono_ns", clocks->mono_ns);
	tg_jw_kint(w, "real_ns", clocks->real_ns);
	tg_jw_kint(w, "boot_ns", clocks->boot_ns);
	tg_events_close(&j->events);
	j->drift.last = *clocks;
}

/* Clocks that moved apart are said at once, a sleep of the machine as a gap, too. */
static void look_at_clocks(struct tg_job *j, bool due)
{
	struct tg_clocks clocks = tg_clocks_now();
	int64_t slept;
	unsigned found = tg_drift_check(&j->drift, &clocks, &slept);

	if (found & TG_DRIFT_SUSPEND) {
		struct tg_jw *w = tg_events_open(&j->events, "gap", clocks.mono_ns);

		tg_jw_kint(w, "from", j->rows.last_ns ? j->rows.last_ns : clocks.mono_ns);
		tg_jw_kint(w, "to", clocks.mono_ns);
		tg_jw_kint(w, "slept_ns", slept);
		tg_jw_kstr(w, "why", "the machine was suspended");
		tg_events_close(&j->events);
	}
	if (found || due)
		clock_event(j, &clocks);
}

static void look_at_limits(struct tg_job *j, int64_t now)
{
	if (j->sampler)
		tg_facts_limits(&j->facts, j->sampler, &j->events, now);
}

struct tg_job *tg_job_new(const struct tg_recorder_options *o, struct tg_output *output,
	const struct tg_output_state *state, const char *socket, int64_t now_ns)
{
	struct tg_job *j = tg_xcalloc(1, sizeof(*j));
	const char *perf = getenv("TACHOGRAPH_PERF");
	struct tg_buf mark = TG_BUF_INIT;
	struct tg_sampler_options options = {
		.root_fd = -1,
		.no_args = o->no_args,
		.no_perf = perf && !strcmp(perf, "no"),
		.first_entity = state->next_entity,
		.hooks = { .birth = on_birth,
			.death = on_death,
			.value = on_value,
			.note = on_note,
			.disk = on_disk,
			.start_gpu = o->gpu_helper ? on_start_gpu : NULL,
			.start_apart = o->gpu_helper ? on_start_apart : NULL,
			.ctx = j },
	};
	struct tg_err err = { 0 };

	j->output = output;
	j->gpu_helper = o->gpu_helper;
	tg_buf_init(&j->events.lines);
	j->spans.next = state->next_span;
	j->interval_ns = o->interval_ns;
	j->idle_interval_ns = o->idle_interval_ns;
	j->spans_only = !strcmp(o->what, "kernel");
	j->root.fd = -1;
	j->flush_ns = NEVER;
	tg_facts_init(&j->facts);
	j->slow_ns = now_ns + SLOW_NS;
	j->drift.last = tg_clocks_now();
	tg_rows_init(&j->rows, output, state->next_table);
	tg_buf_adds(&mark, TG_MARK_ENV "=");
	tg_mark_address_format(&mark, socket);
	options.mark = mark.data;
	if (tg_sampler_new(&j->sampler, &options, &err) < 0) {
		/* without a sampler marks are still worth recording */
		j->sampler = NULL;
		on_note(j, now_ns, err.text);
	}
	tg_buf_release(&mark);
	set_pace(j, now_ns);
	say_pace(j, now_ns);
	look_at_limits(j, now_ns);
	read_row(j, 0, now_ns);
	return j;
}

void tg_job_free(struct tg_job *j)
{
	if (!j)
		return;
	tg_sampler_free(j->sampler);
	tg_rows_release(&j->rows);
	tg_buf_release(&j->events.lines);
	tg_live_release(&j->spans);
	tg_crowd_release(&j->crowd);
	tg_watch_release(&j->root);
	free(j);
}

bool tg_job_root_lives(const struct tg_job *j)
{
	return j->root.pid > 0 && !j->root_dead_ns && !j->root_ended;
}

int tg_job_fd(const struct tg_job *j)
{
	return tg_job_root_lives(j) ? j->root.fd : -1;
}

/* Whether the root, which just ended, was killed for want of memory, and the sentences for that. */
static const char *tell_oom(struct tg_job *j, int64_t now, struct tg_buf *text)
{
	char why[TG_OOM_WHY] = "nothing is sampled here";
	enum tg_oom oom = j->sampler ? tg_sampler_oom(j->sampler, j->root_asked, why, sizeof(why))
				     : TG_OOM_UNKNOWN;

	tg_reply_oom_text(&j->usage, oom, why, &j->facts.limits, now, text);
	return tg_reply_oom_word(oom);
}

/*
 * The root ended: open cells died with it, and what its clients left open ends, too. Both -1:
 * nobody said how it ended, the kernel may know.
 */
static void end_root(struct tg_job *j, int exit_code, int signal, int64_t now)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_jw *w;

	if (exit_code < 0 && signal < 0)
		tg_watch_status(&j->root, &exit_code, &signal);
	edge_row(j, now);
	w = tg_events_open(&j->events, "root_end", now);
	tg_jw_kint(w, "pid", j->root.pid);
	if (signal > 0)
		tg_jw_kint(w, "signal", signal);
	else if (exit_code >= 0)
		tg_jw_kint(w, "exit", exit_code);
	if (signal == SIGKILL || exit_code == 128 + SIGKILL) { /* the latter: a shell's child */
		tg_jw_kstr(w, "oom", tell_oom(j, now, &text));
		tg_jw_kstr(w, "text", text.data);
		tg_buf_release(&text);
	}
	if (j->root_asked)
		tg_jw_kbool(w, "asked", true);
	tg_events_close(&j->events);
	tg_live_end_by_us(
		&j->spans, &j->events, TG_LIVE_CELLS, now, j->root_asked ? "aborted" : "died");
	tg_live_end_by_us(&j->spans, &j->events, TG_LIVE_ORPHANS, now, "unknown");
	j->root_ended = true;
	mark_event_added(j, now);
	set_pace(j, now);
}

void tg_job_root(struct tg_job *j, pid_t root, int64_t now_ns)
{
	if (root == j->root.pid && tg_job_root_lives(j) && !tg_watch_dead(&j->root))
		return;
	if (j->root.pid && !j->root_ended)
		end_root(j, -1, -1, now_ns);
	tg_watch_release(&j->root);
	tg_watch_init(&j->root, root);
	j->root_asked = j->root_ended = false;
	j->root_dead_ns = 0;
	tg_jw_kint(tg_events_open(&j->events, "root", now_ns), "pid", root);
	tg_events_close(&j->events);
	if (j->sampler)
		tg_sampler_set_root(j->sampler, root);
	tg_reply_forget(&j->usage);
	look_at_limits(j, now_ns);
	j->refresh_ns = 0;
	read_row(j, 0, now_ns);
	mark_event_added(j, now_ns);
	set_pace(j, now_ns);
}

static int mark_of_root(
	struct tg_job *j, const struct tg_mark_message *m, int64_t now_ns, struct tg_err *err)
{
	if (m->pid != j->root.pid || j->root_ended)
		return tg_err_set(err, -ESRCH, "process %d is not the root", (int)m->pid);
	if (m->op == TG_MARK_ROOT_ASKED)
		j->root_asked = true;
	else
		end_root(j, m->exit_code, m->signal, now_ns);
	return 0;
}

static void moment_event(struct tg_job *j, const struct tg_mark_message *m, int64_t now_ns)
{
	struct tg_jw *w = tg_events_open(
		&j->events, m->op == TG_MARK_NOTE ? "note" : "mark", m->t_ns ? m->t_ns : now_ns);

	if (m->op == TG_MARK_NOTE) {
		tg_jw_kstr(w, "text", m->text);
	} else {
		tg_jw_kstr(w, "name", m->name);
		if (m->attrs.len) {
			tg_jw_key(w, "attrs");
			tg_jw_raw(w, m->attrs.data, m->attrs.len);
		}
	}
	tg_events_close(&j->events);
}

int tg_job_mark(struct tg_job *j, uint64_t client, const struct tg_mark_message *m, int64_t now_ns,
	struct tg_err *err)
{
	int r = 0;

	if (m->edge) /* before anything else: this is what the microseconds are for */
		edge_row(j, now_ns);
	switch (m->op) {
	case TG_MARK_BEGIN:
		r = tg_live_begin(&j->spans, &j->events, client, m, now_ns, err);
		break;
	case TG_MARK_END:
		r = tg_live_end(&j->spans, &j->events, client, m, now_ns, err);
		break;
	case TG_MARK_MOMENT:
	case TG_MARK_NOTE:
		moment_event(j, m, now_ns);
		break;
	case TG_MARK_ROOT:
		tg_job_root(j, (pid_t)m->pid, now_ns);
		break;
	case TG_MARK_ROOT_ASKED:
	case TG_MARK_ROOT_END:
		r = mark_of_root(j, m, now_ns, err);
		break;
	case TG_MARK_SET:
		if (!strcmp(m->key, "interval_ns"))
			j->interval_ns = m->value;
		else
			j->idle_interval_ns = m->value;
		break;
	case TG_MARK_HELLO:
	case TG_MARK_FLUSH:
	case TG_MARK_USAGE:
	case TG_MARK_OOM:
	case TG_MARK_PROGRESS:
	case TG_MARK_BYE:
	case TG_MARK_ADOPT:
	case TG_MARK_OPS:
		return tg_err_set(err, -EINVAL, "not a mark");
	}
	set_pace(j, now_ns);
	mark_event_added(j, now_ns);
	return r;
}

void tg_job_client_gone(struct tg_job *j, uint64_t client, int64_t now_ns)
{
	tg_live_orphan(&j->spans, client);
	if (!j->root_ended)
		return;
	tg_live_end_by_us(&j->spans, &j->events, TG_LIVE_ORPHANS, now_ns, "unknown");
	set_pace(j, now_ns);
	mark_event_added(j, now_ns);
}

int64_t tg_job_next(const struct tg_job *j)
{
	int64_t next = TG_MIN(TG_MIN(j->pace.next_ns, j->flush_ns), j->slow_ns);

	if (j->root_dead_ns && !j->root_ended)
		next = TG_MIN(next, j->root_dead_ns + STATUS_NS);
	return next;
}

static void tick(struct tg_job *j, int64_t now)
{
	int64_t missed = tg_pace_tick(&j->pace, now);

	if (missed > 0) {
		tg_jw_kint(tg_events_open(&j->events, "missed", now), "n", missed);
		tg_events_close(&j->events);
	}
	say_pace(j, now);
	look_at_clocks(j, false);
	read_row(j, 0, now);
}

static void look_at_root(struct tg_job *j, int64_t now)
{
	if (tg_job_root_lives(j) && tg_watch_dead(&j->root)) {
		edge_row(j, now);
		j->root_dead_ns = now;
		set_pace(j, now);
	}
	if (j->root_dead_ns && !j->root_ended && now >= j->root_dead_ns + STATUS_NS)
		end_root(j, -1, -1, now);
}

/* Stages of a shell end with it; the row of this tick is at their end. */
static void look_at_owners(struct tg_job *j, int64_t now_ns)
{
	if (!tg_live_end_with_owners(&j->spans, &j->events, now_ns))
		return;
	set_pace(j, now_ns);
	mark_event_added(j, now_ns);
}

void tg_job_run(struct tg_job *j, int64_t now_ns)
{
	look_at_root(j, now_ns);
	if (now_ns >= j->pace.next_ns) {
		tick(j, now_ns);
		look_at_owners(j, now_ns);
	}
	if (now_ns >= j->slow_ns) {
		j->slow_ns = now_ns + SLOW_NS;
		look_at_clocks(j, true);
		look_at_limits(j, now_ns);
		if (j->sampler)
			tg_facts_sources(&j->facts, j->sampler, &j->events, false, now_ns);
	}
	if (now_ns >= j->flush_ns)
		tg_job_flush(j, now_ns);
}

void tg_job_flush(struct tg_job *j, int64_t now_ns)
{
	tg_crowd_flush(&j->crowd, &j->events, now_ns);
	tg_rows_flush(&j->rows, &j->events);
	/* what the output did not take waits for the next round */
	j->flush_ns = j->events.lines.len ? now_ns + FLUSH_NS : NEVER;
}

void tg_job_usage(struct tg_job *j, int64_t n, struct tg_buf *out)
{
	tg_reply_json(&j->usage, n, j->root.pid, &j->facts.limits, out);
}

void tg_job_progress(struct tg_job *j, int64_t n, struct tg_buf *out)
{
	tg_reply_progress(&j->usage, n, tg_live_stage(&j->spans), out);
}

void tg_job_oom(struct tg_job *j, int64_t n, int64_t now_ns, struct tg_buf *out)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "re", n);
	tg_jw_kstr(&w, "oom", tell_oom(j, now_ns, &text));
	tg_jw_kstr(&w, "text", text.data);
	tg_jw_end_object(&w);
	tg_buf_release(&text);
}

static void alive_event(void *ctx, uint32_t entity, pid_t pid, const char *comm)
{
	struct tg_job *j = ctx;
	struct tg_jw *w = tg_events_open(&j->events, "alive", tg_mono_ns());

	tg_jw_kint(w, "entity", entity);
	tg_jw_kint(w, "pid", pid);
	tg_jw_kstr(w, "comm", comm);
	tg_events_close(&j->events);
}

void tg_job_finish(struct tg_job *j, int64_t now_ns)
{
	read_row(j, TG_READ_REFRESH | TG_READ_ALL, now_ns);
	if (j->root.pid && !j->root_ended && tg_watch_dead(&j->root))
		end_root(j, -1, -1, now_ns);
	tg_live_end_by_us(&j->spans, &j->events, TG_LIVE_ALL, now_ns, "unknown");
	if (j->sampler) {
		tg_sampler_alive(j->sampler, alive_event, j);
		tg_facts_sources(&j->facts, j->sampler, &j->events, true, now_ns);
	}
	tg_job_flush(j, now_ns);
}
