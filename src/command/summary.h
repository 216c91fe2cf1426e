/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run cost, in a few lines: the end of `record`. */
#ifndef TG_COMMAND_SUMMARY_H
#define TG_COMMAND_SUMMARY_H

#include "base/buf.h"
#include "base/err.h"

/* Append lines about the last run in that file. 0, or -errno with a sentence. */
int tg_summary(const char *file, struct tg_buf *out, struct tg_err *err);

#endif
