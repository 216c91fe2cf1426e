/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a command as if we were not there, while it is recorded. The command is in our process
 * group, with signals, terminal and descriptors as we found them; it goes on when we are killed,
 * and whatever becomes of the recorder. And recording what runs already, which is left alone.
 */
#ifndef TG_FRONT_FRONT_H
#define TG_FRONT_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct tg_front_options {
	char *const *argv; /* the command, ended by NULL; not for tg_front_attach */
	const char *name, *attrs_json; /* of its span; NULL: after the command */
	const char
		*request; /* for tg_job_request_parse, well-formed; NULL: what the job has told */
	bool stage; /* a span of another recording or nothing: none is begun */
	const char *output; /* the recording; NULL: one named after the command, in `folder` */
	const char *folder; /* NULL: the working folder */
	int64_t interval_ns; /* 0: the default */
	bool no_args; /* no command line is recorded */
	bool wait; /* until nothing that it started is left, or INT, TERM or HUP comes */
	int tty; /* where a line of progress goes while that is ours; -1: nowhere */
	void (*say)(void *ctx, const char *sentence); /* to the user */
	void *ctx;
};

struct tg_front_result {
	int code, signal; /* how the command ended: its exit status, or -1 and the signal */
	struct tg_buf file; /* the recording, closed by now; "": none */
	bool nested; /* … which is another's, and this is a span of it */
	struct tg_buf left; /* what still runs of what it started: "sleep (1234), …"; "": nothing */
};

/*
 * Run it to its end. Returns 0 with `out`, which the caller releases, also when nothing could be
 * recorded (that is said); or -errno with a sentence when the command could not be run: -ENOENT
 * where there is none. Must be called before the first thread.
 */
int tg_front_run(const struct tg_front_options *o, struct tg_front_result *out, struct tg_err *err);

/*
 * Record a process that runs, with all below it, until it ends or we are asked to end by TERM, HUP
 * or INT. Nothing below another recording: it has a file of its own. Returns 0 with `out`, where
 * how it ended is not known; or -errno with a sentence: -ESRCH where there is no such process.
 */
int tg_front_attach(const struct tg_front_options *o, pid_t pid, struct tg_front_result *out,
	struct tg_err *err);

void tg_front_result_release(struct tg_front_result *r);

#endif
