/* SPDX-License-Identifier: BSD-3-Clause */
/* What sources share: opening below the root, /proc/stat once for all, and where values go. */
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

ssize_t tg_env_root_denied(struct tg_env *env, const char *file, char *why, size_t why_size)
{
	ssize_t n = env->root > 0 ? tg_env_read(env, "proc/%d/%s", env->root, file) : 1;

	if (n == -EACCES || n == -EPERM)
		snprintf(why, why_size,
			"denied: /proc/PID/%s is of another user's process, or of one that closed "
			"itself",
			file);
	return n;
}

void tg_env_lacks_io(struct tg_env *env, char *why, size_t why_size)
{
	ssize_t n = tg_env_root_denied(env, "io", why, why_size);

	if (n == -EACCES || n == -EPERM)
		return;
	if (n == -ENOENT)
		snprintf(why, why_size,
			"this kernel counts no I/O of processes (CONFIG_TASK_IO_ACCOUNTING)");
	else if (n <= 0)
		snprintf(why, why_size, "/proc/PID/io cannot be read");
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

void tg_out_put(struct tg_out *out, size_t instance, size_t metric, int64_t value)
{
	size_t at = instance * out->source->n_metrics + metric;

	if (value < 0) /* missing, or nonsense */
		return;
	out->value[at] = value;
	out->changed |= !tg_out_is_column(out, at);
	out->was_put[at] = true;
}

void tg_out_add(struct tg_out *out, size_t instance, size_t metric, int64_t value)
{
	int64_t sum = out->value[instance * out->source->n_metrics + metric];

	if (value < 0)
		return;
	if (sum == TG_MISSING)
		sum = value;
	else if (__builtin_add_overflow(sum, value, &sum))
		sum = TG_MISSING;
	tg_out_put(out, instance, metric, sum);
}

size_t tg_out_instance(struct tg_out *out, const char *name)
{
	size_t n = out->n_instances, m = out->source->n_metrics, len;

	for (size_t k = 0; k < n; k++) {
		size_t i = (out->next + k) % n;

		if (!strcmp(out->instance[i], name)) {
			out->next = i + 1;
			return i;
		}
	}
	len = strlen(name);
	if (n >= TG_INSTANCES_MAX || len >= TG_INSTANCE_MAX)
		return SIZE_MAX;
	TG_GROW(out->instance, n + 1, out->cap_instances);
	TG_GROW(out->value, (n + 1) * m, out->cap_values);
	TG_GROW(out->was_put, (n + 1) * m, out->cap_was_put);
	memset(out->instance[n], 0, sizeof(out->instance[n])); /* it may be sent as a whole */
	memcpy(out->instance[n], name, len + 1);
	for (size_t k = 0; k < m; k++) {
		out->value[n * m + k] = TG_MISSING;
		out->was_put[n * m + k] = false;
	}
	out->n_instances = n + 1;
	return n;
}
