/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs as a recording: one session, whose clock is what the logs had; one span of kind run, with
 * the stages in it; a table for each grid; the processes. Of a metric that several tools tell the
 * first tool counts, in the order of formats.c. Logs without a date are left out beside others.
 */
#ifndef TG_IMPORT_WRITE_H
#define TG_IMPORT_WRITE_H

#include "import/import.h"

/*
 * Write all of `im`, which is settled, to the new file `path`. `name` is the run's. Appends to
 * `left_out` a line for each log that is not in it. Returns 0, or -errno with a sentence; then
 * there is no file.
 */
int tg_import_write(const struct tg_import *im, const char *path, const char *name,
	struct tg_buf *left_out, struct tg_err *err);

#endif
