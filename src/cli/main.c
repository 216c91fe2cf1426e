/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: finds the word, runs it, turns its result into an exit status. */
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

int main(int argc, char **argv)
{
	tg_log_init();
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("tachograph %s\n", TG_VERSION);
		return 0;
	}
	fprintf(stderr, "usage: tachograph --version\n");
	return 2;
}
