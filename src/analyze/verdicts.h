/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a span's totals amount to, in words: few, plain, and only when sure.
 */
#ifndef TG_ANALYZE_VERDICTS_H
#define TG_ANALYZE_VERDICTS_H

#include "analyze/totals.h"

/* Add them to totals that are filled in else; `several`: processes lived in the span. */
void tg_verdicts_add(struct tg_totals *t, const struct tg_span *span, bool several);

#endif
