/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows a file in the user's browser, where there is a screen before them. */
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "cli/cli.h"

#include "base/mem.h"

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

void tg_cli_open_file(struct tg_command *c, const char *path)
{
	char *const argv[] = { (char *)"xdg-open", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	(void)c;
	if (is_set("SSH_CONNECTION") || is_set("SSH_TTY")) {
		tg_cli_fail(0, "this is a session over ssh: copy %s to where the browser is", path);
		return;
	}
	if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
		tg_cli_fail(0, "there is no screen to show %s on", path);
		return;
	}
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		tg_cli_fail(0, "xdg-open, which would show %s, is not to be had", path);
	posix_spawn_file_actions_destroy(&actions);
}
