/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tachograph record`: run a command, record it, say what it cost, and end as it ended; and
 * `tachograph attach`: record what runs already.
 */
#include <errno.h>
#include <fcntl.h>
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

static const char record_help[] =
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

static const char attach_help[] =
	"usage: tachograph attach PID [-o F] [-i SECONDS] [-q] [--no-args]\n"
	"\n"
	"Records a process that runs already, with all that it has started and starts, until it "
	"ends or\n"
	"this ends by Ctrl-C. The process is left alone.\n"
	"\n"
	"  -o, --output F      the recording; without it NAME-HOST-DATE.tacho in $TACHOGRAPH_DIR "
	"or the\n"
	"                      working folder\n"
	"  -i, --interval S    seconds between samples, 0.001 to 3600; else 0.1\n"
	"  -q, --quiet         no line of progress and no summary\n"
	"      --no-args       record no command lines\n";

void tg_cli_say(void *ctx, const char *sentence)
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

int tg_cli_cannot_run(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

int tg_cli_end(int r, struct tg_front_result *result, const struct tg_err *err)
{
	tg_front_result_release(result);
	if (r < 0)
		return tg_cli_fail(tg_cli_cannot_run(r), "%s", err->text);
	return result->signal ? end_by(result->signal) : result->code;
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

/*
 * Of the first three descriptors those that are closed are the command's to be found so, but not
 * ours: what we open would take their numbers, and our sentences would go there.
 */
static void keep_numbers(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
}

/* What both take. */
struct given {
	struct tg_front_options o;
	const char *interval;
	bool quiet, wants_help;
};

/* Returns 0, or EXIT_OURS after a sentence. */
static int settle(struct given *g, const char *word)
{
	const char *folder = getenv("TACHOGRAPH_DIR");

	keep_numbers();
	if (g->interval && !take_interval(g->interval, &g->o.interval_ns))
		return tg_cli_fail(EXIT_OURS,
			"%s: -i is a number of seconds from 0.001 to 3600, not \"%.40s\"", word,
			g->interval);
	g->o.say = tg_cli_say;
	g->o.folder = folder && *folder ? folder : NULL;
	g->o.tty = !g->quiet && isatty(STDERR_FILENO) ? STDERR_FILENO : -1;
	return 0;
}

int tg_cmd_record(int argc, char **argv)
{
	struct given g = { .quiet = false };
	const struct tg_option option[] = {
		{ "output", 'o', &g.o.output, NULL },
		{ "interval", 'i', &g.interval, NULL },
		{ "quiet", 'q', NULL, &g.quiet },
		{ "wait", 0, NULL, &g.o.wait },
		{ "no-args", 0, NULL, &g.o.no_args },
		{ "help", 'h', NULL, &g.wants_help },
	};
	struct tg_command c = { .where = TG_IN_CLI };
	struct tg_front_result result;
	struct tg_err err = { 0 };
	int rest, r;

	if (tg_options_first(&c, argc, argv, option, TG_ARRAY_SIZE(option), &rest))
		return tg_cli_fail(EXIT_OURS, "record: %s", c.err.text);
	if (g.wants_help) {
		fputs(record_help, stdout);
		return TG_EXIT_OK;
	}
	if (rest < argc && !strcmp(argv[rest], "--"))
		rest++;
	else if (rest < argc && argv[rest][0] == '-')
		return tg_cli_fail(EXIT_OURS, "record: there is no option %.40s", argv[rest]);
	if (rest == argc)
		return tg_cli_fail(
			EXIT_OURS, "record: which command? See tachograph record --help");
	if (settle(&g, "record"))
		return EXIT_OURS;
	g.o.argv = argv + rest;
	r = tg_front_run(&g.o, &result, &err);
	if (r == 0 && !g.quiet && result.file.len && !result.nested)
		summarize(result.file.data);
	if (r == 0 && !g.quiet && result.left.len)
		tg_cli_fail(0, "still running: %s", result.left.data);
	return tg_cli_end(r, &result, &err);
}

static bool take_pid(const char *text, pid_t *pid)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v <= 0 || v > INT32_MAX)
		return false;
	*pid = (pid_t)v;
	return true;
}

int tg_cmd_attach(int argc, char **argv)
{
	struct given g = { .quiet = false };
	const struct tg_option option[] = {
		{ "output", 'o', &g.o.output, NULL },
		{ "interval", 'i', &g.interval, NULL },
		{ "quiet", 'q', NULL, &g.quiet },
		{ "no-args", 0, NULL, &g.o.no_args },
		{ "help", 'h', NULL, &g.wants_help },
	};
	struct tg_command c = { .where = TG_IN_CLI };
	struct tg_front_result result;
	struct tg_err err = { 0 };
	pid_t pid;
	int r;

	if (tg_options(&c, &argc, argv, option, TG_ARRAY_SIZE(option)))
		return tg_cli_fail(TG_EXIT_USAGE, "attach: %s", c.err.text);
	if (g.wants_help) {
		fputs(attach_help, stdout);
		return TG_EXIT_OK;
	}
	if (argc != 2 || !take_pid(argv[1], &pid))
		return tg_cli_fail(TG_EXIT_USAGE, "attach needs the number of one process");
	if (settle(&g, "attach"))
		return TG_EXIT_USAGE;
	r = tg_front_attach(&g.o, pid, &result, &err);
	if (r == 0 && !g.quiet && result.file.len)
		summarize(result.file.data);
	r = r < 0             ? tg_cli_fail(TG_EXIT_FAILED, "%s", err.text)
	    : result.file.len ? TG_EXIT_OK
			      : TG_EXIT_FAILED;
	tg_front_result_release(&result);
	return r;
}
