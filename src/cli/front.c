/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/front.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "command/summary.h"

#include "base/mem.h"

/* As timeout(1), env(1) and nohup(1) have them. */
enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

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

void tg_cli_summarize(const char *file)
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

int tg_cli_settle(struct tg_cli_front *g, const char *word)
{
	const char *folder = getenv("TACHOGRAPH_DIR");

	keep_numbers();
	if (g->interval && !take_interval(g->interval, &g->o.interval_ns))
		return tg_cli_fail(TG_EXIT_OURS,
			"%s: -i is a number of seconds from 0.001 to 3600, not \"%.40s\"", word,
			g->interval);
	g->o.say = tg_cli_say;
	g->o.folder = folder && *folder ? folder : NULL;
	g->o.tty = !g->quiet && isatty(STDERR_FILENO) ? STDERR_FILENO : -1;
	return 0;
}
