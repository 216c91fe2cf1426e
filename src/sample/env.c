/* SPDX-License-Identifier: BSD-3-Clause */
/* What sources share: opening and reading below the root, and /proc/stat once for all. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

#define PATH_ROOM (TG_PATH_MAX + 64) /* a group's folder and a file in it */

static int __attribute__((format(printf, 2, 0)))
open_va(const struct tg_env *env, const char *fmt, va_list ap)
{
	char room[PATH_ROOM];
	const char *path = room;
	int fd, n = vsnprintf(room, sizeof(room), fmt, ap);

	if (n < 0 || n >= PATH_ROOM)
		return -ENAMETOOLONG;
	while (*path == '/')
		path++;
	fd = openat(env->root_fd, *path ? path : ".", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int tg_env_open(const struct tg_env *env, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = open_va(env, fmt, ap);
	va_end(ap);
	return fd;
}

int tg_env_each(const struct tg_env *env, int (*each)(void *ctx, const char *name), void *ctx,
	const char *fmt, ...)
{
	va_list ap;
	int fd, r;

	va_start(ap, fmt);
	fd = open_va(env, fmt, ap);
	va_end(ap);
	if (fd < 0)
		return fd;
	r = tg_entries_each(fd, each, ctx);
	close(fd);
	return r;
}

void tg_env_note(const struct tg_env *env, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	if (!env->hooks || !env->hooks->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	env->hooks->note(env->hooks->ctx, tg_mono_ns(), text);
}

void tg_env_helper_cpu(struct tg_env *env, int64_t *before, int64_t now)
{
	int64_t known = env->helper_cpu_ns == TG_MISSING ? 0 : env->helper_cpu_ns;

	if (now < *before || __builtin_add_overflow(known, now - *before, &known))
		return;
	env->helper_cpu_ns = known;
	*before = now;
}

ssize_t tg_env_read(struct tg_env *env, const char *fmt, ...)
{
	va_list ap;
	ssize_t n;
	int fd;

	va_start(ap, fmt);
	fd = open_va(env, fmt, ap);
	va_end(ap);
	if (fd < 0)
		return fd;
	n = tg_text_pread_long(env->text, fd);
	close(fd);
	return n;
}

const struct tg_text *tg_env_stat(struct tg_env *env)
{
	if (env->stat_fd < 0)
		env->stat_fd = tg_env_open(env, "proc/stat");
	if (env->stat_fd < 0)
		return NULL;
	if (!env->stat_read) {
		env->stat_read = true;
		tg_text_pread(env->stat, env->stat_fd);
	}
	return env->stat->len ? env->stat : NULL;
}
