/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a span's totals amount to, in words: few, plain, and only when sure.
 */
#ifndef TG_ANALYZE_VERDICTS_H
#define TG_ANALYZE_VERDICTS_H

#include "analyze/totals.h"

/* Add what happened, to totals that are filled in else; `several`: processes lived in the span. */
void tg_verdicts_add_events(struct tg_totals *t, const struct tg_span *span, bool several);

/* Add those events of `from` that `t` does not have. */
void tg_verdicts_join_events(struct tg_totals *t, const struct tg_totals *from);

/* Behind the events, how the time was spent: of one span, or of several together. */
void tg_verdicts_add_spending(struct tg_totals *t);

#endif
