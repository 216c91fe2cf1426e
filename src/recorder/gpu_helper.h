/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that loads NVIDIA's library, so that a driver that hangs or crashes costs nothing
 * but GPU values. It does nothing unless asked (sample/gpu_wire.h), at most ten times a second and
 * for at most a fifth of the time; it ends when the socket is closed, also while a call hangs.
 */
#ifndef TG_RECORDER_GPU_HELPER_H
#define TG_RECORDER_GPU_HELPER_H

#include <stdbool.h>

/*
 * Start `exe` in that role, detached; with `files` it loads no library but reads the files of other
 * drivers (sample/apart.h). Returns our end of the socket, non-blocking, or -errno.
 */
int tg_gpu_helper_start(const char *exe, bool files);

/* The role itself, on the other end of it. Returns only when nothing was begun. */
int tg_gpu_helper_run(int fd, bool files);

#endif
