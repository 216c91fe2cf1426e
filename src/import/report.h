/* SPDX-License-Identifier: BSD-3-Clause */
/* What the logs of a tool say, as statistics in JSON: hooks of struct tg_log_format. */
#ifndef TG_IMPORT_REPORT_H
#define TG_IMPORT_REPORT_H

#include "import/import.h"

/* Of processes: samples, sums of those that count, distances of samples, first and last match. */
void tg_report_top(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w);

/* {key: statistics} of a tool with one item, {item: {key: statistics}} of one with many. */
void tg_report_one(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w);
void tg_report_items(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w);

/* {key: statistics} of the sums over the items of each tick. */
void tg_report_sums(const struct tg_import *im, const struct tg_log_format *f, struct tg_jw *w);

#endif
