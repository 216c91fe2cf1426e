/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/results.h"

#include <errno.h>
#include <libgen.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.h"
#include "cli/cli.h"

#include "base/mem.h"

static void check_folder(const char *name)
{
	char *copy = tg_xstrdup(name), *parent;
	struct stat st;

	if (stat(name, &st) == 0 && !S_ISDIR(st.st_mode)) {
		tg_cli_fail(0, "the CSV files cannot be written: %s is no folder", name);
	} else {
		parent = access(name, F_OK) == 0 ? copy : dirname(copy);
		if (access(parent, W_OK | X_OK) < 0)
			tg_cli_fail(0, "the CSV files cannot be written: %s: %s", parent,
				strerror(errno));
	}
	free(copy);
}

void tg_results_check(const struct tg_results *r)
{
	if (r->csv)
		check_folder(r->csv);
}

/* In a process of its own. */
static _Noreturn void run_word(int argc, char **argv)
{
	const struct tg_word *word = tg_word_find(argv[0], TG_IN_CLI);
	int status = word ? tg_cli_run_word(word, argc, argv) : TG_EXIT_FAILED;

	fflush(NULL);
	_exit(status);
}

static bool has_ended(pid_t pid, int *status)
{
	pid_t got = waitpid(pid, status, WNOHANG);

	if (got < 0)
		*status = 0; /* who ignores SIGCHLD does not get to know */
	return got != 0;
}

/* Whether it was done; what went wrong was said. */
static bool run_apart(const char *what, int argc, char **argv)
{
	struct tg_signals signals;
	struct signalfd_siginfo s;
	bool asked = false;
	int status = 0;
	pid_t pid;

	if (tg_signals_open(&signals, false) < 0)
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		tg_signals_close(&signals);
		run_word(argc, argv);
	}
	while (pid > 0 && !has_ended(pid, &status)) {
		poll(&(struct pollfd){ .fd = signals.fd, .events = POLLIN }, 1, -1);
		while (read(signals.fd, &s, sizeof(s)) == sizeof(s))
			if (s.ssi_signo != SIGCHLD) {
				asked = true;
				kill(pid, SIGTERM);
			}
	}
	tg_signals_close(&signals);
	if (pid < 0 || asked || WIFSIGNALED(status))
		tg_cli_fail(0, "%s: not written, %s", what,
			pid < 0 ? strerror(errno)
			: asked ? "as it was interrupted"
				: strsignal(WTERMSIG(status)));
	return pid > 0 && status == 0 && !asked;
}

static void write_csv(const char *folder, const char *file, bool tells)
{
	char *argv[] = { (char *)"export", (char *)file, (char *)"-o", (char *)folder,
		(char *)"--format", (char *)"folder", NULL };

	if (run_apart(folder, TG_ARRAY_SIZE(argv) - 1, argv) && tells)
		fprintf(stderr, "  CSV files in %s\n", folder);
}

void tg_results_write(const struct tg_results *r, const char *file, bool tells)
{
	if (!r->csv)
		return;
	if (!*file)
		tg_cli_fail(0, "%s: not written, as nothing was recorded", r->csv);
	else
		write_csv(r->csv, file, tells);
}
