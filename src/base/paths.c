/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"

#include "base/mem.h"

#define PROBE_BYTES 16384 /* a connection file, and the pages of the folders */

static const char *env_dir(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] == '/' ? v : NULL;
}

/* A folder that holds sockets must be ours alone: others could otherwise plant one. */
static int make_private(const char *path, struct tg_err *err)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return tg_err_set(err, -errno, "cannot make %s: %s", path, strerror(errno));
	if (lstat(path, &st) < 0)
		return tg_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return tg_err_set(err, -ENOTDIR, "%s is not a folder", path);
	if (st.st_uid != geteuid())
		return tg_err_set(err, -EPERM, "%s belongs to another user", path);
	/* whoever made it so may want it so: it is not ours to change */
	if (st.st_mode & 077)
		return tg_err_set(err, -EPERM, "%s is open to others", path);
	return 0;
}

/* Whether there is room for what we put there: a folder that is full or read-only is of no use. */
static int probe(const char *folder, struct tg_err *err)
{
	static const char page[PROBE_BYTES];
	struct tg_buf path = TG_BUF_INIT;
	int fd, r;

	tg_buf_addf(&path, "%s/probe-XXXXXX", folder);
	fd = mkostemp(path.data, O_CLOEXEC);
	r = fd < 0 ? -errno : 0;
	if (fd >= 0) {
		unlink(path.data); /* first: SIGXFSZ may end us in the write */
		r = tg_file_write_all(fd, page, sizeof(page));
		close(fd);
		if (r == -EFBIG) /* RLIMIT_FSIZE, not the folder: what we need may be smaller */
			r = 0;
	}
	tg_buf_release(&path);
	return r < 0 ? tg_err_set(err, r, "cannot write to %s: %s", folder, strerror(-r)) : 0;
}

int tg_paths_runtime(struct tg_buf *out, struct tg_err *err)
{
	const char *chosen = env_dir("TACHOGRAPH_RUNTIME_DIR");
	const char *told = env_dir(TG_PATHS_RUNTIME_TOLD);
	const char *base[] = { env_dir("XDG_RUNTIME_DIR"), env_dir("TMPDIR"), "/tmp" };
	struct tg_buf path = TG_BUF_INIT;
	struct tg_err why = { 0 };
	int r = -ENOENT;

	/* who started us found room there: what counts now is that both mean the same folder */
	if (told) {
		tg_buf_adds(&path, told);
		r = make_private(path.data, &why);
	} else if (chosen) {
		/* what is in a folder of the user's is not ours: one of our own in it */
		tg_buf_addf(&path, "%s/tachograph", chosen);
		r = make_private(path.data, &why);
	}
	/* a login's runtime folder may be gone or not ours (sudo, batch jobs): then /tmp serves */
	for (size_t i = 0; i < TG_ARRAY_SIZE(base) && r < 0; i++) {
		if (!base[i])
			continue;
		tg_buf_clear(&path);
		tg_buf_addf(&path, "%s/tachograph", base[i]);
		if (i > 0)
			tg_buf_addf(&path, "-%u", (unsigned)geteuid());
		r = make_private(path.data, &why);
		if (r == 0)
			r = probe(path.data, &why);
	}
	if (r == 0)
		tg_buf_add(out, path.data, path.len);
	else
		tg_err_set(err, r, "%s", why.text);
	tg_buf_release(&path);
	return r;
}

int tg_paths_mkdirs(const char *path, unsigned mode, struct tg_err *err)
{
	char *part = tg_xstrdup(path);
	int r = 0;

	for (char *slash = part + 1; r == 0; slash++) {
		slash = strchr(slash, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			r = tg_err_set(
				err, -errno, "cannot make folder %s: %s", part, strerror(errno));
		if (!slash)
			break;
		*slash = '/';
	}
	free(part);
	return r;
}

int tg_paths_recordings_name(struct tg_buf *out, struct tg_err *err)
{
	const char *dir = getenv("TACHOGRAPH_DIR");
	const char *state = env_dir("XDG_STATE_HOME");
	const char *home = env_dir("HOME");

	if (dir && *dir)
		tg_buf_adds(out, dir);
	else if (state)
		tg_buf_addf(out, "%s/tachograph", state);
	else if (home)
		tg_buf_addf(out, "%s/.local/state/tachograph", home);
	else
		return tg_err_set(
			err, -ENOENT, "no folder for recordings: set TACHOGRAPH_DIR or HOME");
	return 0;
}

static bool is_utf8(const char *s)
{
	size_t len = strlen(s);
	uint32_t cp;

	for (size_t n; len > 0; s += n, len -= n)
		if (!(n = tg_utf8_decode(s, len, &cp)))
			return false;
	return true;
}

int tg_paths_recordings(struct tg_buf *out, struct tg_err *err)
{
	size_t start = out->len;
	int r = tg_paths_recordings_name(out, err);

	if (r < 0)
		return r;
	/* recorder, kernel and worker tell one another names in JSON */
	if (!is_utf8(out->data + start))
		r = tg_err_set(
			err, -EILSEQ, "the folder for recordings has a name that is not UTF-8");
	else
		r = tg_paths_mkdirs(out->data + start, 0700, err);
	if (r < 0)
		tg_buf_splice(out, start, out->len - start, NULL, 0);
	return r;
}

int tg_paths_self(struct tg_buf *out)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		return -errno;
	tg_buf_add(out, path, (size_t)n);
	return 0;
}

int tg_paths_scratch(struct tg_buf *out)
{
	const char *base = env_dir("TMPDIR");

	tg_buf_addf(out, "%s/tachograph-XXXXXX", base ? base : "/tmp");
	return mkdtemp(out->data) ? 0 : -errno;
}
