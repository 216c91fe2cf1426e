/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that a word writes (-o). A regular file is written beside its name and takes the name
 * only when it is complete, so that a failure leaves the old one as it was; pipes, devices and what
 * /dev and /proc name are written directly. A recording that is being read, or written by the
 * kernel that asks, is never the output, under whatever name.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "command/run.h"

#include "base/mem.h"

#define NAME_CHARS 150
#define TEMP_TRIES 100

bool tg_ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static int failed(struct tg_command *c, const char *name, int error)
{
	struct tg_buf shown = TG_BUF_INIT;

	tg_plain(&shown, name, NAME_CHARS);
	tg_err_set(&c->err, -error, "Cannot write %s: %s", shown.data, strerror(error));
	tg_buf_release(&shown);
	return TG_WORD_FAILED;
}

static bool is_file(const struct stat *st, const char *path)
{
	struct stat other;

	return path && stat(path, &other) == 0 && other.st_dev == st->st_dev &&
	       other.st_ino == st->st_ino;
}

static int open_directly(struct tg_target *t)
{
	t->fd = open(t->path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	return t->fd < 0 ? -errno : 0;
}

/* A new file in the folder of t->path, with the mode of the one that it replaces. 0 or -errno. */
static int open_beside(struct tg_target *t, const struct stat *old)
{
	const char *slash = strrchr(t->path.data, '/');
	int folder = slash ? (int)(slash + 1 - t->path.data) : 0;

	for (int i = 0; i < TEMP_TRIES; i++) {
		tg_buf_clear(&t->temp);
		tg_buf_addf(&t->temp, "%.*s.tachograph-%ld-%d", folder, t->path.data,
			(long)getpid(), i);
		t->fd = open(t->temp.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (t->fd >= 0 || errno != EEXIST)
			break;
	}
	if (t->fd < 0) {
		int error = errno;

		tg_buf_clear(&t->temp);
		return -error;
	}
	/* where modes cannot be set there is none to keep */
	if (old && fchmod(t->fd, old->st_mode & 0777) < 0)
		errno = 0;
	return 0;
}

static int open_target(struct tg_target *t, const struct stat *old)
{
	char whole[PATH_MAX];
	int rc;

	if (old && !S_ISREG(old->st_mode))
		return open_directly(t);
	if (!strncmp(t->path.data, "/dev/", 5) || !strncmp(t->path.data, "/proc/", 6))
		return open_directly(t);
	if (old && access(t->path.data, W_OK) < 0)
		return -errno;
	/* a symbolic link stays one: its target is replaced */
	if (old && realpath(t->path.data, whole)) {
		tg_buf_clear(&t->path);
		tg_buf_adds(&t->path, whole);
	} else if (readlink(t->path.data, whole, sizeof(whole)) >= 0) {
		return open_directly(t);
	}
	rc = open_beside(t, old);
	/* a file that may be written in a folder that may not */
	return rc == -EACCES || rc == -EPERM || rc == -EROFS ? open_directly(t) : rc;
}

int tg_target_open(struct tg_command *c, const char *name, const char *input, struct tg_target *t)
{
	struct stat st;
	bool exists;
	int rc;

	*t = (struct tg_target){ .name = name, .fd = -1, .path = TG_BUF_INIT, .temp = TG_BUF_INIT };
	if (!strcmp(name, "-"))
		return TG_WORD_OK;
	tg_resolve(c, name, &t->path);
	exists = stat(t->path.data, &st) == 0;
	if (exists && (is_file(&st, input) || is_file(&st, c->file))) {
		struct tg_buf shown = TG_BUF_INIT;

		tg_plain(&shown, name, NAME_CHARS);
		tg_err_set(&c->err, -EINVAL, "%s is the recording itself: choose another name",
			shown.data);
		tg_buf_release(&shown);
		rc = TG_WORD_FAILED;
	} else {
		rc = open_target(t, exists ? &st : NULL);
		rc = rc < 0 ? failed(c, name, -rc) : TG_WORD_OK;
	}
	if (rc != TG_WORD_OK) {
		tg_buf_release(&t->path);
		tg_buf_release(&t->temp);
	}
	return rc;
}

int tg_target_write(struct tg_command *c, struct tg_target *t, const char *data, size_t len)
{
	if (t->fd >= 0)
		return tg_file_write_all(t->fd, data, len);
	c->out.text(c->out.ctx, data, len);
	return 0;
}

int tg_target_close(struct tg_command *c, struct tg_target *t, int result)
{
	if (t->fd >= 0 && close(t->fd) < 0 && result == TG_WORD_OK)
		result = failed(c, t->name, errno);
	if (t->temp.len && result == TG_WORD_OK && rename(t->temp.data, t->path.data) < 0)
		result = failed(c, t->name, errno);
	if (t->temp.len && result != TG_WORD_OK)
		unlink(t->temp.data);
	t->fd = -1;
	tg_buf_release(&t->path);
	tg_buf_release(&t->temp);
	return result;
}

int tg_write_result(
	struct tg_command *c, const char *name, const char *input, const char *data, size_t len)
{
	struct tg_target t;
	int rc = tg_target_open(c, name, input, &t), wrote;

	if (rc != TG_WORD_OK)
		return rc;
	wrote = tg_target_write(c, &t, data, len);
	return tg_target_close(c, &t, wrote < 0 ? failed(c, name, -wrote) : TG_WORD_OK);
}

void tg_tell_written(struct tg_command *c, const char *done, const char *name)
{
	struct tg_buf said = TG_BUF_INIT;

	if (c->where != TG_IN_NOTEBOOK || !strcmp(name, "-"))
		return;
	tg_buf_addf(&said, "%s to ", done);
	tg_plain(&said, name, 200);
	tg_buf_addc(&said, '\n');
	c->out.text(c->out.ctx, said.data, said.len);
	tg_buf_release(&said);
}
