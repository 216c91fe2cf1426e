/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that put processes into a control group of their own, where that is allowed. */
#ifndef TG_TESTS_OWN_GROUP_H
#define TG_TESTS_OWN_GROUP_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/cgroup.h"

#include "base/mem.h"

/* A group below our own, with one file set unless that is NULL. Returns NULL, or why it is not to
 * be had. */
static inline const char *make_group(const char *controller, const char *v2_file,
	const char *v2_text, const char *v1_file, const char *v1_text, char *folder, size_t size)
{
	struct tg_text text;
	struct tg_env env = { .root_fd = open("/", O_RDONLY | O_DIRECTORY), .text = &text };
	struct tg_cgroup g;
	char path[TG_PATH_MAX + 128];
	const char *why = NULL;
	int fd = -1, r;

	tg_text_init(&text);
	r = tg_cgroup_find(&env, 0, controller, &g);
	tg_text_release(&text);
	close(env.root_fd);
	if (r < 0)
		return "no control group to be seen";
	snprintf(folder, size, "%s/tg-test-%d", g.path, (int)getpid());
	if (mkdir(folder, 0700) < 0)
		return "no control group can be made";
	if (!v2_file)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", folder, g.v2 ? v2_file : v1_file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		why = "its own group has no such controller";
	else if (dprintf(fd, "%s", g.v2 ? v2_text : v1_text) < 0)
		why = "the limit cannot be set";
	if (fd >= 0)
		close(fd);
	if (why)
		rmdir(folder);
	return why;
}

static inline bool join(const char *folder, pid_t pid)
{
	char path[TG_PATH_MAX + 128];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY);
	ok = fd >= 0 && dprintf(fd, "%d", (int)pid) > 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

static inline void remove_group(const char *folder)
{
	for (int i = 0; i < 200 && rmdir(folder) < 0 && errno == EBUSY; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10 * TG_NS_PER_MS }, NULL);
	T_OK(access(folder, F_OK) < 0);
}

#endif
