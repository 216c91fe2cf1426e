/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the front tells the recorder: a run for the command. Below another recording of this host
 * it is a span of that one. A recorder that dies is started again, once within a minute.
 */
#ifndef TG_FRONT_MARKER_H
#define TG_FRONT_MARKER_H

#include "front/front.h"
#include "mark/mark.h"

struct tg_front_marker {
	const struct tg_front_options *o;
	struct tg_mark *mark; /* NULL: none is there */
	bool nested; /* the recorder is another's */
	char id[32]; /* of the recorder, and of our span */
	struct tg_buf output, file, address; /* asked for; told; for TACHOGRAPH_SOCKET */
	struct tg_buf name, attrs; /* of the run */
	struct tg_buf
		said; /* what the user was told of what the recorder has to say, a line each */
	pid_t root;
	int64_t begin_ns, died_ns; /* when the run began; when one died before, 0: none did */
	int64_t question;
};

/*
 * Find or name what will record a command, told by its arguments, each ended by NUL; with `own` not
 * another's recording. What stands in the way is said, and then nothing is recorded.
 */
void tg_front_marker_init(struct tg_front_marker *m, const struct tg_front_options *o,
	const char *args, size_t len, bool own);
void tg_front_marker_release(struct tg_front_marker *m);

/* The command is there, and waits: back when the recorder counts it, or after 200 ms. */
void tg_front_marker_begin(struct tg_front_marker *m, pid_t pid);

/*
 * It has ended, and was not waited for yet. Back when that was recorded, or after 500 ms. Both -1:
 * how is not known, or it has not ended.
 */
void tg_front_marker_end(struct tg_front_marker *m, int code, int signal);

/* Finish the file, and wait for that. */
void tg_front_marker_bye(struct tg_front_marker *m);

/* Ask for what is to be shown; the answer comes from tg_front_marker_hear. */
void tg_front_marker_ask(struct tg_front_marker *m);

/* To poll for reading, or -1; and take what came. Returns an answer for the caller to free, or
 * NULL.
 */
int tg_front_marker_fd(const struct tg_front_marker *m);
struct tg_json *tg_front_marker_hear(struct tg_front_marker *m);

#endif
