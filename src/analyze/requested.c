/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/requested.h"

#include <math.h>

#include "base/json.h"

#include "base/mem.h"

static double positive(const struct tg_json *of, const char *key)
{
	double v = tg_json_num(tg_json_get(of, key), NAN);

	return v > 0 && isfinite(v) ? v : NAN;
}

/* {"command":"…","requested":{"cpus":8,"memory_bytes":17179869184,"time_s":7200}} */
bool tg_requested_of(const struct tg_span *span, struct tg_requested *out)
{
	struct tg_json *attrs =
		span->attrs ? tg_json_parse(span->attrs, strlen(span->attrs), NULL) : NULL;
	const struct tg_json *of = tg_json_get(attrs, "requested");

	*out = (struct tg_requested){
		.cpus = positive(of, "cpus"),
		.memory_bytes = positive(of, "memory_bytes"),
		.time_s = positive(of, "time_s"),
		.gpus = positive(of, "gpus"),
	};
	tg_json_free(attrs);
	return !isnan(out->cpus) || !isnan(out->memory_bytes) || !isnan(out->time_s) ||
	       !isnan(out->gpus);
}
