/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of each core, from /proc/stat. The cores are told apart by their names: the row of one
 * that is taken offline vanishes, and the rows behind it move up.
 */
#include <errno.h>

#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

static const struct tg_metric metrics[] = {
	{ "core.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"CPU time of a core that was neither idle nor waiting for I/O" },
};

static int open_core(struct tg_env *env, void **state, char *why, size_t why_size)
{
	*state = NULL;
	if (tg_env_stat(env))
		return 0;
	snprintf(why, why_size, "/proc/stat cannot be read");
	return -ENOENT;
}

static void read_core(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct tg_text *text = tg_env_stat(env);
	struct tg_cpu_line c;
	struct tg_cursor s;

	(void)state;
	if (!text)
		return;
	s = tg_cursor_of(text->data, text->len);
	while (tg_procfs_cpu_next(&s, &c)) {
		char name[16];
		size_t i;

		if (c.cpu < 0)
			continue;
		snprintf(name, sizeof(name), "cpu%d", c.cpu);
		i = tg_out_instance(out, name);
		if (i != SIZE_MAX)
			tg_out_put(out, i, 0,
				tg_scaled(c.user + c.nice + c.system + c.irq + c.softirq + c.steal,
					env->tick_ns));
	}
}

static void close_core(void *state)
{
	(void)state;
}

const struct tg_source tg_source_core = {
	.name = "core",
	.help = "CPU time of each core of the machine",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 10 * TG_NS_PER_MS,
	.tick = TG_TICK_USER_HZ,
	.instances = true,
	.open = open_core,
	.read = read_core,
	.close = close_core,
};
