/* SPDX-License-Identifier: BSD-3-Clause */
/* The role `gpu-helper`: started by the recorder and by `list`, never by hand. */
#include <sys/socket.h>

#include "cli/cli.h"
#include "recorder/gpu_helper.h"

#include "base/mem.h"

#define HELPER_FD 3

int tg_cmd_gpu_helper(int argc, char **argv)
{
	socklen_t len = sizeof(int);
	int type = 0, rc;
	bool files = argc == 2 && !strcmp(argv[1], "files");

	if ((argc != 1 && !files) || getsockopt(HELPER_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
		type != SOCK_SEQPACKET)
		return tg_cli_fail(TG_EXIT_USAGE,
			"gpu-helper is started by other roles, with a socket as descriptor 3");
	rc = tg_gpu_helper_run(HELPER_FD, files);
	return tg_cli_fail(TG_EXIT_FAILED, "the helper ends: %s", strerror(-rc));
}
