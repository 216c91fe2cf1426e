/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_ANALYZE_MISSED_H
#define TG_ANALYZE_MISSED_H

#include "analyze/recording.h"

/*
 * Samples that a span lacks: ticks that its recorders skipped, and those between the last row of
 * one recorder and the first of the next.
 */
int64_t tg_missed_in(const struct tg_recording *r, const struct tg_span *span);

#endif
