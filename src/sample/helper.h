/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that asks a driver in our place, as one that hangs or crashes takes along who asks it.
 * This is its life, whatever it is asked: it gets a question, one at a time, and answers with
 * packets over a socketpair. One that dies, is silent for 5 s (30 s at first: a machine under load
 * starts a process late, and a driver that was not in use takes long to wake up) or says more than
 * it was asked is ended, by closing its socket, and replaced, two times in all. People are told by
 * a note. Nothing here blocks.
 */
#ifndef TG_SAMPLE_HELPER_H
#define TG_SAMPLE_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/source.h"

#define TG_HELPER_SILENT_NS (5 * TG_NS_PER_S)

/* Answers that are in time may be so far apart as to be silent: three of these are a gap. */
#define TG_HELPER_LATE_NS (TG_HELPER_SILENT_NS / 3)

struct tg_helper {
	const char *source; /* whose values are missing without it */
	int fd; /* our end of its socket; -1: there is none */
	unsigned starts;
	bool answered; /* this one, once */
	int64_t retry_ns; /* when the next may be started */
	int64_t waits_ns; /* since when for the next packet of an answer; 0: nothing is asked */
	size_t left; /* packets that the answer may have yet */
	int64_t cpu_ns; /* of this one, as heard */
};

#define TG_HELPER_NONSENSE "the process that asks the driver talks nonsense"

void tg_helper_init(struct tg_helper *h, const char *source);
void tg_helper_release(struct tg_helper *h); /* ends it */

/* Whether there is one. If not, start one by that hook (NULL: never) when its time has come. */
bool tg_helper_runs(struct tg_helper *h, const struct tg_env *env, int (*start)(void *ctx));

/*
 * The next packet of its answer: its length, of which `size` bytes at most are there. 0: nothing
 * more has come; and maybe it was stopped.
 */
size_t tg_helper_hear(struct tg_helper *h, const struct tg_env *env, void *packet, size_t size);

/* Whether there is one that can be asked now, and then: to answer with so many packets at most. */
bool tg_helper_is_free(const struct tg_helper *h);
void tg_helper_ask(struct tg_helper *h, const struct tg_env *env, const void *question, size_t len,
	size_t packets);

/* That was all of the answer; and the CPU time that it says it has used. */
void tg_helper_answered(struct tg_helper *h, struct tg_env *env, int64_t cpu_ns);

/* End it, and say why; for good when another would do no better. */
void tg_helper_stop(struct tg_helper *h, const struct tg_env *env, const char *why);
void tg_helper_stop_for_good(struct tg_helper *h, const struct tg_env *env, const char *why);

#endif
