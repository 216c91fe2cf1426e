/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be measured on this machine, for `list`: the sampler is asked, which command/ is not to
 * know. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "recorder/gpu_helper.h"
#include "sample/sampler.h"

#include "base/mem.h"

#define SOURCES_MAX 64
#define LOOK_NS     (3 * TG_NS_PER_S)

static struct tg_metric_row *metrics_of(struct tg_sampler *s, size_t source, size_t n)
{
	struct tg_metric_row *row = tg_xcalloc(n + 1, sizeof(*row));
	struct tg_metric_info info;

	for (size_t i = 0; i < n; i++) {
		tg_sampler_metric(s, source, i, &info);
		row[i] = (struct tg_metric_row){ .resolution_ns = info.resolution_ns,
			.available = info.available,
			.why = tg_xstrdup(info.why) };
	}
	return row;
}

/* What may be read of the kernel is another matter than what may be read of its worker. */
static pid_t root_of(const struct tg_command *c)
{
	if (c->root <= 0 || c->root > INT32_MAX || (kill((pid_t)c->root, 0) < 0 && errno == ESRCH))
		return getpid();
	return (pid_t)c->root;
}

/* Drivers that may hang are asked by others, as in a recording. */
static int start_apart(void *ctx)
{
	(void)ctx;
	return tg_gpu_helper_start("/proc/self/exe", true);
}

int tg_cli_load_sources(struct tg_command *c)
{
	const char *perf = getenv("TACHOGRAPH_PERF"); /* as the recorder sees it */
	const struct tg_sampler_options options = { .root_fd = -1,
		.root = root_of(c),
		.no_perf = perf && !strcmp(perf, "no"),
		.hooks = { .start_apart = start_apart } };
	struct tg_advice advice[TG_ADVICE_MAX];
	struct tg_source_info *info;
	struct tg_sampler *sampler;
	size_t n;
	int rc;

	if (c->source)
		return 0;
	rc = tg_sampler_new(&sampler, &options, &c->err);
	if (rc < 0)
		return rc;
	tg_sampler_look(sampler, LOOK_NS); /* what has no value then is not to be had */
	info = tg_xcalloc(SOURCES_MAX, sizeof(*info));
	n = TG_MIN(tg_sampler_sources(sampler, info, SOURCES_MAX), (size_t)SOURCES_MAX);
	c->source = tg_xcalloc(n + 1, sizeof(*c->source));
	for (size_t i = 0; i < n; i++)
		c->source[i] = (struct tg_source_row){
			.name = info[i].name,
			.help = info[i].help,
			.metric = info[i].metric,
			.n_metrics = info[i].n_metrics,
			.available = info[i].available,
			.why = tg_xstrdup(info[i].why),
			.here = metrics_of(sampler, i, info[i].n_metrics),
		};
	c->n_sources = n;
	c->n_advice = tg_sampler_advice(sampler, advice, TG_ADVICE_MAX);
	c->advice = tg_xcalloc(c->n_advice + 1, sizeof(*c->advice));
	for (size_t i = 0; i < c->n_advice; i++)
		c->advice[i] =
			(struct tg_advice_row){ advice[i].what, advice[i].how, advice[i].adds };
	free(info);
	tg_sampler_free(sampler);
	return 0;
}

void tg_cli_free_sources(struct tg_command *c)
{
	for (size_t i = 0; i < c->n_sources; i++) {
		for (size_t k = 0; k < c->source[i].n_metrics; k++)
			free((char *)c->source[i].here[k].why);
		free(c->source[i].here);
		free((char *)c->source[i].why);
	}
	free(c->source);
	free(c->advice);
	c->source = NULL;
	c->advice = NULL;
	c->n_sources = c->n_advice = 0;
}
