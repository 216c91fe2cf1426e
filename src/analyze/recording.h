/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happened in a recording: its sessions with their clocks and limits, its spans, the lives of
 * processes. Loaded once from the events; samples stay in the file and are read by series.h and
 * totals.h. Bad events are skipped and counted, never fatal.
 */
#ifndef TG_ANALYZE_RECORDING_H
#define TG_ANALYZE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "record/format.h"
#include "record/reader.h"

#define TG_NO_NUMBER (-1)

/* A value that holds from `t_ns` on. */
struct tg_step {
	int64_t t_ns;
	int64_t value;
	char *why; /* of limits; else NULL */
};

struct tg_steps {
	struct tg_step *step;
	size_t n, cap;
};

/* One run of a recorder. Monotonic stamps of one session mean nothing in another. */
struct tg_span_session {
	uint32_t number;
	char *host; /* "" when unknown */
	char *boot; /* sessions of one host and boot share a clock; NULL: unknown */
	int64_t zone_s; /* of its clock, east of UTC */
	int64_t cpus; /* of the machine, online at the beginning; 0: unknown */
	struct tg_steps clock; /* monotonic time -> what to add to get UTC */
	struct tg_steps period; /* of the sampler, ns */
	struct tg_steps missed; /* ticks that were skipped, at each moment */
	struct tg_steps gap; /* from t_ns to value no samples are stored */
	struct tg_steps cores; /* limit: thousandths of a core */
	struct tg_steps memory; /* limit: bytes */
	int64_t first_ns, last_ns; /* of samples and events; 0, 0 when there are none */
	struct tg_peaks *peaks; /* see peaks.h; NULL until they are asked for */
	struct tg_edges *edges; /* see edges.h; the same */
};

/* A process of the measured tree, as far as it was seen. */
struct tg_life {
	uint32_t session;
	uint32_t entity;
	int64_t pid, parent; /* process numbers; 0: unknown */
	int64_t birth_ns, death_ns; /* monotonic, in this order; INT64_MAX: alive at the end */
	int64_t cpu_ns; /* in all, told at its death; TG_MISSING: unknown */
	char *comm, *args; /* NULL: unknown */
	char *role; /* what an import took it for; NULL: nothing */
};

struct tg_span {
	uint64_t number; /* unique in the file */
	uint64_t parent; /* number of the span around it; 0: none */
	uint64_t run; /* number of the run it belongs to; 0: none */
	uint32_t session; /* in which it ended; its stamps are of this session's clock */
	uint32_t since_session; /* in which it began: it may have outlived a recorder */
	char *id; /* its client's name for it; NULL: unknown, as all below but kind */
	char *kind, *name, *lane, *code, *attrs;
	char *figures; /* JSON object: what it cost, as who ran it knew; see figures.h */
	char *status; /* "ok", "error", "aborted", "died", "unknown"; or as below: "running" */
	int64_t index; /* n-th of its kind in the view, from 0; TG_NO_NUMBER for runs */
	int64_t count; /* the front end's execution count; TG_NO_NUMBER: unknown */
	int64_t begin_ns, end_ns; /* monotonic */
	int64_t begin_utc_ns, end_utc_ns;
	bool open; /* no end was recorded: end_ns is that of the last sample, or of the next cell */
};

/*
 * A moment or a fact that is neither a span nor a process: mark, note, gap, limit, disk, means,
 * source, root_end.
 */
struct tg_moment {
	uint32_t session;
	int64_t t_ns, utc_ns;
	uint64_t run; /* number of the run it belongs to, see moments.h; 0: none */
	char *what; /* the event's "ev" */
	char *name; /* of marks; else NULL */
	char *json; /* all of it */
};

struct tg_recording {
	char *path;
	struct tg_reader *reader;
	struct tg_span_session *session;
	size_t n_sessions;
	struct tg_map session_at; /* their places, by number */
	struct tg_span *span; /* in order of their beginning in the file */
	size_t n_spans;
	struct tg_life *life;
	size_t n_lives;
	struct tg_map life_at; /* their places, by session and entity */
	struct tg_moment *moment;
	size_t n_moments;
	char *machine; /* JSON object of the last session's machine, or NULL */
	uint64_t n_bad; /* events that could not be understood */
	struct tg_damage damage; /* of the whole file, once that was asked for */
	bool damage_known;
};

/* Whether it ended by an error or a death. */
bool tg_span_failed(const struct tg_span *span);

/* A key for the lane of a span: a kernel runs one cell at a time in each. */
uint64_t tg_span_lane(const struct tg_span *span);

/* Load `path`. 0, or -errno with a sentence. */
int tg_recording_open(struct tg_recording **out, const char *path, struct tg_err *err);

/* The same from a reader that is open; takes it, also when it fails. */
int tg_recording_load(
	struct tg_recording **out, struct tg_reader *reader, const char *path, struct tg_err *err);
void tg_recording_close(struct tg_recording *r);

/*
 * See only the run that is span `run` and what belongs to it (a kernel sees its own cells): other
 * spans are dropped and indices counted anew. `run` < 0: the last run, when there is one.
 */
void tg_recording_only_run(struct tg_recording *r, int64_t run);

/*
 * Give the status "running" to spans without an end that seem to have none yet: nothing of their
 * kind came after them in their lane, and the recorder is at work, as far as `now_ns` (UTC) and the
 * file tell.
 */
void tg_recording_tell_running(struct tg_recording *r, int64_t now_ns);

/*
 * Whether its reader met damage by now: chunks that nobody wanted yet are not known. If so, `out`
 * says what of the whole file is lost, which is read for that at the first time alone.
 */
bool tg_recording_damage(struct tg_recording *r, struct tg_damage *out);

struct tg_span_session *tg_recording_session(const struct tg_recording *r, uint32_t number);

/* NULL when nothing is known of it. */
struct tg_life *tg_recording_life(const struct tg_recording *r, uint32_t session, uint32_t entity);

/* Free what a span holds. */
void tg_span_release(struct tg_span *span);

/* UTC in ns of a monotonic stamp. Rises with `mono_ns`, whatever was done to the clock. */
int64_t tg_session_utc(const struct tg_span_session *s, int64_t mono_ns);

/* The stamp of that session which tg_session_utc maps to `utc_ns`, or the nearest. */
int64_t tg_session_mono(const struct tg_span_session *s, int64_t utc_ns);

/* Place of the last step at or before `t_ns`, or -1. */
ptrdiff_t tg_steps_find(const struct tg_steps *steps, int64_t t_ns);

/* The value in force at `t_ns` (that of the first step when before it), or TG_MISSING. */
int64_t tg_steps_at(const struct tg_steps *steps, int64_t t_ns);

/* "#3" for cells, the row of `show`; else the name or "kind #3": what a span is called in charts.
 * One line. */
void tg_span_label(const struct tg_span *span, struct tg_buf *out);

/* Append its name, else the first line of its code, as tg_plain does; nothing without either. */
void tg_span_title(struct tg_buf *out, const struct tg_span *span, size_t max);

/* Append `s` as one line of at most `max` characters: control characters become blanks, bytes that
 * are no UTF-8 U+FFFD. */
void tg_plain(struct tg_buf *out, const char *s, size_t max);

/* Append a date as ISO 8601 in UTC with microseconds: "2026-12-01T20:58:23.092776Z". */
void tg_utc_text(struct tg_buf *out, int64_t utc_ns);

#endif
