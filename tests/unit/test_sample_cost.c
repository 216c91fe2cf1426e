/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reading costs, as calls to the kernel: no clock is looked at. */
#include "tap.h"

#include <sys/prctl.h>

#include "sample_util.h"

#include "recorder/facts.h"
#include "sample/sampler_private.h"

#include "base/buf.h"
#include "base/file.h"

#include "base/mem.h"

#define IDLERS 40

/* Calls that read, of this process so far; -1: not told. */
static int64_t reads_so_far(void)
{
	struct tg_buf text = TG_BUF_INIT;
	int64_t n = -1;
	char *at;

	if (tg_file_read(AT_FDCWD, "/proc/self/io", 4096, &text, NULL) == 0) {
		at = strstr(text.data, "syscr: ");
		n = at ? strtoll(at + 7, NULL, 10) : -1;
	}
	tg_buf_release(&text);
	return n;
}

static void have_idlers(void)
{
	for (int i = 0; i < IDLERS; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	stop();
}

/* Reads of a refresh. The machine has always given out a number before it: others may do so. */
static int64_t reads_of_refresh(struct tg_sampler *s, struct tg_reading *r)
{
	pid_t pid = fork();
	int64_t before;

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	before = reads_so_far();
	tg_sampler_read(s, TG_READ_REFRESH, r);
	return reads_so_far() - before;
}

/* The least of some: a look at shares of memory may be in one of them. */
static int64_t least_reads(struct tg_sampler *s)
{
	int64_t least = INT64_MAX;
	struct tg_reading r;

	for (int i = 0; i < 8; i++)
		least = TG_MIN(least, reads_of_refresh(s, &r));
	return least;
}

/* Of one that idles a refresh looks at what others could have changed: memory and children. */
static void test_refresh_of_idlers(void)
{
	struct child alone = start(stop), c = start(have_idlers);
	struct tg_sampler *s = live_sampler(alone.pid), *t = live_sampler(c.pid);
	struct tg_reading r;

	go(&c);
	if (reads_so_far() < 0) {
		T_SKIP("reads of a refresh", "this kernel has no /proc/PID/io");
	} else {
		tg_sampler_read(t, TG_READ_REFRESH, &r);
		T_EQ_I(column(&r, "tree.processes", ""), IDLERS + 1);
		T_NEAR((double)(least_reads(t) - least_reads(s)) / IDLERS, 2, 0.5);
	}
	tg_sampler_free(s);
	tg_sampler_free(t);
	finish(&alone);
	finish(&c);
}

/* pitfall 18: shares of memory are not looked for again while none of it has moved */
static void test_shares_of_idlers(void)
{
	struct child c = start(have_idlers);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;

	go(&c);
	if (reads_so_far() < 0) {
		T_SKIP("reads of shares", "this kernel has no /proc/PID/io");
	} else if (access("/proc/self/smaps_rollup", R_OK) < 0) {
		T_SKIP("reads of shares", "this kernel tells of none");
	} else {
		int64_t plain = least_reads(s), reads = INT64_MAX;

		/* on a loaded machine those that were just made are not still at once */
		for (int i = 0; i < 10 && reads > plain + IDLERS / 2; i++) {
			usleep(2000000); /* it is due again */
			reads = reads_of_refresh(s, &r);
			T_OK(column(&r, "tree.pss_age_ns", "") != TG_MISSING);
		}
		T_OK(reads <= plain + IDLERS / 2);
	}
	tg_sampler_free(s);
	finish(&c);
}

static size_t source_number(const char *name)
{
	for (size_t i = 0; i < tg_source_count; i++)
		if (!strcmp(tg_source_list[i]->name, name))
			return i;
	abort();
}

static struct tg_source_cost cost_of(const struct tg_sampler *s, const char *name)
{
	struct tg_source_cost cost[64];

	tg_sampler_costs(s, cost, TG_ARRAY_SIZE(cost));
	return cost[source_number(name)];
}

/* Read it as often as it says, and say how often it is read: a source that has become dear. */
static void test_dear(void)
{
	struct tg_sampler *s = live_sampler(getpid());
	struct opened *o = &s->source[source_number("node")];
	struct tg_reading r;
	int64_t readings;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	o->cost_ns = TG_NS_PER_S;
	tg_sampler_read(s, TG_READ_REFRESH | TG_READ_ALL, &r);
	T_OK(column(&r, "node.cores", "") > 0);
	readings = cost_of(s, "node").readings;
	T_OK(cost_of(s, "node").period_ns > 400 * TG_NS_PER_S);
	T_EQ_I(cost_of(s, "node").period_ns % TG_NS_PER_S, 0);
	for (int i = 0; i < 3; i++)
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(column(&r, "node.cores", ""), TG_MISSING);
	T_EQ_I(cost_of(s, "node").readings, readings);
	o->due_ns = r.t_ns; /* it is due, and waits for the next refresh */
	tg_sampler_read(s, 0, &r);
	T_EQ_I(column(&r, "node.cores", ""), TG_MISSING);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_OK(column(&r, "node.cores", "") > 0);
	T_EQ_I(cost_of(s, "node").readings, readings + 1);
	tg_sampler_free(s);
}

/* How often it is read is said where that is not what its columns say, also from the start. */
static void test_dear_said(void)
{
	struct tg_sampler *s = live_sampler(getpid());
	struct opened *o = &s->source[source_number("node_memory")];
	struct tg_events events = { .lines = TG_BUF_INIT };
	struct tg_facts facts;
	struct tg_reading r;

	tg_facts_init(&facts);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	for (size_t i = 0; i < tg_source_count; i++)
		s->source[i].period_ns = tg_source_list[i]->period_ns;
	o->period_ns = 30 * TG_NS_PER_S;
	tg_facts_sources(&facts, s, &events, false, 7);
	T_EQ_S(events.lines.data, "{\"ev\":\"source\",\"t\":7,\"name\":\"node_memory\","
				  "\"period_ns\":30000000000}\n");
	tg_buf_clear(&events.lines);
	o->period_ns = 20 * TG_NS_PER_S; /* that is about the same */
	tg_facts_sources(&facts, s, &events, false, 8);
	T_EQ_I(events.lines.len, 0);
	o->period_ns = TG_NS_PER_S / 10;
	tg_facts_sources(&facts, s, &events, false, 9);
	T_OK(strstr(events.lines.data, "\"period_ns\":100000000}") != NULL);
	tg_buf_release(&events.lines);
	tg_sampler_free(s);
}

/* pitfall 18: a look at shares is dear and seldom; what comes with it is as often as is said */
static void test_period_of_memory(void)
{
	struct tg_sampler *s = live_sampler(getpid());
	struct opened *o = &s->source[source_number("memory")];
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	o->cost_ns = TG_NS_PER_S;
	for (int i = 0; i < 3; i++)
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(cost_of(s, "memory").readings, 4);
	T_EQ_I(cost_of(s, "memory").period_ns, TG_NS_PER_S);
	T_OK(column(&r, "tree.file_bytes", "") > 0);
	tg_sampler_free(s);
}

/* Each at the rate at which its values move: CPU of the machine 100 times a second, memory 10. */
static void test_tiers(void)
{
	static const struct {
		const char *source, *metric;
		int64_t period_ns;
	} tier[] = {
		{ "node", "node.cpu_busy_ns", 10 * TG_NS_PER_MS },
		{ "node_memory", "node.mem_used_bytes", 100 * TG_NS_PER_MS },
	};
	struct tg_sampler *s = live_sampler(getpid());
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	for (size_t i = 0; i < TG_ARRAY_SIZE(tier); i++) {
		struct opened *o = &s->source[source_number(tier[i].source)];

		T_EQ_I(o->out.source->period_ns, tier[i].period_ns);
		T_OK(o->period_ns >= tier[i].period_ns); /* a loaded machine makes it dear */
		T_OK(o->due_ns == r.t_ns + o->period_ns);
		for (int due = 0; due < 2; due++) {
			int64_t readings = cost_of(s, tier[i].source).readings;

			o->due_ns = due ? 0 : INT64_MAX;
			tg_sampler_read(s, 0, &r);
			T_EQ_I(column(&r, tier[i].metric, "") != TG_MISSING, due);
			T_EQ_I(cost_of(s, tier[i].source).readings, readings + due);
		}
		o->due_ns = INT64_MAX;
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		T_OK(column(&r, tier[i].metric, "") != TG_MISSING);
	}
	tg_sampler_free(s);
}

/* All values of a row are said to be of one moment: what may take long is read behind the others.
 */
static void test_order(void)
{
	T_EQ_I(source_number("memory"), tg_source_count - 1);
	T_EQ_I(source_number("tree"), 0);
}

int main(void)
{
	test_tiers();
	test_order();
	test_dear();
	test_dear_said();
	test_period_of_memory();
	test_refresh_of_idlers();
	test_shares_of_idlers();
	return t_done();
}
