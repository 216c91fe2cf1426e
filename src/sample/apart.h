/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources whose files are answered by a driver of a GPU (gpu_busy_percent, fdinfo): one that hangs
 * holds whoever reads them, so that a process of its own does, one for each such source. It is
 * asked by a packet over a socketpair and answers with values; both ends are one executable. What
 * it says is checked all the same. A reading takes what has come and asks anew, so that values are
 * a tenth of a second old. Its life is that of helper.h; what one that was replaced left in a
 * counter is kept by nobody, as with any counter that begins anew.
 */
#ifndef TG_SAMPLE_APART_H
#define TG_SAMPLE_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/source.h"

#define TG_APART_MAGIC  0x31415447u
#define TG_APART_PIDS   8192
#define TG_APART_VALUES 64 /* in one packet; there may be many */

struct tg_apart_question {
	uint32_t magic;
	uint32_t source; /* its number in tg_source_list */
	int32_t root; /* of the tree; 0: none */
	int32_t unseen; /* 1: these are not all processes of it */
	int32_t pid[TG_APART_PIDS]; /* as many as the packet has */
};

#define TG_APART_HEAD offsetof(struct tg_apart_question, pid)

struct tg_apart_answer {
	uint32_t magic;
	uint32_t n; /* values; 0: this was all */
	int64_t cpu_ns; /* of the helper so far */
	struct {
		uint32_t metric; /* its number in the source's table */
		char instance[TG_INSTANCE_MAX];
		int64_t value;
	} at[TG_APART_VALUES];
};

/* The most that an answer may have: full ones of each value of each instance, and the last two. */
#define TG_APART_PACKETS(n_metrics) (TG_INSTANCES_MAX * (n_metrics) / TG_APART_VALUES + 2)

/* Whether `len` bytes are an answer of that source whose numbers are in range and strings end. */
bool tg_apart_answer_valid(
	const struct tg_apart_answer *a, size_t len, const struct tg_source *source);

struct tg_apart;

/* For source number `i` of the list; no process is started yet. */
struct tg_apart *tg_apart_new(size_t i);
void tg_apart_free(struct tg_apart *a); /* ends the helper; NULL is fine */

/* Put what has come since the last time, and ask for more when the source's period is over. */
void tg_apart_read(struct tg_apart *a, struct tg_env *env, struct tg_out *out);

/* Whether its helper runs and has never answered. */
bool tg_apart_is_waiting(const struct tg_apart *a);

/* The helper's end (apart_serve.c): answer until the socket is closed. `root_fd` has proc/ and
 * sys/. */
void tg_apart_serve(int fd, int root_fd);

#endif
