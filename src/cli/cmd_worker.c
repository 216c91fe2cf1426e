/* SPDX-License-Identifier: BSD-3-Clause */
/* The role `worker`: started by the kernel, never by hand. */
#include <sys/socket.h>

#include "cli/cli.h"
#include "command/worker.h"

#include "base/mem.h"

#define WORKER_FD 3

int tg_cmd_worker(int argc, char **argv)
{
	static const struct tg_worker_host host = { tg_cli_load_sources, tg_cli_free_sources };
	socklen_t len = sizeof(int);
	int type = 0, rc;

	(void)argv;
	if (argc != 1 || getsockopt(WORKER_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
		type != SOCK_STREAM)
		return tg_cli_fail(TG_EXIT_USAGE,
			"worker is started by the kernel, with a socket as descriptor 3");
	rc = tg_worker_serve(&host, WORKER_FD, TG_WORKER_IDLE_MS);
	return rc < 0 ? tg_cli_fail(TG_EXIT_FAILED, "the worker ends: %s", strerror(-rc))
		      : TG_EXIT_OK;
}
