/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the command line. Words that `%tacho` has too come from command/command.h and need
 * no line here; a word of the command line alone is one file cmd_<word>.c and one line in the table
 * of main.c. Only this folder prints, exits and reads argv.
 */
#ifndef TG_CLI_CLI_H
#define TG_CLI_CLI_H

#include <stdbool.h>

#include "command/command.h"
#include "front/front.h"

enum tg_exit { TG_EXIT_OK = 0, TG_EXIT_FAILED = 1, TG_EXIT_USAGE = 2 };

struct tg_cli_command {
	const char *name;
	const char *help; /* one line, as in `tachograph --help`; starts with a small letter */
	bool hidden; /* a role that we start ourselves: works, but is not listed */
	int (*run)(int argc, char **argv); /* argv[0] is the word; returns the exit status */
};

/*
 * "tachograph: sentence." on stderr, as one line without control characters; returns `status` so
 * that a command can end with it.
 */
int tg_cli_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The end of the program: what is still buffered is written. Returns `status`, or TG_EXIT_FAILED
 * after a sentence when all went well but for that.
 */
int tg_cli_finish(int status);

/* For tg_front_options: a sentence to the user. */
void tg_cli_say(void *ctx, const char *sentence);

/* The exit status when a command could not be run, for -ENOENT and other errors. */
int tg_cli_cannot_run(int error);

/*
 * End as a command ended that tg_front_run has run, which returned `r`: its exit status, or its
 * signal, or a sentence and a status of ours. Releases `result`.
 */
int tg_cli_end(int r, struct tg_front_result *result, const struct tg_err *err);

/* Run a word of command/ with stdout as its result and stderr for the rest. */
int tg_cli_run_word(const struct tg_word *word, int argc, char **argv);

/* Ask the sampler what there is, into c->source (see command.h); and free that again. */
int tg_cli_load_sources(struct tg_command *c);
void tg_cli_free_sources(struct tg_command *c);

/* The commands, one file each. */
int tg_cmd_attach(int argc, char **argv);
int tg_cmd_gpu_helper(int argc, char **argv);
int tg_cmd_import(int argc, char **argv);
int tg_cmd_install(int argc, char **argv); /* and uninstall: argv[0] says which */
int tg_cmd_kernel(int argc, char **argv);
int tg_cmd_mark(int argc, char **argv);
int tg_cmd_record(int argc, char **argv);
int tg_cmd_recorder(int argc, char **argv);
int tg_cmd_version(int argc, char **argv);
int tg_cmd_worker(int argc, char **argv);

/* Show a file in the browser, unless there is no screen here: then a sentence says so. */
void tg_cli_open_file(struct tg_command *c, const char *path);

#endif
