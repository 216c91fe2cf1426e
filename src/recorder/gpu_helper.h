/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that ask the drivers of GPUs, so that one that hangs or crashes costs nothing but its
 * values. There are two kinds: one loads NVIDIA's library (sample/gpu_wire.h), and for each source
 * whose files another driver answers, AMD's or fdinfo, there is one that reads these and loads
 * nothing (sample/apart.h). They do nothing unless asked, and that for a fifth of the time at most,
 * NVIDIA's ten times a second at most; they end when the socket is closed, also while a call hangs.
 */
#ifndef TG_RECORDER_GPU_HELPER_H
#define TG_RECORDER_GPU_HELPER_H

#include <stdbool.h>

/*
 * Start `exe` in that role, detached: `files` says which kind. Returns our end of the socket,
 * non-blocking, or -errno.
 */
int tg_gpu_helper_start(const char *exe, bool files);

/* The role itself, on the other end of it. Returns only when nothing was begun. */
int tg_gpu_helper_run(int fd, bool files);

#endif
