/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a shared word at a terminal or in a pipe: result on stdout, the rest on stderr. */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "analyze/recording.h"
#include "base/clock.h"
#include "base/paths.h"
#include "cli/cli.h"

#include "base/mem.h"

int tg_cli_fail(int status, const char *fmt, ...)
{
	struct tg_buf sentence = TG_BUF_INIT, shown = TG_BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	tg_buf_vaddf(&sentence, fmt, ap);
	va_end(ap);
	/* it may name what came from outside: an argument, a file, what is written in one */
	tg_plain(&shown, sentence.data, sentence.len);
	fprintf(stderr, "tachograph: %s\n", shown.data);
	tg_buf_release(&sentence);
	tg_buf_release(&shown);
	return status;
}

int tg_cli_finish(int status)
{
	errno = 0;
	if (status != TG_EXIT_OK)
		return status;
	/* what is closed from the start and was not written to is no failure */
	if (fflush(stdout) != 0 || ferror(stdout) || (fclose(stdout) != 0 && errno != EBADF))
		return tg_cli_fail(
			TG_EXIT_FAILED, "cannot write: %s", strerror(errno ? errno : EIO));
	return TG_EXIT_OK;
}

/* ctx: the first error, which stdio itself forgets. */
static void out_text(void *ctx, const char *text, size_t len)
{
	int *error = ctx;

	if (fwrite(text, 1, len, stdout) != len && !*error)
		*error = errno;
}

static void out_note(void *ctx, const char *sentence)
{
	(void)ctx;
	fprintf(stderr, "tachograph: %s\n", sentence);
}

/* A terminal cannot draw: the text stands for the picture. */
static void out_show(void *ctx, const struct tg_display *display)
{
	if (display->text)
		out_text(ctx, display->text, strlen(display->text));
}

static void out_set(void *ctx, const char *key, const char *json)
{
	(void)ctx;
	(void)key;
	(void)json;
}

static bool wants_colour(void)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(none && none[0]) && term && strcmp(term, "dumb") != 0;
}

int tg_cli_run_word(const struct tg_word *word, int argc, char **argv)
{
	struct tg_buf folder = TG_BUF_INIT;
	struct tg_err why = { 0 };
	int error = 0, r;
	struct tg_command c = {
		.where = TG_IN_CLI,
		.now_ns = tg_real_ns(),
		.run = -1,
		.load_sources = tg_cli_load_sources,
		.open_file = tg_cli_open_file,
		.colour = wants_colour(),
		.out = { .ctx = &error,
			.text = out_text,
			.note = out_note,
			.show = out_show,
			.set = out_set },
	};

	if (tg_paths_recordings_name(&folder, &why) == 0)
		c.folder = folder.data;
	else
		c.why = why.text;
	r = tg_word_run(word, &c, argc, argv);
	tg_buf_release(&folder);
	tg_cli_free_sources(&c);
	if (r != TG_WORD_OK && c.err.text[0])
		tg_cli_fail(r, "%s", c.err.text);
	if (r == TG_WORD_OK && error)
		return tg_cli_fail(TG_EXIT_FAILED, "cannot write: %s", strerror(error));
	return r;
}
