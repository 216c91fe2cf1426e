/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions behind the words, for words.c and the worker; see command.h for what they get. */
#ifndef TG_COMMAND_RUN_H
#define TG_COMMAND_RUN_H

#include "command/command.h"

int tg_run_help(struct tg_command *c, int argc, char **argv);

/* Set the sentence for a word that does not exist, with the nearest one. Returns TG_WORD_USAGE. */
int tg_unknown_word(struct tg_command *c, const char *name);

#endif
