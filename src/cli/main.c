/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: finds the word, runs it, turns its result into an exit status. */
#include <unistd.h>

#include "analyze/recording.h"
#include "base/log.h"
#include "cli/cli.h"

#include "base/mem.h"

/* Words of the command line alone. Shared ones are in command/words.c. */
static const struct tg_cli_command commands[] = {
	{ "record", "run a command and record what it does to the machine", false, tg_cmd_record },
	{ "attach", "record a process that runs already", false, tg_cmd_attach },
	{ "mark", "name a stage of what is recorded: its begin, its end, or its command", false,
		tg_cmd_mark },
	{ "import", "read logs that other tools took: top, vmstat, iostat, nvidia-smi, …", false,
		tg_cmd_import },
	{ "install", "put the kernelspec of a recorded kernel in place", false, tg_cmd_install },
	{ "uninstall", "remove that kernelspec", false, tg_cmd_install },
	{ "kernel", "the kernel that Jupyter starts", false, tg_cmd_kernel },
	{ "recorder", "record a process tree (a role that is started by others)", true,
		tg_cmd_recorder },
	{ "gpu-helper", "ask the GPU driver (a role that the recorder starts)", true,
		tg_cmd_gpu_helper },
	{ "worker", "answer the kernel's magics", true, tg_cmd_worker },
	{ "version", "print the version", true, tg_cmd_version },
};

int tg_cmd_version(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return tg_cli_fail(TG_EXIT_USAGE, "version takes no arguments");
	printf("tachograph %s\n", TG_VERSION);
	return TG_EXIT_OK;
}

static void usage(FILE *f)
{
	size_t n;
	const struct tg_word *word = tg_words(&n);

	fputs(TG_WHAT_IT_DOES "\n\nusage: tachograph WORD …   (short: tacho)\n\n", f);
	for (size_t i = 0; i < TG_ARRAY_SIZE(commands); i++)
		if (!commands[i].hidden)
			fprintf(f, "  %-9s %s\n", commands[i].name, commands[i].help);
	for (size_t i = 0; i < n; i++)
		if (word[i].where & TG_IN_CLI)
			fprintf(f, "  %-9s %s\n", word[i].name, word[i].help);
	fputs("\n`tachograph WORD --help` says more, `tachograph --version` which one this is.\n",
		f);
}

/* A word that does not exist: one sentence, with the nearest that does. */
static int unknown(const char *name)
{
	const char *names[64];
	size_t n_words, n = 0;
	const struct tg_word *word = tg_words(&n_words);
	struct tg_buf shown = TG_BUF_INIT;
	const char *near;
	int status;

	if (tg_word_find(name, TG_IN_NOTEBOOK))
		return tg_cli_fail(
			TG_EXIT_USAGE, "\"%s\" is a word of notebooks: %%tacho %s", name, name);
	for (size_t i = 0; i < TG_ARRAY_SIZE(commands) && n < TG_ARRAY_SIZE(names); i++)
		if (!commands[i].hidden)
			names[n++] = commands[i].name;
	for (size_t i = 0; i < n_words && n < TG_ARRAY_SIZE(names); i++)
		if (word[i].where & TG_IN_CLI)
			names[n++] = word[i].name;
	near = tg_nearest(name, names, n);
	tg_plain(&shown, name, 40);
	status = near ? tg_cli_fail(TG_EXIT_USAGE, "there is no \"%s\"; did you mean \"%s\"?",
				shown.data, near)
		      : tg_cli_fail(TG_EXIT_USAGE, "there is no \"%s\"; see tachograph --help",
				shown.data ? shown.data : "");
	tg_buf_release(&shown);
	return status;
}

static const struct tg_cli_command *find(const char *name)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int run(int argc, char **argv)
{
	const struct tg_cli_command *command;
	const struct tg_word *word;

	if (argc < 2) {
		usage(stderr);
		return TG_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return tg_cmd_version(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
		(!strcmp(argv[1], "help") && argc == 2)) {
		usage(stdout);
		return TG_EXIT_OK;
	}
	if (!strcmp(argv[1], "help") && argc == 3 && argv[2][0] != '-') {
		command = find(argv[2]);
		if (command && !command->hidden)
			return command->run(2, (char *[]){ argv[2], (char *)"--help", NULL });
		if (!command && !tg_word_find(argv[2], TG_IN_CLI))
			return unknown(argv[2]);
	}
	command = find(argv[1]);
	if (command)
		return command->run(argc - 1, argv + 1);
	word = tg_word_find(argv[1], TG_IN_CLI);
	if (word)
		return tg_cli_run_word(word, argc - 1, argv + 1);
	return unknown(argv[1]);
}

int main(int argc, char **argv)
{
	bool known_level = tg_log_init();
	const struct tg_cli_command *command = argc > 1 ? find(argv[1]) : NULL;

	/* the roles inherit it from who has said so already */
	if (!known_level && !(command && command->hidden))
		tg_log(TG_LOG_WARN, "cli",
			"TACHOGRAPH_LOG is none of error, warn, info and debug; it is ignored");
	return tg_cli_finish(run(argc, argv));
}
