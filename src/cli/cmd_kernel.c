/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph kernel`: what a kernelspec starts. */
#include "cli/cli.h"
#include "command/run.h"
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

static bool is_report(const char *s)
{
	return !strcmp(s, "none") || !strcmp(s, "line") || !strcmp(s, "jumper");
}

int tg_cmd_kernel(int argc, char **argv)
{
	struct tg_proxy_options o = { .record = true };
	bool no_record = false, wants_help = false;
	const struct tg_option option[] = {
		{ "connection-file", 'f', &o.connection_file, NULL },
		{ "kernel", 0, &o.kernel, NULL }, { "spec", 0, &o.spec, NULL },
		{ "python", 0, &o.python, NULL }, { "report", 0, &o.report, NULL },
		{ "no-record", 0, NULL, &no_record }, { "help", 'h', NULL, &wants_help },
		{ "worker", 0, &o.worker, NULL }, /* for tests */
		{ "tcp", 0, NULL, &o.tcp }, /* for tests */
	};
	struct tg_command c = { .where = TG_IN_CLI };
	struct tg_err err = { 0 };
	int status;

	if (tg_options(&c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return tg_cli_fail(TG_EXIT_USAGE, "%s", c.err.text);
	if (wants_help) {
		fputs(help, stdout);
		return TG_EXIT_OK;
	}
	o.record = !no_record;
	if (argc > 1)
		return tg_cli_fail(
			TG_EXIT_USAGE, "kernel: \"%.200s\" is one argument too many", argv[1]);
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
