/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definition of a table between memory and the JSON object of its chunk. Metrics are written
 * once and columns refer to them by position, because 64 cores share one metric.
 */
#ifndef TG_RECORD_TABLE_H
#define TG_RECORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/metric.h"

#define TG_PERIOD_MAX_NS INT64_C(86400000000000) /* a day: longer ones are written as that */

/* A definition that owns its strings; column[i].metric points into metric[]. */
struct tg_table_def {
	uint32_t number;
	char *name;
	struct tg_metric *metric;
	size_t n_metrics;
	struct tg_column *column;
	size_t n_columns;
	size_t bytes; /* memory it holds, for the reader's bound */
};

/* Append the object. */
void tg_table_dump(struct tg_buf *out, uint32_t number, const char *name,
	const struct tg_column *column, size_t n);

/*
 * {"table":1,"name":"main","metrics":[{"name":"tree.cpu_ns","unit":"ns","kind":"counter",
 * "scope":"job","scale":0,"help":"…"}],"columns":[[0,""],[0,"cpu1"]]}
 * Returns the definition (caller frees it), or NULL when the object is not one.
 */
struct tg_table_def *tg_table_parse(const char *json, size_t len);
void tg_table_free(struct tg_table_def *t); /* NULL is fine */

#endif
