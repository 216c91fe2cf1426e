/* SPDX-License-Identifier: BSD-3-Clause */
/* `tachograph import`: logs that other tools took, as a recording, statistics and CSV. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "analyze/recording.h"
#include "base/file.h"
#include "cli/cli.h"
#include "command/logs.h"
#include "import/write.h"

#include "base/mem.h"

static const char help[] =
	"usage: tachograph import PATH… [-o F] [--csv DIR] [--report-json F] [OPTIONS]\n"
	"\n"
	"Reads logs of top, vmstat, iostat, pidstat, sadf -j, nfsiostat, nvidia-smi, lsblk, "
	"psrecord,\n"
	"Nextflow and Snakemake, and stages.tsv: a folder of them, or single files. What each file "
	"is,\n"
	"is seen by what is in it.\n"
	"\n"
	"  -o, --output F        a recording for show, chart, export and report\n"
	"      --csv DIR         each tool's samples as CSV\n"
	"      --report-json F   count, mean, std, min, quartiles and max of each quantity\n"
	"      --match REGEX     commands that count; else MATLAB\n"
	"      --role NAME=REGEX what a command is; can be given again, the first that fits "
	"counts\n"
	"      --tz ZONE         of the logs' clock, as Europe/Berlin; else what they say, else "
	"here\n"
	"      --interval S      between samples of logs without times\n"
	"\n"
	"For each file there is a line: tool and version, samples read, lines skipped. Existing\n"
	"recordings are not written over. F may be - for --report-json.\n";

struct given {
	const char *output, *csv, *report;
	struct tg_logs_given logs;
	bool wants_help;
};

/* 0, or a status after a sentence. */
static int take_options(struct given *g, int *argc, char **argv, struct tg_import_options *o)
{
	const struct tg_option option[] = {
		{ "output", 'o', &g->output, NULL },
		{ "csv", 0, &g->csv, NULL },
		{ "report-json", 0, &g->report, NULL },
		TG_LOGS_OPTIONS(g->logs),
		{ "help", 'h', NULL, &g->wants_help },
	};
	struct tg_command c = { .where = TG_IN_CLI };

	if (tg_options(&c, argc, argv, option, TG_ARRAY_SIZE(option)))
		return tg_cli_fail(TG_EXIT_USAGE, "import: %s", c.err.text);
	if (g->wants_help)
		return 0;
	if (*argc < 2)
		return tg_cli_fail(
			TG_EXIT_USAGE, "import: which logs? See tachograph import --help");
	if (!g->output && !g->csv && !g->report)
		return tg_cli_fail(TG_EXIT_USAGE,
			"import: where to? There is -o F, --csv DIR and --report-json F");
	if (tg_logs_take(&c, &g->logs, o))
		return tg_cli_fail(TG_EXIT_USAGE, "import: %s", c.err.text);
	return 0;
}

static void say(FILE *f, const char *text)
{
	struct tg_buf line = TG_BUF_INIT;

	tg_plain(&line, text, strlen(text));
	fprintf(f, "%s\n", line.data);
	tg_buf_release(&line);
}

static void say_logs(const struct tg_import *im, FILE *f)
{
	for (size_t i = 0; i < im->n; i++) {
		struct tg_buf line = TG_BUF_INIT;

		tg_import_line(im->log[i], &line);
		say(f, line.data);
		tg_buf_release(&line);
	}
	for (size_t i = 0; i < im->n_unknown; i++) {
		struct tg_buf line = TG_BUF_INIT;

		tg_buf_addf(&line, "%s: not recognised", im->unknown[i]);
		say(f, line.data);
		tg_buf_release(&line);
	}
}

static int write_report(const struct tg_import *im, const char *path, struct tg_err *err)
{
	struct tg_buf text = TG_BUF_INIT;
	int fd = STDOUT_FILENO, r = 0;

	tg_import_report(im, &text);
	if (strcmp(path, "-") != 0)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		r = -errno;
	else
		r = tg_file_write_all(fd, text.data, text.len);
	if (fd > STDOUT_FILENO && close(fd) < 0 && r == 0)
		r = -errno;
	tg_buf_release(&text);
	return r < 0 ? tg_err_set(err, r, "cannot write %.150s: %s", path, strerror(-r)) : 0;
}

static int write_recording(
	const struct tg_import *im, const char *path, const char *first, struct tg_err *err)
{
	struct tg_buf name = TG_BUF_INIT, left_out = TG_BUF_INIT;
	int r;

	tg_import_name(first, &name);
	r = tg_import_write(im, path, name.data, &left_out, err);
	for (const char *p = left_out.data; r == 0 && *p; p += strcspn(p, "\n") + 1)
		tg_cli_fail(0, "%.*s", (int)strcspn(p, "\n"), p);
	tg_buf_release(&name);
	tg_buf_release(&left_out);
	return r;
}

int tg_cmd_import(int argc, char **argv)
{
	struct given g = { .output = NULL };
	struct tg_import_options o = { 0 };
	struct tg_err err = { 0 };
	struct tg_import *im;
	int status = take_options(&g, &argc, argv, &o), r;

	if (g.wants_help)
		fputs(help, stdout);
	if (status || g.wants_help)
		return status;
	r = tg_import_new(&im, &o, &err);
	for (int i = 1; i < argc && r == 0; i++)
		r = tg_import_add(im, argv[i], &err);
	if (r == 0) {
		tg_import_settle(im);
		say_logs(im, g.report && !strcmp(g.report, "-") ? stderr : stdout);
	}
	if (r == 0 && g.output)
		r = write_recording(im, g.output, argv[1], &err);
	if (r == 0 && g.csv)
		r = tg_import_csv(im, g.csv, &err);
	if (r == 0 && g.report)
		r = write_report(im, g.report, &err);
	tg_import_free(im);
	return r < 0 ? tg_cli_fail(r == -EINVAL ? TG_EXIT_USAGE : TG_EXIT_FAILED, "import: %s",
			       err.text)
		     : TG_EXIT_OK;
}
