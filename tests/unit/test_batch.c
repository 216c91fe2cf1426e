/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said with --request: what is taken, to the number, and what is refused. */
#include "tap.h"

#include <errno.h>
#include <math.h>

#include "mark/batch.h"

#include "base/mem.h"

#define UNKNOWN NAN

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_taken(void)
{
	static const struct {
		const char *text;
		struct tg_job_request want;
	} c[] = {
		{ "cpus=8,mem=16G,time=2h,gpus=1", { 8, 16.0 * (1 << 30), 7200, 1 } },
		{ "gpus=0.5", { UNKNOWN, UNKNOWN, UNKNOWN, 0.5 } },
		{ "cpus=1,cpus=2", { 2, UNKNOWN, UNKNOWN, UNKNOWN } },
		{ "mem=512", { UNKNOWN, 512, UNKNOWN, UNKNOWN } },
		{ "mem=1k", { UNKNOWN, 1024, UNKNOWN, UNKNOWN } },
		{ "mem=1.5M", { UNKNOWN, 1.5 * (1 << 20), UNKNOWN, UNKNOWN } },
		{ "mem=2GiB", { UNKNOWN, 2.0 * (1 << 30), UNKNOWN, UNKNOWN } },
		{ "mem=1TB", { UNKNOWN, 1024.0 * (1 << 30), UNKNOWN, UNKNOWN } },
		{ "time=90", { UNKNOWN, UNKNOWN, 90, UNKNOWN } },
		{ "time=90s", { UNKNOWN, UNKNOWN, 90, UNKNOWN } },
		{ "time=0.5d", { UNKNOWN, UNKNOWN, 43200, UNKNOWN } },
		{ "time=30:00", { UNKNOWN, UNKNOWN, 1800, UNKNOWN } },
		{ "time=100:00:01", { UNKNOWN, UNKNOWN, 360001, UNKNOWN } },
		{ "time=1-12:30:05", { UNKNOWN, UNKNOWN, 131405, UNKNOWN } },
		{ "cpus=1e3", { 1000, UNKNOWN, UNKNOWN, UNKNOWN } },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(c); i++) {
		struct tg_job_request r = TG_JOB_REQUEST_NONE;

		printf("# %s\n", c[i].text);
		T_EQ_I(tg_job_request_parse(c[i].text, &r, NULL), 0);
		T_OK(same(r.cpus, c[i].want.cpus));
		T_OK(same(r.memory_bytes, c[i].want.memory_bytes));
		T_OK(same(r.time_s, c[i].want.time_s));
		T_OK(same(r.gpus, c[i].want.gpus));
	}
}

/* One sentence, and nothing is taken of what was right before it. */
static void test_refused(void)
{
	static const char *const text[] = { "", ",", "=", "cpus", "cpus=", "cpus=0", "cpus=-1",
		"cpus=0x", "cpus=1 2", "cpus=nan", "cpus=inf", "cpus=1e19", "CPUS=1", "cpu=1",
		"cores=1", "cpus=1,", ",cpus=1", "cpus=1,,mem=1", "cpus==1", "mem=G", "mem=1X",
		"mem=1GG", "mem=1Gi2", "mem=-1G", "mem=0", "mem=infT",
		"time=", "time=:", "time=1:", "time=:1", "time=1:2:3:4", "time=1-", "time=1-2",
		"time=-1:00", "time=1:-1", "time=0:00", "time=1hh", "time=1y", "time=nan",
		"time=-1-00:00", "gpus=one", "cpus=4,mem=1G,time=x" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(text); i++) {
		struct tg_job_request r = { 7, 7, 7, 7 };
		struct tg_err err = { 0 };

		printf("# refused: %s\n", text[i]);
		T_EQ_I(tg_job_request_parse(text[i], &r, &err), -EINVAL);
		T_OK(strstr(err.text, "cpus=8,mem=16G"));
		T_OK(same(r.cpus, 7) && same(r.memory_bytes, 7) && same(r.time_s, 7) &&
			same(r.gpus, 7));
	}
}

static void test_long(void)
{
	struct tg_job_request r = TG_JOB_REQUEST_NONE;
	struct tg_buf text = TG_BUF_INIT;
	struct tg_err err = { 0 };

	for (int i = 0; i < 20000; i++)
		tg_buf_adds(&text, "cpus=1,");
	T_EQ_I(tg_job_request_parse(text.data, &r, &err), -EINVAL);
	tg_buf_adds(&text, "cpus=3");
	T_EQ_I(tg_job_request_parse(text.data, &r, &err), 0);
	T_OK(same(r.cpus, 3));
	tg_buf_release(&text);
}

int main(void)
{
	test_taken();
	test_refused();
	test_long();
	return t_done();
}
