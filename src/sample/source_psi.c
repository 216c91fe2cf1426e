/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pressure: for how long somebody on the machine had to wait for CPU, memory or storage. Linux
 * 4.20 and later; some distributions want psi=1 on the kernel's command line.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum { CPU_SOME, MEMORY_SOME, MEMORY_FULL, IO_SOME, IO_FULL };

static const struct tg_metric metrics[] = {
	[CPU_SOME] = { "psi.cpu_some_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time in which some thread waited for a core" },
	[MEMORY_SOME] = { "psi.memory_some_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time in which some thread waited for memory" },
	[MEMORY_FULL] = { "psi.memory_full_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time in which all threads that could run waited for memory" },
	[IO_SOME] = { "psi.io_some_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time in which some thread waited for storage" },
	[IO_FULL] = { "psi.io_full_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time in which all threads that could run waited for storage" },
};

/* The files, and which metrics the two lines of each are; -1: none. */
static const struct {
	const char *path;
	int some, full;
} files[] = {
	{ "proc/pressure/cpu", CPU_SOME, -1 },
	{ "proc/pressure/memory", MEMORY_SOME, MEMORY_FULL },
	{ "proc/pressure/io", IO_SOME, IO_FULL },
};

struct psi {
	int fd[TG_ARRAY_SIZE(files)];
};

static void close_psi(void *state)
{
	struct psi *p = state;

	for (size_t i = 0; i < TG_ARRAY_SIZE(files); i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
	free(p);
}

static int open_psi(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct psi *p = tg_xcalloc(1, sizeof(*p));
	int readable = 0;

	for (size_t i = 0; i < TG_ARRAY_SIZE(files); i++) {
		p->fd[i] = tg_env_open(env, "%s", files[i].path);
		/* where it is switched off the files are there, but cannot be read */
		readable += p->fd[i] >= 0 && tg_text_pread(env->text, p->fd[i]) > 0;
	}
	if (!readable) {
		close_psi(p);
		snprintf(
			why, why_size, "the kernel does not account for pressure (psi=1 may help)");
		return -EOPNOTSUPP;
	}
	*state = p;
	return 0;
}

static void put(struct tg_out *out, int metric, const struct tg_text *text, const char *kind)
{
	int64_t us = tg_procfs_pressure(text->data, text->len, kind);

	if (metric >= 0 && us >= 0)
		tg_out_put(out, 0, (size_t)metric, us * TG_NS_PER_US);
}

static void read_psi(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct psi *p = state;

	for (size_t i = 0; i < TG_ARRAY_SIZE(files); i++) {
		if (p->fd[i] < 0 || tg_text_pread(env->text, p->fd[i]) <= 0)
			continue;
		put(out, files[i].some, env->text, "some");
		put(out, files[i].full, env->text, "full");
	}
}

const struct tg_source tg_source_psi = {
	.name = "psi",
	.help = "pressure: time that threads of the machine spent waiting",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.open = open_psi,
	.read = read_psi,
	.close = close_psi,
};
