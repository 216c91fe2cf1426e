/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reading costs: CPU time of the sampling thread for trees of N processes of which one in
 * ten works, ten at most, the median and quartiles of five rounds. Usage: sampling_bench [N...]
 *
 * For bench/sampler it does parts of that: "tree N" makes a tree, prints the pid of its root and
 * ends it all at the end of stdin; "read PID HZ READINGS" reads a tree as the recorder does, and
 * prints the ns of CPU time of one reading, and what of it goes to processes.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sample/sampler.h"

#define ROUNDS   5
#define READINGS 100

static void busy_loop(void)
{
	for (;;) {
		int64_t until = tg_mono_ns() + 2 * TG_NS_PER_MS;

		while (tg_mono_ns() < until)
			continue;
		nanosleep(&(struct timespec){ .tv_nsec = 30 * TG_NS_PER_MS }, NULL);
	}
}

/* A process group of its own, to end it all at once; it also ends with us when we are stopped. */
static pid_t make_tree(int n)
{
	pid_t root = fork();

	if (root)
		return root;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < n; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (i % 10 || i > 100) /* ten at most: this is no stress test */
				pause();
			busy_loop();
		}
	busy_loop();
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(int n, unsigned flags, const char *what)
{
	pid_t root = make_tree(n);
	struct tg_sampler_options options = { .root_fd = -1, .root = root };
	struct tg_sampler *s;
	struct tg_reading r;
	double us[ROUNDS];

	if (tg_sampler_new(&s, &options, NULL) < 0)
		exit(1);
	for (int i = 0; i < 10; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 30 * TG_NS_PER_MS }, NULL);
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	}
	for (int round = 0; round < ROUNDS; round++) {
		int64_t ns = 0;

		for (int i = 0; i < READINGS; i++) {
			int64_t before;

			nanosleep(&(struct timespec){ .tv_nsec = 10 * TG_NS_PER_MS }, NULL);
			before = tg_thread_ns();
			tg_sampler_read(s, flags, &r);
			ns += tg_thread_ns() - before;
		}
		us[round] = (double)ns / READINGS / 1000;
	}
	qsort(us, ROUNDS, sizeof(us[0]), by_value);
	printf("%9d  %-8s  %9.1f  %9.1f-%.1f\n", n, what, us[ROUNDS / 2], us[1], us[ROUNDS - 2]);
	fflush(stdout);
	tg_sampler_free(s);
	kill(-root, SIGKILL);
	waitpid(root, NULL, 0);
}

static void hold_tree(int n)
{
	pid_t root = make_tree(n);
	char c;

	printf("%d\n", (int)root);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		continue;
	kill(-root, SIGKILL);
	waitpid(root, NULL, 0);
}

/* ns of CPU time so far of the two sources that look at processes. */
static int64_t processes_ns(const struct tg_sampler *s)
{
	struct tg_source_cost cost[64];
	size_t n = TG_MIN(tg_sampler_costs(s, cost, TG_ARRAY_SIZE(cost)), TG_ARRAY_SIZE(cost));
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(cost[i].name, "tree") || !strcmp(cost[i].name, "process"))
			ns += cost[i].cpu_ns;
	return ns;
}

/* A second of readings is not counted: what is kept open is opened by then, and settled. */
static int read_tree(pid_t root, int hz, int readings)
{
	struct tg_sampler_options options = { .root_fd = -1, .root = root };
	struct tg_sampler *s;
	struct tg_reading r;
	int64_t ns = 0, begun = 0;

	if (hz < 1 || readings < 1 || tg_sampler_new(&s, &options, NULL) < 0)
		return 1;
	for (int i = 0; i < hz + readings; i++) {
		int64_t before;

		nanosleep(&(struct timespec){ .tv_nsec = TG_NS_PER_S / hz - 1 }, NULL);
		before = tg_thread_ns();
		tg_sampler_read(s, i % hz ? 0 : TG_READ_REFRESH, &r);
		if (i >= hz)
			ns += tg_thread_ns() - before;
		else
			begun = processes_ns(s);
	}
	printf("%.0f %.0f\n", (double)ns / readings, (double)(processes_ns(s) - begun) / readings);
	tg_sampler_free(s);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "1", "10", "100" };
	int n = argc > 1 ? argc - 1 : (int)TG_ARRAY_SIZE(usual);

	if (argc == 3 && !strcmp(argv[1], "tree")) {
		hold_tree((int)strtol(argv[2], NULL, 10));
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "read"))
		return read_tree((pid_t)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10),
			(int)strtol(argv[4], NULL, 10));
	printf("processes  reading    us median  quartiles (CPU time, 10 ms apart)\n");
	for (int i = 0; i < n; i++) {
		int processes = (int)strtol(argc > 1 ? argv[i + 1] : usual[i], NULL, 10);

		if (processes < 1 || processes > 1000)
			return 2;
		measure(processes, 0, "plain");
		measure(processes, TG_READ_EDGE, "edge");
		measure(processes, TG_READ_REFRESH, "refresh");
	}
	return 0;
}
