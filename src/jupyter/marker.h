/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the proxy tells the recorder: a run for the user's kernel and a span for each cell. Never
 * waits. A recorder that died is started again and told what is open, with its old times and
 * "resumed" in its attributes; when it dies a second time within a minute there is one warning,
 * and no recording from then on. One that ends because its file was deleted is followed by another
 * in the same way, with a warning.
 */
#ifndef TG_JUPYTER_MARKER_H
#define TG_JUPYTER_MARKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/json.h"
#include "jupyter/request.h"
#include "jupyter/settings.h"
#include "mark/mark.h"

struct tg_marker {
	struct tg_mark *mark; /* NULL: none is there */
	bool off; /* not wanted, or given up */
	bool hide_code; /* only its hash is recorded */
	char id[24]; /* of the recorder */
	char unique[12]; /* begins the ids of our spans */
	struct tg_buf output; /* the file we ask for */
	struct tg_buf file, socket; /* what the recorder says it writes, and where it listens */
	bool greeted; /* it has said what it writes */
	struct tg_buf refusal; /* why the last recorder could not begin, or go on */
	struct tg_buf why; /* a sentence when nothing is recorded */
	struct tg_buf warning; /* lines to be shown once; the one who shows them clears it */
	struct tg_buf warned; /* the last one of the recorder's */
	struct tg_buf kernel; /* name of the user's kernel */
	struct tg_requests *requests; /* where open cells are found */
	bool told_lost; /* the user knows that cells are missing */
	uint64_t n_lost; /* marks that a recorder took into its grave, for the next one to note */
	pid_t root;
	int64_t run_ns; /* when the user's kernel began */
	int64_t interval_ns; /* 0: the default */
	int64_t died_ns; /* when one died before; 0: none did */
	int64_t again_ns; /* when the next one is started in a dead one's place */
	int64_t hello_ns; /* when we last asked who it is */
	int64_t question; /* number of the last one */
};

/*
 * Start a recorder for the kernel `id` (the same after a restart), without waiting for it. `what`
 * names the file: the notebook, or the kernel. `requests` are borrowed.
 */
void tg_marker_start(struct tg_marker *m, struct tg_requests *requests,
	const struct tg_settings *settings, const char *id, const char *what);

/* What waits for room gets 200 ms. The recorder goes on. */
void tg_marker_release(struct tg_marker *m);

/* No recording; `why` is a sentence. */
void tg_marker_off(struct tg_marker *m, const char *why);

/*
 * The user's kernel runs, and ended: exit code, or signal; "ok" or "died". Told again before the
 * end, its run goes on with another process.
 */
void tg_marker_run(struct tg_marker *m, pid_t pid, const char *kernel);
void tg_marker_run_asked(struct tg_marker *m); /* to end: however it does, it is no accident */
void tg_marker_run_end(struct tg_marker *m, int code, int signal, const char *status);

/* Begin and end of the span of a cell; times are in it. `ended` is set after the end was told. */
void tg_marker_begin(struct tg_marker *m, struct tg_request *r);
void tg_marker_end(struct tg_marker *m, struct tg_request *r);

/*
 * Start a recorder in a dead one's place when it is time to (INT64_MAX: never), and tell one that
 * listens again what waits.
 */
void tg_marker_tick(struct tg_marker *m);
int64_t tg_marker_deadline(const struct tg_marker *m);

/* The period within spans, and whether code is recorded; in force from now on. */
void tg_marker_settings(struct tg_marker *m, const struct tg_settings *s);

/* Finish the file. */
void tg_marker_bye(struct tg_marker *m);

/* To poll for reading; -1: none. */
int tg_marker_fd(const struct tg_marker *m);

/* Whether to poll for writing, too. */
bool tg_marker_waits(const struct tg_marker *m);

/* Ask for the use of the machine. Returns the number of the question, or 0 when none can be asked.
 */
int64_t tg_marker_ask_usage(struct tg_marker *m);

/*
 * The user's kernel ended by SIGKILL: append whether for want of memory, with the evidence. Asked
 * of the recorder, which has the counters of before and finds the files; waits 100 ms at most.
 */
void tg_marker_oom(struct tg_marker *m, struct tg_buf *out);

/*
 * Take one answer. Returns the number of the question with *answer for those of
 * tg_marker_ask_usage (caller frees); 0 when nothing more is there.
 */
int64_t tg_marker_answer(struct tg_marker *m, struct tg_json **answer);

/* The id of a cell's span, as the recorder was told. */
void tg_marker_span_id(const struct tg_marker *m, const struct tg_request *r, struct tg_buf *out);

/* First line of the code that is no comment, cut at 60 characters; "" when there is none. */
void tg_marker_cell_name(const char *code, size_t len, struct tg_buf *out);

#endif
