/* SPDX-License-Identifier: BSD-3-Clause */
/* What recording costs: CPU time and memory of this very process. */
#include <time.h>
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum { CPU, RSS, HELPER_CPU };

static const struct tg_metric metrics[] = {
	[CPU] = { "self.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_SELF, 0,
		"CPU time of the recorder, all its threads" },
	[RSS] = { "self.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_SELF, 0,
		"resident memory of the recorder" },
	[HELPER_CPU] = { "self.helper_cpu_ns", "ns", TG_COUNTER, TG_SCOPE_SELF, 0,
		"CPU time of the processes that ask GPU drivers" },
};

struct self {
	int statm_fd;
};

static int open_self(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct self *s = tg_xcalloc(1, sizeof(*s));

	(void)why;
	(void)why_size;
	s->statm_fd = tg_env_open(env, "proc/self/statm");
	*state = s;
	return 0;
}

static void read_self(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct self *s = state;
	struct tg_statm m;
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
		tg_out_put(out, 0, CPU, t.tv_sec * TG_NS_PER_S + t.tv_nsec);
	tg_out_put(out, 0, HELPER_CPU, env->helper_cpu_ns);
	if (s->statm_fd >= 0 && tg_text_pread(env->text, s->statm_fd) > 0 &&
		tg_procfs_statm(env->text->data, env->text->len, &m) == 0)
		tg_out_put(out, 0, RSS, m.resident * env->page_bytes);
}

static void lacks(const void *state, struct tg_env *env, size_t metric, char *why, size_t why_size)
{
	(void)state;
	(void)env;
	if (metric == HELPER_CPU)
		snprintf(why, why_size, "no such process runs: it is started with a recording");
}

static void close_self(void *state)
{
	struct self *s = state;

	if (s->statm_fd >= 0)
		close(s->statm_fd);
	free(s);
}

const struct tg_source tg_source_self = {
	.name = "self",
	.help = "what recording itself costs",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.open = open_self,
	.lacks = lacks,
	.read = read_self,
	.close = close_self,
};
