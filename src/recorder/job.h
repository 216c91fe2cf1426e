/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording of one job: its tree is sampled, its marks become spans and events, both go to the
 * output. Knows when it wants to run next; sockets, locks and the end are the recorder's business.
 */
#ifndef TG_RECORDER_JOB_H
#define TG_RECORDER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "mark/protocol.h"
#include "recorder/output.h"
#include "recorder/recorder.h"

struct tg_job;

/*
 * `o` with its defaults filled in; `state` of the output that has just been opened; `socket` is
 * what the root was told to find the recorder at.
 */
struct tg_job *tg_job_new(const struct tg_recorder_options *o, struct tg_output *output,
	const struct tg_output_state *state, const char *socket, int64_t now_ns);
void tg_job_free(struct tg_job *j);

/* A mark: begin, end, moment, note, root, root_end, set. 0, or -errno with a sentence. */
int tg_job_mark(struct tg_job *j, uint64_t client, const struct tg_mark_message *m, int64_t now_ns,
	struct tg_err *err);
/* A client's connection was closed. Its spans stay open for others as long as the root lives. */
void tg_job_client_gone(struct tg_job *j, uint64_t client, int64_t now_ns);

/*
 * Measure the tree of `root` from now on. The root before it, if nobody said that it has ended,
 * ends now, and its open cells with it. Nothing happens when `root` is the root already, and alive.
 */
void tg_job_root(struct tg_job *j, pid_t root, int64_t now_ns);
/* As far as was heard or seen: tg_job_run looks. False, too, when there is none yet. */
bool tg_job_root_lives(const struct tg_job *j);

/* Readable when the root has died; -1 when that must be asked for (tg_job_run does). */
int tg_job_fd(const struct tg_job *j);

/* When tg_job_run has something to do. */
int64_t tg_job_next(const struct tg_job *j);
void tg_job_run(struct tg_job *j, int64_t now_ns);

/* Hand everything over to the output now. */
void tg_job_flush(struct tg_job *j, int64_t now_ns);

/* Append the answer to question `n` about usage. */
void tg_job_usage(struct tg_job *j, int64_t n, struct tg_buf *out);
void tg_job_progress(struct tg_job *j, int64_t n, struct tg_buf *out);

/* Append the answer to question `n`, whether the root was killed for want of memory. */
void tg_job_oom(struct tg_job *j, int64_t n, int64_t now_ns, struct tg_buf *out);

/* The end: a last row, open spans, who is still alive; everything is handed over. */
void tg_job_finish(struct tg_job *j, int64_t now_ns);

#endif
