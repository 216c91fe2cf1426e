/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as what is requested: what is taken is a number above 0, else nothing is. */
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "mark/batch.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(double v)
{
	if (!isnan(v) && !(v > 0 && v < INFINITY))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_job_request r = TG_JOB_REQUEST_NONE;
	struct tg_err err = { 0 };
	char *text = tg_xmemdup0(data, size);
	int rc = tg_job_request_parse(text, &r, &err);

	if (rc != 0 && (rc != -EINVAL || !err.text[0]))
		abort();
	check(r.cpus);
	check(r.memory_bytes);
	check(r.time_s);
	check(r.gpus);
	if (rc != 0 &&
		!(isnan(r.cpus) && isnan(r.memory_bytes) && isnan(r.time_s) && isnan(r.gpus)))
		abort();
	free(text);
	return 0;
}
