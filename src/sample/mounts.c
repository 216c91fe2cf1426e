/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/mounts.h"

#include <unistd.h>

#include "sample/names.h"
#include "sample/procfs.h"

#include "base/mem.h"

#define BLOCK      "sys/dev/block/"
#define MOUNTS_MAX 64
#define DEPTH_MAX  8 /* crypt on a volume on an array on a partition is 5 */
#define STEPS_MAX  64 /* devices looked at for one mount */

struct mount {
	char dev[24];
	char point[TG_POINT_MAX];
	bool whole; /* it shows the root of its file system */
};

struct walk {
	struct tg_env *env;
	const struct mount *mount;
	const char *dev; /* whose folder is being listed */
	int depth, steps;
	void (*found)(void *ctx, const char *disk, const char *point);
	void *ctx;
};

static size_t learn(struct tg_env *env, struct mount *mount)
{
	struct tg_mount_line line;
	struct tg_cursor s;
	size_t n = 0, i;

	if ((env->root > 0 ? tg_env_read(env, "proc/%d/mountinfo", env->root)
			   : tg_env_read(env, "proc/self/mountinfo")) <= 0)
		return 0;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_procfs_mount_next(&s, &line)) {
		bool whole = !strcmp(line.root, "/");

		if (!strncmp(line.dev, "0:", 2)) /* no block device */
			continue;
		for (i = 0; i < n && strcmp(mount[i].dev, line.dev) != 0; i++)
			;
		if (i == MOUNTS_MAX || (i < n && (mount[i].whole || !whole)))
			continue;
		snprintf(mount[i].dev, sizeof(mount[i].dev), "%s", line.dev);
		tg_name_of(mount[i].point, sizeof(mount[i].point), line.point);
		mount[i].whole = whole;
		n = TG_MAX(n, i + 1);
	}
	return n;
}

static void down(struct walk *w, const char *dev);

/* Go on with the device whose number is in that file below w->dev. */
static bool follow(struct walk *w, const char *file)
{
	char next[24];
	const char *word;
	struct tg_cursor s;
	size_t len;

	if (tg_env_read(w->env, BLOCK "%s/%s", w->dev, file) <= 0)
		return false;
	s = tg_cursor_of(w->env->text->data, w->env->text->len);
	if (!tg_cursor_word(&s, &word, &len) || len >= sizeof(next) || memchr(word, '/', len))
		return false;
	snprintf(next, sizeof(next), "%.*s", (int)len, word);
	down(w, next);
	return true;
}

static int one_slave(void *ctx, const char *name)
{
	char file[TG_INSTANCE_MAX + 16];
	int n = snprintf(file, sizeof(file), "slaves/%s/dev", name);

	if (n > 0 && (size_t)n < sizeof(file))
		follow(ctx, file);
	return 0;
}

static bool has_one(const struct walk *w, const char *file)
{
	int fd = tg_env_open(w->env, BLOCK "%s/%s", w->dev, file);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What the link says last is the name: ../../devices/…/block/vda */
static void tell(const struct walk *w)
{
	char path[64], link[512];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), BLOCK "%s", w->dev);
	n = readlinkat(w->env->root_fd, path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	name = strrchr(link, '/');
	w->found(w->ctx, name ? name + 1 : link, w->mount->point);
}

static int stop(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return 1;
}

static void down(struct walk *w, const char *dev)
{
	const char *above = w->dev;

	if (w->depth == DEPTH_MAX || w->steps == STEPS_MAX)
		return;
	w->depth++;
	w->steps++;
	w->dev = dev;
	if (has_one(w, "partition"))
		follow(w, "../dev");
	else if (tg_env_each(w->env, stop, NULL, BLOCK "%s/slaves", dev) == 1)
		tg_env_each(w->env, one_slave, w, BLOCK "%s/slaves", dev);
	else
		tell(w);
	w->dev = above;
	w->depth--;
}

void tg_mounts_each(struct tg_env *env,
	void (*found)(void *ctx, const char *disk, const char *point), void *ctx)
{
	struct mount *mount = tg_xcalloc(MOUNTS_MAX, sizeof(*mount));
	size_t n = learn(env, mount);

	for (size_t i = 0; i < n; i++) {
		struct walk w = { .env = env, .mount = &mount[i], .found = found, .ctx = ctx };

		down(&w, mount[i].dev);
	}
	free(mount);
}
