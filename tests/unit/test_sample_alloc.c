/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the steady state a reading allocates nothing. The linker puts these wrappers in front of all
 * calls of malloc and its kin in our own objects (-Wl,--wrap).
 */
#include "tap.h"

#include "sample_tree.h"

static int n_allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
	n_allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	n_allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	n_allocations++;
	return __real_realloc(p, size);
}

static void work_and_rest(void)
{
	for (int i = 0; i < 5; i++) {
		if (fork())
			continue;
		while (i < 3)
			burn_ms(1);
		for (;;)
			pause();
	}
	stop();
	for (;;) { /* one short-lived child for each step */
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		stop();
	}
}

static void end_all(void *ctx, uint32_t entity, pid_t pid, const char *comm)
{
	(void)ctx;
	(void)entity;
	(void)comm;
	kill(pid, SIGKILL);
}

/* Shares at each reading; what this machine does not have: NFS, Lustre, InfiniBand, energy; GPUs.
 */
static void test_devices(const char *machine, pid_t root, const char *metric, const char *instance)
{
	struct tg_sampler *s = sampler_of(machine, root);
	struct tg_reading r;
	unsigned generation;

	for (int i = 0; i < 2; i++)
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	n_allocations = 0;
	generation = r.generation;
	for (int i = 0; i < 10; i++)
		tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(n_allocations, 0);
	T_EQ_I(r.generation, generation);
	T_OK(has_column(&r, metric, instance));
	tg_sampler_free(s);
}

int main(void)
{
	static const unsigned flags[] = { 0, TG_READ_EDGE, TG_READ_REFRESH, 0 };
	struct child c = start(work_and_rest);
	struct tg_sampler *s = live_sampler(c.pid);
	struct tg_reading r;
	unsigned generation;

	T_OK(n_allocations > 0); /* or nothing is being counted */
	go(&c);
	for (int i = 0; i < 20; i++) {
		go(&c);
		tg_sampler_read(s, flags[i % 4], &r);
	}
	n_allocations = 0;
	generation = r.generation;
	for (int i = 0; i < 100; i++) {
		go(&c);
		tg_sampler_read(s, flags[i % 4], &r);
	}
	T_EQ_I(n_allocations, 0);
	T_EQ_I(r.generation, generation);
	tg_sampler_alive(s, end_all, NULL);
	finish(&c);
	tg_sampler_free(s);
	test_devices("container_v2", 100, "tree.pss_bytes", "");
	test_devices("cluster", 600, "nfs.ops", "/home");
	test_devices("amd", 700, "drm.engine_ns", "0000:03:00.0 gfx");
	return t_done();
}
