/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tachograph mark`: stages of what is recorded, from a script. A stage belongs to the process that
 * runs us, which is the script's shell, and is known by it and its name. Outside a recording it
 * does nothing; and never does it make a script fail that is right.
 */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "front/front.h"
#include "mark/mark.h"
#include "mark/protocol.h"

#include "base/mem.h"

#define SETTLE_MS 1000

static const char help[] =
	"usage: tachograph mark NAME [KEY=VALUE …]\n"
	"       tachograph mark NAME [KEY=VALUE …] -- COMMAND …\n"
	"       tachograph mark --end [NAME]\n"
	"\n"
	"Names a stage of what is recorded: its begin, to go on until --end or until the calling "
	"script\n"
	"ends; or the time that a command takes, whose exit status it has. Stages may lie in each "
	"other\n"
	"and beside each other. --end without NAME ends the one that began last.\n"
	"\n"
	"Outside a recording (see tachograph-record(1)) it does nothing, successfully, but for "
	"running\n"
	"COMMAND.\n";

/* "stage/SHELL/NAME", with a name that has room. */
static void make_id(struct tg_buf *out, const char *name)
{
	tg_buf_addf(out, "stage/%d/", (int)getppid());
	if (name)
		tg_buf_add(out, name, tg_mark_cut(name, strlen(name), TG_MARK_ID_MAX - out->len));
}

/* {"sample":"S1","threads":"8"} of what follows the name. False after a sentence. */
static bool take_attrs(int n, char **pair, struct tg_buf *out)
{
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	for (int i = 0; i < n; i++) {
		char *equals = strchr(pair[i], '=');

		if (!equals || equals == pair[i]) {
			tg_cli_fail(0, "mark: behind the name come KEY=VALUE pairs, not \"%.40s\"",
				pair[i]);
			return false;
		}
		*equals = '\0';
		tg_jw_kstr(&w, pair[i], equals + 1);
		*equals = '=';
	}
	tg_jw_end_object(&w);
	return true;
}

static void settle(struct tg_mark *mark)
{
	struct tg_err err = { 0 };

	if (tg_mark_settle(mark, 1, SETTLE_MS, &err) < 0)
		tg_cli_fail(0, "mark: %s", err.text);
}

static int begin(const char *name, const char *attrs)
{
	struct tg_mark *mark;
	struct tg_buf id = TG_BUF_INIT;
	struct tg_mark_span span = { .kind = "stage",
		.name = name,
		.t_ns = tg_mono_ns(),
		.edge = true,
		.of_parent = true,
		.count = -1,
		.attrs_json = attrs };

	if (!tg_mark_connect_told(&mark))
		return TG_EXIT_OK;
	make_id(&id, name);
	span.id = id.data;
	tg_mark_begin(mark, &span);
	settle(mark);
	tg_mark_close(mark);
	tg_buf_release(&id);
	return TG_EXIT_OK;
}

static int end(const char *name)
{
	struct tg_mark *mark;
	struct tg_buf id = TG_BUF_INIT;

	if (!tg_mark_connect_told(&mark))
		return TG_EXIT_OK;
	make_id(&id, name);
	tg_mark_end(mark, id.data, tg_mono_ns(), true, "ok");
	settle(mark);
	tg_mark_close(mark);
	tg_buf_release(&id);
	return TG_EXIT_OK;
}

static int run(const char *name, const char *attrs, char **argv)
{
	struct tg_front_options o = { .argv = argv,
		.stage = true,
		.name = name,
		.attrs_json = attrs,
		.tty = -1,
		.say = tg_cli_say };
	struct tg_mark *mark;
	struct tg_front_result result;
	struct tg_err err = { 0 };

	if (!tg_mark_connect_told(&mark)) {
		execvp(argv[0], argv);
		return tg_cli_fail(tg_cli_cannot_run(-errno), "%s: %s", argv[0], strerror(errno));
	}
	tg_mark_close(mark);
	return tg_cli_end(tg_front_run(&o, &result, &err), &result, &err);
}

int tg_cmd_mark(int argc, char **argv)
{
	bool ends = argc > 1 && !strcmp(argv[1], "--end");
	struct tg_buf attrs = TG_BUF_INIT;
	int rest = 2, status;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(help, stdout);
		return TG_EXIT_OK;
	}
	if (ends && argc <= 3)
		return end(argc == 3 ? argv[2] : NULL);
	if (argc < 2 || ends || !argv[1][0] || argv[1][0] == '-')
		return tg_cli_fail(TG_EXIT_USAGE,
			"mark needs the name of one stage; see tachograph mark --help");
	while (rest < argc && strcmp(argv[rest], "--") != 0)
		rest++;
	if (!take_attrs(rest - 2, argv + 2, &attrs))
		status = TG_EXIT_USAGE;
	else if (rest < argc && rest + 1 == argc)
		status = tg_cli_fail(TG_EXIT_USAGE, "mark: behind -- comes a command");
	else if (rest < argc)
		status = run(argv[1], attrs.data, argv + rest + 1);
	else
		status = begin(argv[1], attrs.data);
	tg_buf_release(&attrs);
	return status;
}
