/* SPDX-License-Identifier: BSD-3-Clause */
/* What `record` and `attach` share: options, sentences, the summary at the end. */
#ifndef TG_CLI_FRONT_H
#define TG_CLI_FRONT_H

#include "front/front.h"

enum { TG_EXIT_OURS = 125 }; /* as timeout(1) has it: we failed, not the command */

/* What both take. */
struct tg_cli_front {
	struct tg_front_options o;
	const char *interval;
	bool quiet, wants_help;
};

/* Fill in the rest of the options. Returns 0, or TG_EXIT_OURS after a sentence. */
int tg_cli_settle(struct tg_cli_front *g, const char *word);

/* What the last run in that file cost, on stderr; or why that is not known. */
void tg_cli_summarize(const char *file);

#endif
