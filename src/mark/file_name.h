/* SPDX-License-Identifier: BSD-3-Clause */
/* How recordings are called that nobody has named. */
#ifndef TG_MARK_FILE_NAME_H
#define TG_MARK_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Append NAME-HOST-YYYYmmdd-HHMMSS.tacho, of the present second in local time. `name` is cut at 100
 * bytes; what not every program takes for a file's name is "_" in it. With `job`, HOST is followed
 * by -JOBID or -JOBID_INDEX where a batch system (Slurm, PBS, LSF, Grid Engine) has told them.
 */
void tg_mark_file_name(struct tg_buf *out, const char *name, size_t len, bool job);

#endif
