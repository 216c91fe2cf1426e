/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that make a tree of /proc and /sys of their own, file by file, and change it. */
#ifndef TG_TESTS_MADE_TREE_H
#define TG_TESTS_MADE_TREE_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#include "base/mem.h"

/* Replace a file's content under descriptors that are open; NULL: remove the file. */
static inline void put_file(const char *folder, const char *path, const char *text)
{
	struct tg_buf full = TG_BUF_INIT;
	int fd;

	tg_buf_addf(&full, "%s/%s", folder, path);
	for (char *slash = full.data + strlen(folder) + 1; (slash = strchr(slash, '/'));) {
		*slash = '\0';
		mkdir(full.data, 0700);
		*slash++ = '/';
	}
	if (!text) {
		unlink(full.data);
	} else {
		fd = open(full.data, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || tg_file_write_all(fd, text, strlen(text)) < 0)
			abort();
		close(fd);
	}
	tg_buf_release(&full);
}

static inline void remove_tree(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command) != 0)
		abort();
}

#endif
