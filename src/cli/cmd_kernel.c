/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph kernel`: what a kernelspec starts. */
#include "cli/cli.h"
#include "command/run.h"
#include "jupyter/proxy.h"

#include "base/mem.h"

static const char help[] =
	"usage: tachograph kernel -f CONNECTION_FILE [--kernel NAME | --spec DIR] [--] "
	"[ARGUMENT …]\n"
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
	"  --no-record         take no recording\n"
	"  ARGUMENT …          passed on to the user's kernel: all from the first that is none of "
	"these\n";

static bool is_report(const char *s)
{
	return !strcmp(s, "none") || !strcmp(s, "line") || !strcmp(s, "jumper");
}

/* What looks like a mistake may be meant for the user's kernel: it goes there, and that is told. */
static void tell_near(const char *arg, const struct tg_option *option, size_t n)
{
	const char *near = tg_option_near(arg, option, n);

	if (near)
		tg_cli_fail(0, "kernel: %.*s goes to the user's kernel; did you mean --%s?",
			(int)strcspn(arg, "="), arg, near);
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
	int status, rest;

	status = tg_options_first(&c, argc, argv, option, TG_ARRAY_SIZE(option), &rest);
	/* who starts us appends, so -f goes before: without it, nothing is there to be passed on */
	if (!status && !o.connection_file) {
		argv += rest - 1;
		argc -= rest - 1;
		status = tg_options(&c, &argc, argv, option, TG_ARRAY_SIZE(option));
		rest = 1;
		if (!status && argc > 1)
			return tg_cli_fail(TG_EXIT_USAGE,
				"kernel: \"%.200s\" is one argument too many", argv[1]);
	}
	if (status)
		return tg_cli_fail(TG_EXIT_USAGE, "%s", c.err.text);
	if (wants_help) {
		fputs(help, stdout);
		return TG_EXIT_OK;
	}
	o.record = !no_record;
	if (!o.connection_file)
		return tg_cli_fail(
			TG_EXIT_USAGE, "kernel: -f CONNECTION_FILE is missing; Jupyter gives it");
	if (o.kernel && o.spec)
		return tg_cli_fail(TG_EXIT_USAGE, "kernel: --kernel and --spec exclude each other");
	if (o.report && !is_report(o.report))
		return tg_cli_fail(TG_EXIT_USAGE, "kernel: --report is line, jumper or none");
	if (rest < argc && strcmp(argv[rest], "--"))
		tell_near(argv[rest], option, TG_ARRAY_SIZE(option));
	else if (rest < argc)
		rest++;
	o.more = rest < argc ? argv + rest : NULL;
	status = tg_proxy_run(&o, &err);
	if (err.code)
		tg_cli_fail(status, "%s", err.text);
	return status;
}
