/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/recording.h"

#include <errno.h>
#include <math.h>

#include "analyze/edges.h"
#include "analyze/moments.h"
#include "analyze/peaks.h"
#include "analyze/resumed.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "record/format.h"

#include "base/mem.h"

#define AGAIN         (UINT64_C(1) << 63) /* numbers that the file cannot have */
#define CLOCK_STEP_NS (100 * TG_NS_PER_MS) /* smaller differences are drift, not steps */

/*
 * While loading: the lists with their capacities; where a span is by its number, and by the number
 * that the file means at this place.
 */
struct load {
	struct tg_recording *r;
	size_t cap_spans, cap_lives, cap_moments;
	struct tg_map spans, meant;
};

static void steps_add(struct tg_steps *s, int64_t t_ns, int64_t value, const char *why)
{
	TG_GROW(s->step, s->n + 1, s->cap);
	s->step[s->n++] = (struct tg_step){ t_ns, value, why ? tg_xstrdup(why) : NULL };
}

static void steps_release(struct tg_steps *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->step[i].why);
	free(s->step);
}

struct tg_span_session *tg_recording_session(const struct tg_recording *r, uint32_t number)
{
	ptrdiff_t at = tg_map_get(&r->session_at, number);

	return at >= 0 ? &r->session[at] : NULL;
}

/*
 * A clock reading. Small differences are slewing, and a step backwards would make time run
 * backwards in every chart: both keep the old offset. A jump forward is a suspend or a set clock.
 */
static void add_clock(struct tg_span_session *s, int64_t mono_ns, int64_t real_ns)
{
	const struct tg_step *last = s->clock.n ? &s->clock.step[s->clock.n - 1] : NULL;

	if (mono_ns < 0 || mono_ns > TG_TIME_MAX || real_ns < mono_ns || real_ns > 2 * TG_TIME_MAX)
		return;
	if (last && (mono_ns < last->t_ns || real_ns - mono_ns - last->value < CLOCK_STEP_NS))
		return;
	steps_add(&s->clock, mono_ns, real_ns - mono_ns, NULL);
}

struct tg_life *tg_recording_life(const struct tg_recording *r, uint32_t session, uint32_t entity)
{
	ptrdiff_t at = tg_map_get(&r->life_at, (uint64_t)session << 32 | entity);

	return at >= 0 ? &r->life[at] : NULL;
}

static struct tg_span *find_span(const struct load *l, const struct tg_map *by, uint64_t number)
{
	ptrdiff_t at = tg_map_get(by, number);

	return at >= 0 ? &l->r->span[at] : NULL;
}

static struct tg_span *meant_by(const struct load *l, int64_t number)
{
	return number > 0 ? find_span(l, &l->meant, (uint64_t)number) : NULL;
}

static char *dup_str(const struct tg_json *v)
{
	const char *s = tg_json_str(v, NULL);

	return s ? tg_xstrdup(s) : NULL;
}

static char *dup_json(const struct tg_json *v)
{
	struct tg_buf b = TG_BUF_INIT;

	if (!tg_json_is_object(v))
		return NULL;
	tg_json_dump(v, &b);
	return tg_buf_detach(&b);
}

static bool on_begin(struct load *l, struct tg_span_session *s, const struct tg_json *v, int64_t t)
{
	struct tg_recording *r = l->r;
	int64_t number = tg_json_int(tg_json_get(v, "span"), TG_NO_NUMBER);
	const char *kind = tg_json_str(tg_json_get(v, "kind"), NULL);
	int64_t parent = tg_json_int(tg_json_get(v, "parent"), 0);
	struct tg_span *span = meant_by(l, number);
	const struct tg_span *up = meant_by(l, parent);
	uint64_t own = (uint64_t)number, above = parent > 0 ? (uint64_t)parent : 0;

	if (number <= 0 || !kind || (span && span->session == s->number))
		return false;
	if (span) /* used twice, as after a loss: from here on the number means this one */
		own = AGAIN + r->n_spans;
	if (up)
		above = up->number;
	TG_GROW(r->span, r->n_spans + 1, l->cap_spans);
	span = &r->span[r->n_spans];
	*span = (struct tg_span){
		.number = own,
		.parent = above,
		.session = s->number,
		.since_session = s->number,
		.id = dup_str(tg_json_get(v, "id")),
		.kind = tg_xstrdup(kind),
		.name = dup_str(tg_json_get(v, "name")),
		.lane = dup_str(tg_json_get(v, "lane")),
		.code = dup_str(tg_json_get(v, "code")),
		.attrs = dup_json(tg_json_get(v, "attrs")),
		.status = tg_xstrdup("unknown"),
		.index = TG_NO_NUMBER,
		.count = tg_json_int(tg_json_get(v, "count"), TG_NO_NUMBER),
		.begin_ns = t,
		.end_ns = t,
		.open = true,
	};
	tg_map_put(&l->spans, own, r->n_spans);
	tg_map_put(&l->meant, (uint64_t)number, r->n_spans++);
	return true;
}

static bool on_end(struct load *l, struct tg_span_session *s, const struct tg_json *v, int64_t t)
{
	int64_t number = tg_json_int(tg_json_get(v, "span"), TG_NO_NUMBER);
	const char *status = tg_json_str(tg_json_get(v, "status"), NULL);
	struct tg_span *span = meant_by(l, number);

	if (!span || !span->open) /* its beginning is lost: nothing is known of it */
		return false;
	if (span->session != s->number) {
		const struct tg_span_session *own = tg_recording_session(l->r, span->session);

		t = own ? tg_session_mono(own, tg_session_utc(s, t)) : span->begin_ns;
	}
	span->open = false;
	span->end_ns = TG_MAX(t, span->begin_ns);
	if (status) {
		free(span->status);
		span->status = tg_xstrdup(status);
	}
	if (tg_json_is_object(tg_json_get(v, "attrs")) && !span->attrs)
		span->attrs = dup_json(tg_json_get(v, "attrs"));
	span->figures = dup_json(tg_json_get(v, "figures"));
	return true;
}

static bool on_birth(struct load *l, struct tg_span_session *s, const struct tg_json *v, int64_t t)
{
	struct tg_recording *r = l->r;
	int64_t entity = tg_json_int(tg_json_get(v, "entity"), -1);
	struct tg_life *life;

	if (entity < 0 || entity > UINT32_MAX)
		return false;
	/* said again when exec gave it another name, or its arguments came late */
	life = tg_recording_life(l->r, s->number, (uint32_t)entity);
	if (life) {
		free(life->comm);
		free(life->args);
		free(life->role);
		life->role = dup_str(tg_json_get(v, "role"));
		life->comm = dup_str(tg_json_get(v, "comm"));
		life->args = dup_str(tg_json_get(v, "args"));
		return true;
	}
	TG_GROW(r->life, r->n_lives + 1, l->cap_lives);
	r->life[r->n_lives] = (struct tg_life){
		.session = s->number,
		.entity = (uint32_t)entity,
		.pid = tg_json_int(tg_json_get(v, "pid"), 0),
		.parent = tg_json_int(tg_json_get(v, "ppid"), 0),
		.birth_ns = t,
		.death_ns = INT64_MAX,
		.cpu_ns = TG_MISSING,
		.comm = dup_str(tg_json_get(v, "comm")),
		.args = dup_str(tg_json_get(v, "args")),
		.role = dup_str(tg_json_get(v, "role")),
	};
	tg_map_put(&r->life_at, (uint64_t)s->number << 32 | (uint64_t)entity, r->n_lives++);
	return true;
}

static bool on_death(struct load *l, struct tg_span_session *s, const struct tg_json *v, int64_t t)
{
	int64_t entity = tg_json_int(tg_json_get(v, "entity"), -1);
	struct tg_life *life = entity >= 0 && entity <= UINT32_MAX
				       ? tg_recording_life(l->r, s->number, (uint32_t)entity)
				       : NULL;

	if (!life)
		return false;
	life->death_ns = TG_MAX(t, life->birth_ns);
	life->cpu_ns = tg_json_int(tg_json_get(v, "cpu_ns"), TG_MISSING);
	return true;
}

static void add_moment(struct load *l, struct tg_span_session *s, int64_t t, const char *what,
	const char *name, const char *json)
{
	struct tg_recording *r = l->r;

	TG_GROW(r->moment, r->n_moments + 1, l->cap_moments);
	r->moment[r->n_moments++] = (struct tg_moment){
		.session = s->number,
		.t_ns = t,
		.what = tg_xstrdup(what),
		.name = name ? tg_xstrdup(name) : NULL,
		.json = tg_xstrdup(json),
	};
}

/* {"ev":"limit","t":81234,"what":"cores","value":2,"why":"affinity"} */
static bool on_limit(struct tg_span_session *s, const struct tg_json *v, int64_t t)
{
	const char *what = tg_json_str(tg_json_get(v, "what"), "");
	double value = tg_json_num(tg_json_get(v, "value"), NAN);
	const char *why = tg_json_str(tg_json_get(v, "why"), "");
	bool known = value >= 0 && value < 9e15; /* null: unknown from here on */

	if (!strcmp(what, "cores"))
		steps_add(&s->cores, t, known ? (int64_t)(value * 1000 + 0.5) : TG_MISSING, why);
	else if (!strcmp(what, "memory_bytes"))
		steps_add(&s->memory, t, known ? (int64_t)value : TG_MISSING, why);
	return true;
}

/* A member that is a time, or `otherwise`. */
static int64_t stamp(const struct tg_json *v, const char *key, int64_t otherwise)
{
	int64_t t = tg_json_int(tg_json_get(v, key), otherwise);

	return t >= 0 && t <= TG_TIME_MAX ? t : otherwise;
}

static bool take_event(
	struct load *l, struct tg_span_session *s, const struct tg_json *v, const char *json)
{
	const char *ev = tg_json_str(tg_json_get(v, "ev"), "");
	const char *name = NULL;
	int64_t t = tg_json_int(tg_json_get(v, "t"), TG_MISSING);
	bool ok = true, keep = false;

	if (t < 0 || t > TG_TIME_MAX)
		return false;
	if (!strcmp(ev, "begin"))
		ok = on_begin(l, s, v, t);
	else if (!strcmp(ev, "end"))
		ok = on_end(l, s, v, t);
	else if (!strcmp(ev, "birth"))
		ok = on_birth(l, s, v, t);
	else if (!strcmp(ev, "death"))
		ok = on_death(l, s, v, t);
	else if (!strcmp(ev, "clock"))
		add_clock(s, tg_json_int(tg_json_get(v, "mono_ns"), t),
			tg_json_int(tg_json_get(v, "real_ns"), INT64_MIN));
	else if (!strcmp(ev, "interval"))
		steps_add(&s->period, t, stamp(v, "ns", 0), NULL);
	else if (!strcmp(ev, "missed"))
		steps_add(&s->missed, t, TG_MIN(stamp(v, "n", 0), INT64_C(1) << 40), NULL);
	else if (!strcmp(ev, "limit"))
		keep = ok = on_limit(s, v, t);
	else if (!strcmp(ev, "gap")) {
		steps_add(&s->gap, stamp(v, "from", t), stamp(v, "to", t), NULL);
		keep = true;
	} else if (!strcmp(ev, "mark")) {
		name = tg_json_str(tg_json_get(v, "name"), NULL);
		keep = ok = name != NULL;
	} else if (!strcmp(ev, "note") || !strcmp(ev, "root_end") || !strcmp(ev, "disk") ||
		   !strcmp(ev, "means") || !strcmp(ev, "source"))
		keep = true;
	if (ok && t > 0) {
		s->first_ns = s->first_ns ? TG_MIN(s->first_ns, t) : t;
		s->last_ns = TG_MAX(s->last_ns, t);
	}
	if (keep)
		add_moment(l, s, t, ev, name, json);
	return ok;
}

static int each_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	struct load *l = ctx;
	struct tg_span_session *s = tg_recording_session(l->r, session);
	struct tg_json *v = s ? tg_json_parse(json, len, NULL) : NULL;

	if (!v || !take_event(l, s, v, json))
		l->r->n_bad++;
	tg_json_free(v);
	return 0;
}

/* ---- sessions ---- */

/* What a session chunk says of the machine, as one object; NULL when it says nothing. */
static char *machine_of(const struct tg_json *session)
{
	static const char *const key[] = { "host", "machine", "kernel", "cpu_model", "cpus",
		"imported", "logs", "memory_bytes", "cgroup" };
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;
	bool some = false;

	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	for (size_t i = 0; i < TG_ARRAY_SIZE(key); i++) {
		const struct tg_json *v = tg_json_get(session, key[i]);
		struct tg_buf value = TG_BUF_INIT;

		if (!v)
			continue;
		tg_json_dump(v, &value);
		tg_jw_key(&w, key[i]);
		tg_jw_raw(&w, value.data, value.len);
		tg_buf_release(&value);
		some = true;
	}
	tg_jw_end_object(&w);
	if (some)
		return tg_buf_detach(&out);
	tg_buf_release(&out);
	return NULL;
}

static void load_session(struct tg_recording *r, size_t i, const struct tg_session *from)
{
	struct tg_span_session *s = &r->session[i];
	struct tg_json *v = tg_json_parse(from->json, strlen(from->json), NULL);
	const struct tg_json *clock = tg_json_get(v, "clock");
	char *machine = machine_of(v);

	*s = (struct tg_span_session){ .number = from->number };
	tg_map_put(&r->session_at, s->number, i);
	s->boot = dup_str(tg_json_get(v, "boot_id"));
	s->host = dup_str(tg_json_get(v, "host"));
	if (!s->host)
		s->host = tg_xstrdup("");
	s->zone_s = tg_json_int(tg_json_get(v, "tz_offset_s"), 0);
	if (s->zone_s < -86400 || s->zone_s > 86400)
		s->zone_s = 0;
	s->cpus = TG_MAX(tg_json_int(tg_json_get(v, "cpus"), 0), 0);
	if (clock)
		add_clock(s, tg_json_int(tg_json_get(clock, "mono_ns"), 0),
			tg_json_int(tg_json_get(clock, "real_ns"), INT64_MIN));
	if (machine) {
		free(r->machine);
		r->machine = machine;
	}
	tg_json_free(v);
}

static void load_sessions(struct tg_recording *r)
{
	const struct tg_session *session = tg_reader_sessions(r->reader, &r->n_sessions);
	const struct tg_table *table;
	size_t n;

	r->session = tg_xcalloc(r->n_sessions + 1, sizeof(*r->session));
	for (size_t i = 0; i < r->n_sessions; i++)
		load_session(r, i, &session[i]);
	table = tg_reader_tables(r->reader, &n);
	for (size_t i = 0; i < n; i++) {
		struct tg_span_session *s = tg_recording_session(r, table[i].session);

		if (!s || !table[i].last_ns)
			continue;
		s->first_ns =
			s->first_ns ? TG_MIN(s->first_ns, table[i].first_ns) : table[i].first_ns;
		s->last_ns = TG_MAX(s->last_ns, table[i].last_ns);
	}
}

void tg_span_release(struct tg_span *span)
{
	free(span->id);
	free(span->kind);
	free(span->name);
	free(span->lane);
	free(span->code);
	free(span->attrs);
	free(span->figures);
	free(span->status);
}

/* ---- after the events ---- */

bool tg_span_failed(const struct tg_span *span)
{
	return !strcmp(span->status, "error") || !strcmp(span->status, "died");
}

uint64_t tg_span_lane(const struct tg_span *span)
{
	return span->lane ? tg_hash(TG_HASH_INIT, span->lane, strlen(span->lane)) : TG_HASH_INIT;
}

/*
 * The recorder died, or is still at work: what is open lasts to the last thing that is known. A
 * kernel runs one cell at a time in each lane, so a cell whose end is lost lasts no longer than to
 * the next one there, or to the next kernel's beginning.
 */
static void close_open(struct tg_recording *r)
{
	struct tg_map next = TG_MAP_INIT; /* cells, by lane */
	ptrdiff_t run = -1;

	for (size_t i = r->n_spans; i-- > 0;) {
		struct tg_span *span = &r->span[i];
		const struct tg_span_session *s = tg_recording_session(r, span->session);
		bool cell = !strcmp(span->kind, "cell");
		ptrdiff_t at = cell ? tg_map_get(&next, tg_span_lane(span)) : -1;

		if (cell && at < 0)
			at = run;
		if (span->open && s) {
			span->end_ns = TG_MAX(span->begin_ns, s->last_ns);
			if (at >= 0 && r->span[at].session == span->session)
				span->end_ns = TG_MIN(
					span->end_ns, TG_MAX(r->span[at].begin_ns, span->begin_ns));
		}
		if (cell)
			tg_map_put(&next, tg_span_lane(span), i);
		if (!strcmp(span->kind, "run")) {
			tg_map_release(&next);
			run = (ptrdiff_t)i;
		}
	}
	tg_map_release(&next);
}

/* A span belongs to the run around it; where that is not said, to the run that began last. */
static void find_runs(struct load *l)
{
	uint64_t last = 0;

	for (size_t i = 0; i < l->r->n_spans; i++) {
		struct tg_span *span = &l->r->span[i], *up = span;

		/* parents may form a ring in a damaged file */
		for (int depth = 0; depth < 64; depth++) {
			if (!strcmp(up->kind, "run")) {
				span->run = up->number;
				break;
			}
			up = up->parent ? find_span(l, &l->spans, up->parent) : NULL;
			/* a number of a later session is not the one that was meant */
			if (!up || up->session > span->session)
				break;
		}
		if (!strcmp(span->kind, "run"))
			last = span->number;
		else if (!span->run)
			span->run = last;
	}
}

/* Kinds are few; what comes beyond these is counted together. */
static void count_indices(struct tg_recording *r)
{
	static const char *const kind[] = { "cell", "stage", "task", "block", "region" };
	int64_t n[TG_ARRAY_SIZE(kind) + 1] = { 0 };

	for (size_t i = 0; i < r->n_spans; i++) {
		size_t k = 0;

		if (!strcmp(r->span[i].kind, "run"))
			continue;
		while (k < TG_ARRAY_SIZE(kind) && strcmp(r->span[i].kind, kind[k]) != 0)
			k++;
		r->span[i].index = n[k]++;
	}
}

static void date_all(struct tg_recording *r)
{
	for (size_t i = 0; i < r->n_spans; i++) {
		const struct tg_span_session *s = tg_recording_session(r, r->span[i].session);

		r->span[i].begin_utc_ns = tg_session_utc(s, r->span[i].begin_ns);
		r->span[i].end_utc_ns = tg_session_utc(s, r->span[i].end_ns);
	}
	for (size_t i = 0; i < r->n_moments; i++)
		r->moment[i].utc_ns = tg_session_utc(
			tg_recording_session(r, r->moment[i].session), r->moment[i].t_ns);
}

int tg_recording_load(
	struct tg_recording **out, struct tg_reader *reader, const char *path, struct tg_err *err)
{
	struct tg_recording *r = tg_xcalloc(1, sizeof(*r));
	struct load l = { .r = r };
	int rc;

	*out = NULL;
	r->reader = reader;
	r->path = tg_xstrdup(path);
	load_sessions(r);
	rc = tg_reader_events(reader, each_event, &l);
	if (rc < 0) {
		tg_err_set(err, rc, "%s: %s", path, strerror(-rc));
		tg_map_release(&l.spans);
		tg_map_release(&l.meant);
		tg_recording_close(r);
		return rc;
	}
	close_open(r);
	find_runs(&l);
	tg_moments_find_runs(r);
	tg_resumed_join(r, &l.spans);
	count_indices(r);
	date_all(r);
	tg_map_release(&l.spans);
	tg_map_release(&l.meant);
	*out = r;
	return 0;
}

int tg_recording_open(struct tg_recording **out, const char *path, struct tg_err *err)
{
	struct tg_reader *reader;
	int rc = tg_reader_open(&reader, path, err);

	*out = NULL;
	return rc < 0 ? rc : tg_recording_load(out, reader, path, err);
}

void tg_recording_close(struct tg_recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_sessions; i++) {
		struct tg_span_session *s = &r->session[i];

		free(s->host);
		free(s->boot);
		steps_release(&s->clock);
		steps_release(&s->period);
		steps_release(&s->missed);
		steps_release(&s->gap);
		steps_release(&s->cores);
		steps_release(&s->memory);
		tg_peaks_free(s->peaks);
		tg_edges_free(s->edges);
	}
	for (size_t i = 0; i < r->n_lives; i++) {
		free(r->life[i].comm);
		free(r->life[i].args);
		free(r->life[i].role);
	}
	for (size_t i = 0; i < r->n_spans; i++)
		tg_span_release(&r->span[i]);
	for (size_t i = 0; i < r->n_moments; i++) {
		free(r->moment[i].what);
		free(r->moment[i].name);
		free(r->moment[i].json);
	}
	free(r->session);
	tg_map_release(&r->session_at);
	tg_map_release(&r->life_at);
	free(r->span);
	free(r->life);
	free(r->moment);
	free(r->machine);
	free(r->path);
	tg_reader_close(r->reader);
	free(r);
}

void tg_recording_only_run(struct tg_recording *r, int64_t run)
{
	uint64_t number = run < 0 ? 0 : (uint64_t)run; /* no span has 0 */
	size_t n = 0;

	for (size_t i = 0; run < 0 && i < r->n_spans; i++)
		if (!strcmp(r->span[i].kind, "run"))
			number = r->span[i].number;
	if (run < 0 && !number)
		return;
	for (size_t i = 0; i < r->n_spans; i++) {
		if (r->span[i].run == number)
			r->span[n++] = r->span[i];
		else
			tg_span_release(&r->span[i]);
	}
	r->n_spans = n;
	count_indices(r);
}
