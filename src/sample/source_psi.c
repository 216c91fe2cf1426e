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

static const char switched_off[] = "the kernel does not account for pressure (psi=1 may help)";

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

/*
 * Whether a kernel without the files could have them: where it is switched off newer ones have
 * none. The kernel's configuration says what it was built with, where that is to be read:
 * CONFIG_PSI=y        # CONFIG_PSI is not set
 */
static int without_files(struct tg_env *env, char *why, size_t why_size)
{
	const char *release;
	char copy[65];
	struct tg_cursor s, value;
	size_t n;

	snprintf(why, why_size,
		"this kernel has no pressure accounting, or it is switched off (psi=1)");
	if (tg_env_read(env, "proc/sys/kernel/osrelease") <= 0)
		return -ENOENT;
	s = tg_cursor_of(env->text->data, env->text->len);
	if (!tg_cursor_word(&s, &release, &n) || n >= sizeof(copy))
		return -ENOENT;
	snprintf(copy, sizeof(copy), "%.*s", (int)n, release);
	if (tg_env_read(env, "boot/config-%s", copy) <= 0 &&
		tg_env_read(env, "lib/modules/%s/config", copy) <= 0)
		return -ENOENT;
	if (tg_procfs_key_text(env->text->data, env->text->len, "CONFIG_PSI=y", &value) < 0) {
		snprintf(why, why_size, "this kernel has no pressure accounting");
		return -ENOENT;
	}
	snprintf(why, why_size, "%s", switched_off);
	return -EOPNOTSUPP;
}

static int open_psi(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct psi *p = tg_xcalloc(1, sizeof(*p));
	bool any = false, readable = false;

	for (size_t i = 0; i < TG_ARRAY_SIZE(files); i++) {
		p->fd[i] = tg_env_open(env, "%s", files[i].path);
		any |= p->fd[i] != -ENOENT;
		/* where it is switched off older kernels have the files, which cannot be read */
		readable |= p->fd[i] >= 0 && tg_text_pread(env->text, p->fd[i]) > 0;
	}
	if (readable) {
		*state = p;
		return 0;
	}
	close_psi(p);
	if (!any)
		return without_files(env, why, why_size);
	snprintf(why, why_size, "%s", switched_off);
	return -EOPNOTSUPP;
}

static void put(struct tg_out *out, int metric, const struct tg_text *text, const char *kind)
{
	int64_t us = tg_procfs_pressure(text->data, text->len, kind);

	if (metric >= 0 && us >= 0)
		tg_out_put(out, 0, (size_t)metric, tg_scaled(us, TG_NS_PER_US));
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
