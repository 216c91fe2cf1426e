/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/out.h"

#include "sample/source.h"

#include "base/mem.h"

bool tg_out_is_column(const struct tg_out *out, size_t at)
{
	return !out->source->instances || out->was_put[at];
}

void tg_out_put(struct tg_out *out, size_t instance, size_t metric, int64_t value)
{
	size_t at = instance * out->source->n_metrics + metric;

	if (value < 0) /* missing, or nonsense */
		return;
	out->value[at] = value;
	out->changed |= !tg_out_is_column(out, at);
	out->was_put[at] = true;
}

void tg_out_add(struct tg_out *out, size_t instance, size_t metric, int64_t value)
{
	int64_t sum = out->value[instance * out->source->n_metrics + metric];

	if (value < 0)
		return;
	if (sum == TG_MISSING)
		sum = value;
	else if (__builtin_add_overflow(sum, value, &sum))
		sum = TG_MISSING;
	tg_out_put(out, instance, metric, sum);
}

size_t tg_out_instance(struct tg_out *out, const char *name)
{
	size_t n = out->n_instances, m = out->source->n_metrics, len;

	for (size_t k = 0; k < n; k++) {
		size_t i = (out->next + k) % n;

		if (!strcmp(out->instance[i], name)) {
			out->next = i + 1;
			return i;
		}
	}
	len = strlen(name);
	if (n >= TG_INSTANCES_MAX || len >= TG_INSTANCE_MAX)
		return SIZE_MAX;
	TG_GROW(out->instance, n + 1, out->cap_instances);
	TG_GROW(out->value, (n + 1) * m, out->cap_values);
	TG_GROW(out->was_put, (n + 1) * m, out->cap_was_put);
	memset(out->instance[n], 0, sizeof(out->instance[n])); /* it may be sent as a whole */
	memcpy(out->instance[n], name, len + 1);
	for (size_t k = 0; k < m; k++) {
		out->value[n * m + k] = TG_MISSING;
		out->was_put[n * m + k] = false;
	}
	out->n_instances = n + 1;
	return n;
}
