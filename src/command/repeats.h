/* SPDX-License-Identifier: BSD-3-Clause */
/* How the times of a name differ, in a table below that of the files. */
#ifndef TG_COMMAND_REPEATS_H
#define TG_COMMAND_REPEATS_H

#include "analyze/repeats.h"
#include "command/command.h"

/* A line for each name that is there more than once; nothing when none is. Sorts *r. */
void tg_repeats_print(struct tg_command *c, struct tg_repeats *r);

#endif
