/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the values of a source go. Allocates only when an instance is new. */
#ifndef TG_SAMPLE_OUT_H
#define TG_SAMPLE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"

struct tg_source;

/* For each instance a value for each of the metrics. */
struct tg_out {
	const struct tg_source *source;
	char (*instance)[TG_INSTANCE_MAX];
	size_t n_instances, cap_instances;
	int64_t *value; /* [instance * n_metrics + metric] */
	bool *was_put; /* the same: was one ever put? */
	size_t cap_values, cap_was_put;
	size_t next; /* where the next instance most likely is */
	bool changed; /* a column was added since the sampler laid them out */
};

#define TG_INSTANCES_MAX 4096

/* Whether value number `at` has a column: see `instances` of its source. */
bool tg_out_is_column(const struct tg_out *out, size_t at);

/*
 * `metric` is the number in the source's table. Sources without instances use instance 0. What is
 * TG_MISSING is not put.
 */
void tg_out_put(struct tg_out *out, size_t instance, size_t metric, int64_t value);

/* Add to what was put there in this reading, if anything was. A sum too large is missing. */
void tg_out_add(struct tg_out *out, size_t instance, size_t metric, int64_t value);

/*
 * The number of the instance of that name, added when new: it keeps its number for ever.
 * Cheapest when asked for in the same order at every reading. SIZE_MAX when there are too many.
 */
size_t tg_out_instance(struct tg_out *out, const char *name);

#endif
