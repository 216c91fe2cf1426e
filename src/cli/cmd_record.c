/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph record`: run a command, record it, say what it cost, and end as it ended. */
#include "cli/cli.h"
#include "cli/front.h"
#include "cli/results.h"
#include "command/run.h"
#include "mark/batch.h"

#include "base/mem.h"

static const char help[] =
	"usage: tachograph record [-o F] [-i SECONDS] [-q] [--report F]… [--csv DIR] [--request "
	"R]\n"
	"                         [--wait] [--no-args] [--] COMMAND …\n"
	"\n"
	"Runs a command and records what it does to the machine, with all that it starts.\n"
	"\n"
	"  -o, --output F      the recording; without it COMMAND-HOST-DATE.tacho, with the number "
	"of\n"
	"                      a batch job in it, in $TACHOGRAPH_DIR or the working folder\n"
	"  -i, --interval S    seconds between samples, 0.001 to 3600; else 0.1\n"
	"  -q, --quiet         no line of progress and no summary\n"
	"      --report F      write the page or notebook of `tachograph report` there when it "
	"has\n"
	"                      ended, by the name's end: .html or .ipynb; may be repeated;\n"
	"                      without it $TACHOGRAPH_REPORT\n"
	"      --csv DIR       write samples, spans, processes and events there when it has "
	"ended\n"
	"      --request R     what was requested for it, as cpus=8,mem=16G,time=2h,gpus=1; else "
	"what "
	"a\n"
	"                      batch system says\n"
	"      --wait          wait for all that it leaves running, too\n"
	"      --no-args       record no command lines\n"
	"\n"
	"The exit status is that of COMMAND; 125 when we failed, 126 when it could not be run, 127 "
	"when\n"
	"there is no such command. Below another recording of this machine it becomes a span of "
	"that\n"
	"one, unless -o says otherwise.\n";

int tg_cmd_record(int argc, char **argv)
{
	struct tg_cli_front g = { .quiet = false };
	struct tg_results results = { .csv = NULL };
	const struct tg_option option[] = {
		{ "output", 'o', &g.o.output, NULL },
		{ "interval", 'i', &g.interval, NULL },
		{ "quiet", 'q', NULL, &g.quiet },
		{ "report", 0, .many = &results.report },
		{ "csv", 0, &results.csv, NULL },
		{ "request", 0, &g.o.request, NULL },
		{ "wait", 0, NULL, &g.o.wait },
		{ "no-args", 0, NULL, &g.o.no_args },
		{ "help", 'h', NULL, &g.wants_help },
	};
	struct tg_command c = { .where = TG_IN_CLI };
	struct tg_front_result result;
	struct tg_err err = { 0 };
	int rest, r;

	if (tg_options_first(&c, argc, argv, option, TG_ARRAY_SIZE(option), &rest))
		return tg_cli_fail(TG_EXIT_OURS, "record: %s", c.err.text);
	if (g.wants_help) {
		fputs(help, stdout);
		return TG_EXIT_OK;
	}
	if (rest < argc && !strcmp(argv[rest], "--"))
		rest++;
	else if (rest < argc && argv[rest][0] == '-')
		return tg_cli_fail(TG_EXIT_OURS, "record: there is no option %.40s", argv[rest]);
	if (rest == argc)
		return tg_cli_fail(
			TG_EXIT_OURS, "record: which command? See tachograph record --help");
	if (g.o.request &&
		tg_job_request_parse(g.o.request, &(struct tg_job_request){ 0 }, &err) < 0)
		return tg_cli_fail(TG_EXIT_OURS, "record: %s", err.text);
	if (tg_cli_settle(&g, "record") || tg_results_settle(&results, "record"))
		return TG_EXIT_OURS;
	g.o.argv = argv + rest;
	r = tg_front_run(&g.o, &result, &err);
	if (r == 0 && !g.quiet && result.file.len && !result.nested)
		tg_cli_summarize(result.file.data);
	if (r == 0 && !g.quiet && result.left.len)
		tg_cli_fail(0, "still running: %s", result.left.data);
	if (r == 0)
		tg_results_write(&results, &result, !g.quiet);
	return tg_cli_end(r, &result, &err);
}
