/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs that other tools took, where a word is given them in place of a recording. */
#ifndef TG_COMMAND_LOGS_H
#define TG_COMMAND_LOGS_H

#include "command/command.h"
#include "command/run.h"
#include "import/import.h"

struct tg_recording;

/* How logs are to be read, as it was given. */
struct tg_logs_given {
	const char *match, *zone, *interval;
	struct tg_option_values role;
};

/* The rows of a word's options for it. */
#define TG_LOGS_OPTIONS(given)                                                                     \
	{ "match", 0, &(given).match, NULL }, { "role", 0, .many = &(given).role },                \
		{ "tz", 0, &(given).zone, NULL },                                                  \
	{                                                                                          \
		"interval", 0, &(given).interval, NULL                                             \
	}

/* Whether any of it was given. */
bool tg_logs_told(const struct tg_logs_given *g);

/* What the import takes of it, borrowed. Returns TG_WORD_OK, or TG_WORD_USAGE with a sentence. */
int tg_logs_take(
	struct tg_command *c, const struct tg_logs_given *g, struct tg_import_options *out);

/*
 * Import the folder or file `name` and open what comes of it. With `keep` that is a recording at
 * this path, which must not be there yet; else it is in no folder and goes when it is closed. What
 * each file is, is noted. Returns TG_WORD_OK, or TG_WORD_FAILED or TG_WORD_USAGE with a sentence.
 */
int tg_open_logs(struct tg_command *c, const char *name, const struct tg_import_options *options,
	const char *keep, struct tg_recording **out);

#endif
