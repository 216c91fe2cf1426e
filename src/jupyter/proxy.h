/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel `tachograph`: stands between a front end and the user's own kernel and passes
 * messages on as the bytes they came in. One thread, one loop; it never samples, draws or opens a
 * recording, and waits for nobody.
 */
#ifndef TG_JUPYTER_PROXY_H
#define TG_JUPYTER_PROXY_H

#include <stdbool.h>

#include "base/err.h"

struct tg_proxy_options {
	const char *connection_file;
	const char *kernel; /* name of the user's kernel; NULL: python3 */
	const char *spec; /* or the folder of its kernelspec */
	const char *python; /* for kernelspecs whose argv starts with "python"; NULL: see proxy.c */
	const char *report; /* what cells print at first: "none", "line" or "jumper"; NULL: line */
	const char *worker; /* another program in place of `tachograph worker`: for tests */
	char *const *more; /* arguments for the user's kernel behind its own; NULL: none */
	bool record; /* start a recorder */
	bool tcp; /* talk to the user's kernel over tcp, not ipc */
};

/*
 * Run until the user's kernel ends. Returns the exit status: that of the user's kernel, 128 + N
 * when it died by signal N; 1 with a sentence in `err` when we could not do our part.
 */
int tg_proxy_run(const struct tg_proxy_options *options, struct tg_err *err);

#endif
