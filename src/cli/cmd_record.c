/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph record`: run a command, record it, say what it cost, and end as it ended. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "command/run.h"
#include "command/summary.h"
#include "front/front.h"
#include "mark/setting.h"

#include "base/mem.h"

/* As timeout(1), env(1) and nohup(1) have them. */
enum { EXIT_OURS = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

static const char help[] =
	"usage: tachograph record [-o F] [-i SECONDS] [-q] [--wait] [--no-args] [--] COMMAND …\n"
	"\n"
	"Runs a command and records what it does to the machine, with all that it starts.\n"
	"\n"
	"  -o, --output F      the recording; without it COMMAND-HOST-DATE.tacho, with the number "
	"of\n"
	"                      a batch job in it, in $TACHOGRAPH_DIR or the working folder\n"
	"  -i, --interval S    seconds between samples, 0.001 to 3600; else 0.1\n"
	"  -q, --quiet         no line of progress and no summary\n"
	"      --wait          wait for all that it leaves running, too\n"
	"      --no-args       record no command lines\n"
	"\n"
	"The exit status is that of COMMAND; 125 when we failed, 126 when it could not be run, 127 "
	"when\n"
	"there is no such command. Below another recording of this machine it becomes a span of "
	"that\n"
	"one, unless -o says otherwise.\n";

static void say(void *ctx, const char *sentence)
{
	(void)ctx;
	tg_cli_fail(0, "%s", sentence);
}

static bool take_interval(const char *text, int64_t *ns)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= 0.001) || !(s <= 3600))
		return false;
	*ns = (int64_t)llround(s * 1e9);
	return true;
}

/* Die as it died, so that who waits for us sees the same; without a core file of ours. */
static int end_by(int signal)
{
	sigset_t set;

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	fflush(NULL);
	kill(getpid(), signal);
	return 128 + signal; /* one that does not end us */
}

static void summarize(const char *file)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_err err = { 0 };

	if (tg_summary(file, &text, &err) < 0)
		tg_cli_fail(0, "%s", err.text);
	else
		fputs(text.data, stderr);
	tg_buf_release(&text);
}

int tg_cmd_record(int argc, char **argv)
{
	const char *interval = NULL, *folder = getenv("TACHOGRAPH_DIR");
	bool quiet = false, wants_help = false;
	struct tg_front_options o = { .tty = -1, .say = say };
	const struct tg_option option[] = {
		{ "output", 'o', &o.output, NULL },
		{ "interval", 'i', &interval, NULL },
		{ "quiet", 'q', NULL, &quiet },
		{ "wait", 0, NULL, &o.wait },
		{ "no-args", 0, NULL, &o.no_args },
		{ "help", 'h', NULL, &wants_help },
	};
	struct tg_command c = { .where = TG_IN_CLI };
	struct tg_front_result result;
	struct tg_err err = { 0 };
	int rest, r;

	if (tg_options_first(&c, argc, argv, option, TG_ARRAY_SIZE(option), &rest))
		return tg_cli_fail(EXIT_OURS, "record: %s", c.err.text);
	if (wants_help) {
		fputs(help, stdout);
		return TG_EXIT_OK;
	}
	if (rest < argc && !strcmp(argv[rest], "--"))
		rest++;
	else if (rest < argc && argv[rest][0] == '-')
		return tg_cli_fail(EXIT_OURS, "record: there is no option %.40s", argv[rest]);
	if (rest == argc)
		return tg_cli_fail(
			EXIT_OURS, "record: which command? See tachograph record --help");
	if (interval && !take_interval(interval, &o.interval_ns))
		return tg_cli_fail(EXIT_OURS,
			"record: -i is a number of seconds from 0.001 to 3600, not \"%.40s\"",
			interval);
	o.argv = argv + rest;
	o.folder = folder && *folder ? folder : NULL;
	if (!quiet && isatty(STDERR_FILENO))
		o.tty = STDERR_FILENO;
	r = tg_front_run(&o, &result, &err);
	if (r == 0 && !quiet && result.file.len && !result.nested)
		summarize(result.file.data);
	if (r == 0 && !quiet && result.left.len)
		tg_cli_fail(0, "still running: %s", result.left.data);
	tg_front_result_release(&result);
	if (r < 0)
		return tg_cli_fail(r == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, "%s", err.text);
	return result.signal ? end_by(result.signal) : result.code;
}
