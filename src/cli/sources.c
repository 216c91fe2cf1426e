/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be measured on this machine, for `list`: the sampler is asked, which command/ is not to
 * know. */
#include <errno.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sample/sampler.h"

#include "base/mem.h"

#define SOURCES_MAX 64

int tg_cli_load_sources(struct tg_command *c)
{
	const struct tg_sampler_options options = { .root_fd = -1, .root = getpid() };
	struct tg_source_info *info;
	struct tg_sampler *sampler;
	size_t n;
	int rc;

	if (c->source)
		return 0;
	rc = tg_sampler_new(&sampler, &options, &c->err);
	if (rc < 0)
		return rc;
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
		};
	c->n_sources = n;
	free(info);
	tg_sampler_free(sampler);
	return 0;
}

void tg_cli_free_sources(struct tg_command *c)
{
	for (size_t i = 0; i < c->n_sources; i++)
		free((char *)c->source[i].why);
	free(c->source);
	c->source = NULL;
	c->n_sources = 0;
}
