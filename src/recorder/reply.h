/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to questions about the tree. That to `usage` is what a Jupyter front end shows about a
 * kernel, under the keys of an ipykernel's usage_reply, but for the whole tree and with its
 * effective limits. Rates are those between the last two ticks. What is unknown is left out.
 */
#ifndef TG_RECORDER_REPLY_H
#define TG_RECORDER_REPLY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sample/sampler.h"

/* The columns that the answer needs. */
enum tg_reply_value {
	TG_REPLY_TREE_CPU_NS,
	TG_REPLY_TREE_RSS_BYTES,
	TG_REPLY_TREE_PSS_BYTES,
	TG_REPLY_NODE_BUSY_NS,
	TG_REPLY_NODE_TOTAL_BYTES,
	TG_REPLY_NODE_UNAVAILABLE_BYTES,
	TG_REPLY_NODE_USED_BYTES,
	TG_REPLY_LIMIT_BYTES,
	TG_REPLY_READ_BYTES,
	TG_REPLY_WRITE_BYTES,
	TG_REPLY_VALUES
};

struct tg_reply {
	unsigned generation; /* of the columns that `column` was found in; 0: none */
	int column[TG_REPLY_VALUES]; /* where they are in a reading; -1: not there */
	int64_t t_ns[2]; /* before last and last */
	int64_t value[2][TG_REPLY_VALUES];
	int64_t pss_bytes, pss_ns; /* of the tree, which not every reading has; 0: none lately */
	int64_t machine_ns, limit_ns; /* when the machine's memory, and the group's limit, was read
					 last; 0: never */
	int64_t held_bytes, held_ns; /* the most of the tree's RSS lately, and when; 0: none */
	int64_t held_limit; /* of its group at that time, or TG_MISSING */
};

/* A full reading (not an edge's) was taken. */
void tg_reply_take(struct tg_reply *u, const struct tg_reading *reading);

/* Another tree is measured from now on: what is known of the one before is not of this one. */
void tg_reply_forget(struct tg_reply *u);

/* Append the answer to question `n`. */
void tg_reply_json(const struct tg_reply *u, int64_t n, pid_t root, const struct tg_limits *limits,
	struct tg_buf *out);

/* Append the answer to "progress"; `stage` may be NULL. */
void tg_reply_progress(const struct tg_reply *u, int64_t n, const char *stage, struct tg_buf *out);

/* Whether the root was killed for want of memory: "yes", "no", "unknown". */
const char *tg_reply_oom_word(enum tg_oom oom);

/*
 * Append the sentences for that: the verdict and its evidence, and what the tree held shortly
 * before, of how much: "Out of memory: yes: …. Its processes held 498 MB of 500 MB (cgroup limit)
 * 0.1 s before."
 */
void tg_reply_oom_text(const struct tg_reply *u, enum tg_oom oom, const char *why,
	const struct tg_limits *limits, int64_t now_ns, struct tg_buf *out);

#endif
