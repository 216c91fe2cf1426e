/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that records: samples in this thread, writes in another (output.h), listens to marks.
 * It lasts until `bye`, SIGTERM, or some seconds after root and clients are gone. It sends no
 * signal, changes no priority, opens no network socket, and writes no file but the recording.
 */
#ifndef TG_RECORDER_RECORDER_H
#define TG_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tg_recorder_options {
	const char *id; /* names socket and lock in the runtime folder */
	const char *output; /* absolute path of the recording */
	const char *what; /* "kernel": samples slowly between spans; else at full rate always */
	const char *gpu_helper; /* executable that has this role (gpu_helper.h); NULL: no helpers */
	int fd; /* the starter's socket; taken; -1: none */
	pid_t root; /* 0: a mark will say */
	int64_t interval_ns, idle_interval_ns, linger_ns; /* 0: the default */
	size_t queue_bytes; /* 0: the default */
	bool no_args; /* command lines are not recorded */
};

/*
 * Record until the end. When another recorder has this id, the starter's socket is handed to that
 * one and 0 returned. Blocks SIGTERM, SIGINT and SIGHUP in the caller. 0, or -errno with a
 * sentence in `err` (not NULL), which the starter gets as {"end":sentence}, too.
 */
int tg_recorder_run(const struct tg_recorder_options *options, struct tg_err *err);

#endif
