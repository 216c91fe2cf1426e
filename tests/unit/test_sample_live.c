/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampler on the running machine, over processes that do a known amount of work. */
#include "tap.h"

#include "sample_util.h"

#include "base/mem.h"

static void burn_200(void)
{
	burn_ms(200);
	stop();
}

static void test_burner(void)
{
	struct child c = start(burn_200);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	int64_t cpu;

	tg_sampler_read(s, 0, &r);
	cpu = column(&r, "tree.cpu_ns", "");
	T_OK(cpu != TG_MISSING);
	T_EQ_I(column(&r, "tree.processes", ""), 1);
	T_OK(column(&r, "tree.rss_bytes", "") > 0);
	T_OK(column(&r, "node.cpu_busy_ns", "") > 0);
	T_OK(column(&r, "core.busy_ns", "cpu0") > 0);
	go(&c);
	T_NEAR((double)(read_column(s, 0, "tree.cpu_ns") - cpu), 200e6, 20e6);
	finish(&c);
	tg_sampler_free(s);
}

static void child_born_and_gone(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		burn_ms(200);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	stop();
}

/* A child that is born, works and is waited for between two readings counts, once. */
static void test_short_lived(void)
{
	struct child c = start(child_born_and_gone);
	struct tg_sampler *s = live_sampler(c.pid);
	int64_t cpu = read_column(s, 0, "tree.cpu_ns");

	go(&c);
	T_NEAR((double)(read_column(s, 0, "tree.cpu_ns") - cpu), 200e6, 30e6);
	T_NEAR((double)(read_column(s, TG_READ_REFRESH, "tree.cpu_ns") - cpu), 200e6, 30e6);
	finish(&c);
	tg_sampler_free(s);
}

int main(void)
{
	test_burner();
	test_short_lived();
	return t_done();
}
