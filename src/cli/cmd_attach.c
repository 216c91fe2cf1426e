/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph attach`: record what runs already. */
#include "cli/cli.h"
#include "cli/front.h"
#include "cli/results.h"
#include "command/run.h"

#include "base/mem.h"

static const char help[] =
	"usage: tachograph attach PID [-o F] [-i SECONDS] [-q] [--report F]… [--csv DIR] "
	"[--no-args]\n"
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
	"      --report F      write a report there at the end, .html or .ipynb; may be repeated\n"
	"      --csv DIR       write samples, spans, processes and events there at the end\n"
	"      --no-args       record no command lines\n";

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
	struct tg_cli_front g = { .quiet = false };
	struct tg_results results = { .csv = NULL };
	const struct tg_option option[] = {
		{ "output", 'o', &g.o.output, NULL },
		{ "interval", 'i', &g.interval, NULL },
		{ "quiet", 'q', NULL, &g.quiet },
		{ "report", 0, .many = &results.report },
		{ "csv", 0, &results.csv, NULL },
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
		fputs(help, stdout);
		return TG_EXIT_OK;
	}
	if (argc != 2 || !take_pid(argv[1], &pid))
		return tg_cli_fail(TG_EXIT_USAGE, "attach needs the number of one process");
	if (tg_cli_settle(&g, "attach") || tg_results_settle(&results, "attach"))
		return TG_EXIT_USAGE;
	r = tg_front_attach(&g.o, pid, &result, &err);
	if (r == 0 && !g.quiet && result.file.len)
		tg_cli_summarize(result.file.data);
	if (r == 0)
		tg_results_write(&results, &result, !g.quiet);
	r = r < 0             ? tg_cli_fail(TG_EXIT_FAILED, "%s", err.text)
	    : result.file.len ? TG_EXIT_OK
			      : TG_EXIT_FAILED;
	tg_front_result_release(&result);
	return r;
}
