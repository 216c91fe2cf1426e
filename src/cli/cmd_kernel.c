/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph kernel`: what a kernelspec starts. */
#include <getopt.h>

#include "cli/cli.h"
#include "jupyter/proxy.h"

#include "base/mem.h"

static const char help[] =
	"usage: tachograph kernel -f CONNECTION_FILE [--kernel NAME | --spec DIR]\n"
	"\n"
	"The kernel that Jupyter starts: runs the user's own kernel behind it and records its "
	"cells.\n"
	"\n"
	"  -f FILE             the connection file\n"
	"  --kernel NAME       the user's kernel: a name of `jupyter kernelspec list`; else "
	"python3\n"
	"  --spec DIR          the user's kernel: a folder with a kernel.json\n"
	"  --python EXE        what \"python\" in that kernel.json means\n"
	"  --report WHAT       what a cell prints when it ends: line, jumper or none; else line\n"
	"  --no-record         take no recording\n";

enum {
	OPT_KERNEL = 256,
	OPT_SPEC,
	OPT_PYTHON,
	OPT_REPORT,
	OPT_WORKER,
	OPT_NO_RECORD,
	OPT_TCP,
	OPT_HELP
};

static const struct option options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "spec", required_argument, NULL, OPT_SPEC },
	{ "python", required_argument, NULL, OPT_PYTHON },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "worker", required_argument, NULL, OPT_WORKER }, /* for tests */
	{ "tcp", no_argument, NULL, OPT_TCP }, /* for tests */
	{ "no-record", no_argument, NULL, OPT_NO_RECORD },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static bool is_report(const char *s)
{
	return !strcmp(s, "none") || !strcmp(s, "line") || !strcmp(s, "jumper");
}

int tg_cmd_kernel(int argc, char **argv)
{
	struct tg_proxy_options o = { .record = true };
	struct tg_err err = { 0 };
	int c, status;

	optind = 1;
	while ((c = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			o.connection_file = optarg;
			break;
		case OPT_KERNEL:
			o.kernel = optarg;
			break;
		case OPT_SPEC:
			o.spec = optarg;
			break;
		case OPT_PYTHON:
			o.python = optarg;
			break;
		case OPT_REPORT:
			o.report = optarg;
			break;
		case OPT_WORKER:
			o.worker = optarg;
			break;
		case OPT_NO_RECORD:
			o.record = false;
			break;
		case OPT_TCP:
			o.tcp = true;
			break;
		case 'h':
		case OPT_HELP:
			fputs(help, stdout);
			return TG_EXIT_OK;
		default:
			return TG_EXIT_USAGE;
		}
	}
	if (optind < argc)
		return tg_cli_fail(
			TG_EXIT_USAGE, "kernel: \"%s\" is one argument too many", argv[optind]);
	if (!o.connection_file)
		return tg_cli_fail(
			TG_EXIT_USAGE, "kernel: -f CONNECTION_FILE is missing; Jupyter gives it");
	if (o.kernel && o.spec)
		return tg_cli_fail(TG_EXIT_USAGE, "kernel: --kernel and --spec exclude each other");
	if (o.report && !is_report(o.report))
		return tg_cli_fail(TG_EXIT_USAGE, "kernel: --report is line, jumper or none");
	status = tg_proxy_run(&o, &err);
	if (err.code)
		tg_cli_fail(status, "%s", err.text);
	return status;
}
