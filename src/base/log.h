/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Diagnostics for developers and administrators, one line each on stderr: "level area: text".
 * Nothing a user must read to get on goes here; that is the caller's to print. Never log the
 * connection key, environments or unmasked command lines.
 */
#ifndef TG_BASE_LOG_H
#define TG_BASE_LOG_H

#include <stdbool.h>

enum tg_log_level { TG_LOG_ERROR, TG_LOG_WARN, TG_LOG_INFO, TG_LOG_DEBUG };

/* Read TACHOGRAPH_LOG (error, warn, info, debug). False: it is none of them, and warn stays. */
bool tg_log_init(void);

void tg_log(enum tg_log_level level, const char *area, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
