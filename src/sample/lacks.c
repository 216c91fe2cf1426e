/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/lacks.h"

#include <errno.h>

#include "base/mem.h"

ssize_t tg_lacks_root(struct tg_env *env, const char *file, char *why, size_t why_size)
{
	ssize_t n = env->root > 0 ? tg_env_read(env, "proc/%d/%s", env->root, file) : 1;

	if (n == -EACCES || n == -EPERM)
		snprintf(why, why_size,
			"denied: /proc/PID/%s is of another user's process, or of one that closed "
			"itself",
			file);
	return n;
}

void tg_lacks_io(struct tg_env *env, char *why, size_t why_size)
{
	ssize_t n = tg_lacks_root(env, "io", why, why_size);

	if (n == -EACCES || n == -EPERM)
		return;
	if (n == -ENOENT)
		snprintf(why, why_size,
			"this kernel counts no I/O of processes (CONFIG_TASK_IO_ACCOUNTING)");
	else if (n <= 0)
		snprintf(why, why_size, "/proc/PID/io cannot be read");
}
