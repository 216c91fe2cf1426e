/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process ended, in words. */
#ifndef TG_BASE_END_H
#define TG_BASE_END_H

#include "base/buf.h"

/* Append "exited with code 7", or, where `signal` is not 0, "was killed by signal 9 (SIGKILL)". */
void tg_end_words(int code, int signal, struct tg_buf *out);

#endif
