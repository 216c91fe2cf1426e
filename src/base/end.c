/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/end.h"

#include <signal.h>
#include <stddef.h>

#include "base/mem.h"

static const char *const signal_name[] = {
	[SIGHUP] = "SIGHUP",
	[SIGINT] = "SIGINT",
	[SIGQUIT] = "SIGQUIT",
	[SIGILL] = "SIGILL",
	[SIGTRAP] = "SIGTRAP",
	[SIGABRT] = "SIGABRT",
	[SIGBUS] = "SIGBUS",
	[SIGFPE] = "SIGFPE",
	[SIGKILL] = "SIGKILL",
	[SIGSEGV] = "SIGSEGV",
	[SIGPIPE] = "SIGPIPE",
	[SIGALRM] = "SIGALRM",
	[SIGTERM] = "SIGTERM",
	[SIGXCPU] = "SIGXCPU",
	[SIGXFSZ] = "SIGXFSZ",
	[SIGSYS] = "SIGSYS",
};

void tg_end_words(int code, int signal, struct tg_buf *out)
{
	if (!signal)
		tg_buf_addf(out, "exited with code %d", code);
	else if (signal > 0 && (size_t)signal < TG_ARRAY_SIZE(signal_name) && signal_name[signal])
		tg_buf_addf(out, "was killed by signal %d (%s)", signal, signal_name[signal]);
	else
		tg_buf_addf(out, "was killed by signal %d", signal);
}
