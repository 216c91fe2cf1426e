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
#include "mark/setting.h"

#include "base/mem.h"

/* Where a file or folder of that name could not be made, say it of `what`. */
static void check_place(const char *what, const char *name)
{
	char *copy = tg_xstrdup(name), *parent = dirname(copy);

	if (access(parent, W_OK | X_OK) < 0)
		tg_cli_fail(0, "%s cannot be written: %s: %s", what, parent, strerror(errno));
	free(copy);
}

static void check_csv(const char *name)
{
	struct stat st;

	if (stat(name, &st) < 0)
		check_place("the CSV files", name);
	else if (!S_ISDIR(st.st_mode))
		tg_cli_fail(0, "the CSV files cannot be written: %s is no folder", name);
	else if (access(name, W_OK | X_OK) < 0)
		tg_cli_fail(0, "the CSV files cannot be written: %s: %s", name, strerror(errno));
}

static void check_report(const char *name)
{
	struct stat st;

	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		tg_cli_fail(0, "the report cannot be written: %s is a folder", name);
	else
		check_place("the report", name);
}

/* The variable is also a setting of kernels, whose words are no names of files. */
static void take_default(struct tg_results *r)
{
	const char *name = getenv(tg_setting(TG_SET_REPORT)->variable);
	char word[TG_SETTING_TEXT_MAX];

	if (r->report.n || !name || !*name || tg_setting_read(TG_SET_REPORT, name, word))
		return;
	if (!tg_is_report_name(name)) {
		tg_cli_fail(0,
			"TACHOGRAPH_REPORT is ignored: a report's name ends in .html or .ipynb, "
			"not \"%.60s\"",
			name);
		return;
	}
	r->report.value[r->report.n++] = name;
	r->by_default = true;
}

int tg_results_settle(struct tg_results *r, const char *word)
{
	for (size_t i = 0; i < r->report.n; i++)
		if (!tg_is_report_name(r->report.value[i]))
			return tg_cli_fail(-1,
				"%s: a report's name ends in .html or .ipynb, not \"%.60s\"", word,
				r->report.value[i]);
	take_default(r);
	for (size_t i = 0; i < r->report.n; i++)
		check_report(r->report.value[i]);
	if (r->csv)
		check_csv(r->csv);
	return 0;
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

enum done { DONE, FAILED, INTERRUPTED };

/* What went wrong was said. */
static enum done run_apart(const char *what, int argc, char **argv)
{
	struct tg_signals signals;
	struct signalfd_siginfo s;
	bool asked = false;
	int status = 0;
	pid_t pid;

	if (tg_signals_open(&signals, false) < 0)
		return FAILED;
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
	return asked ? INTERRUPTED : pid > 0 && status == 0 ? DONE : FAILED;
}

static enum done write_report(const char *name, const char *file)
{
	char *argv[] = { (char *)"report", (char *)"-o", (char *)name, (char *)"--", (char *)file,
		NULL };

	return run_apart(name, TG_ARRAY_SIZE(argv) - 1, argv);
}

static enum done write_csv(const char *folder, const char *file)
{
	char *argv[] = { (char *)"export", (char *)"-o", (char *)folder, (char *)"--format",
		(char *)"folder", (char *)"--", (char *)file, NULL };

	return run_apart(folder, TG_ARRAY_SIZE(argv) - 1, argv);
}

static void write_all(const struct tg_results *r, const char *file, bool tells)
{
	enum done done = DONE;

	for (size_t i = 0; i < r->report.n && done != INTERRUPTED; i++) {
		done = write_report(r->report.value[i], file);
		if (done == DONE && tells)
			fprintf(stderr, "  report in %s\n", r->report.value[i]);
	}
	if (r->csv && done != INTERRUPTED && write_csv(r->csv, file) == DONE && tells)
		fprintf(stderr, "  CSV files in %s\n", r->csv);
}

/* In one line, whatever was asked for. */
static void say_none(const struct tg_results *r, const char *why)
{
	struct tg_buf names = TG_BUF_INIT;

	for (size_t i = 0; i < r->report.n; i++)
		tg_buf_addf(&names, "%s%s", names.len ? ", " : "", r->report.value[i]);
	if (r->csv)
		tg_buf_addf(&names, "%s%s", names.len ? ", " : "", r->csv);
	tg_cli_fail(0, "%s: not written, %s", names.data, why);
	tg_buf_release(&names);
}

void tg_results_write(const struct tg_results *r, const struct tg_front_result *of, bool tells)
{
	if (!r->report.n && !r->csv)
		return;
	if (!of->nested && of->file.len)
		write_all(r, of->file.data, tells);
	else if (!of->nested)
		say_none(r, "as nothing was recorded");
	else if (r->csv || !r->by_default)
		say_none(r, "as this is a span of another recording");
}
