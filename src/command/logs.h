/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs that other tools took, where a word is given them in place of a recording. */
#ifndef TG_COMMAND_LOGS_H
#define TG_COMMAND_LOGS_H

#include "command/command.h"

struct tg_recording;

/*
 * Import the folder or file `name` with the defaults of `tachograph import` and open what comes of
 * it. With `keep` that is a recording at this path, which must not be there yet; else it is in no
 * folder and goes when it is closed. What each file is, is noted. Returns TG_WORD_OK, or
 * TG_WORD_FAILED with a sentence.
 */
int tg_open_logs(
	struct tg_command *c, const char *name, const char *keep, struct tg_recording **out);

#endif
