/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "record/reader.h"
#include "recorder/lock.h"

#include "base/mem.h"

#define FILES_MAX 65536 /* a folder with more is not ours to tidy */
#define DAY_S     (24 * INT64_C(3600))

struct candidate {
	char *name;
	int64_t mtime_ns;
	int64_t mtime_s;
	int64_t bytes;
};

static int older_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

/* Whether a kernel made it and it is over. What cannot be read is not ours to remove. */
static bool may_go(int dirfd, const char *name, bool old)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	const struct tg_session *session;
	struct tg_json *json = NULL;
	struct tg_reader *r;
	bool yes = false;
	size_t n;

	if (fd < 0 || tg_reader_open_fd(&r, fd, name, NULL) < 0)
		return false;
	session = tg_reader_sessions(r, &n);
	if (n)
		json = tg_json_parse(session[0].json, strlen(session[0].json), NULL);
	yes = !strcmp(tg_json_str(tg_json_get(json, "what"), ""), "kernel") &&
	      (old || tg_reader_damage(r)->ended);
	tg_json_free(json);
	tg_reader_close(r);
	return yes;
}

static size_t list(DIR *dir, struct candidate **out)
{
	struct candidate *c = NULL;
	size_t n = 0, cap = 0;
	struct dirent *entry;
	struct stat st;

	while (n < FILES_MAX && (entry = readdir(dir))) {
		if (!has_suffix(entry->d_name, ".tacho"))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
			continue;
		TG_GROW(c, n + 1, cap);
		c[n].name = tg_xstrdup(entry->d_name);
		c[n].mtime_s = st.st_mtim.tv_sec;
		c[n].mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		c[n].bytes = st.st_size;
		n++;
	}
	*out = c;
	return n;
}

static int64_t bytes_of(const struct candidate *c, size_t n)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += c[i].bytes;
	return bytes;
}

/* Leave only those that may go: what others put into the folder does not cost a recording. */
static size_t keep_candidates(
	int dirfd, struct candidate *c, size_t n, const char *current, int64_t now_s)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if ((!current || strcmp(c[i].name, current) != 0) &&
			may_go(dirfd, c[i].name, now_s - c[i].mtime_s > DAY_S))
			c[kept++] = c[i];
		else
			free(c[i].name);
	}
	return kept;
}

/*
 * Remove it as its only writer: a recorder that slept with its laptop has touched nothing for a
 * day, and yet goes on.
 */
static bool drop(int dirfd, const char *folder, const char *name)
{
	struct tg_buf file = TG_BUF_INIT, lock_path = TG_BUF_INIT;
	bool gone = false;
	int lock;

	tg_buf_addf(&file, "%s/%s", folder, name);
	lock = tg_lock_name(&lock_path, file.data, NULL);
	if (lock == 0)
		lock = tg_lock_take(lock_path.data, NULL);
	if (lock >= 0) {
		gone = unlinkat(dirfd, name, 0) == 0;
		tg_lock_drop(lock_path.data, lock);
	}
	tg_buf_release(&lock_path);
	tg_buf_release(&file);
	return gone;
}

size_t tg_prune_keep(void)
{
	const char *text = getenv("TACHOGRAPH_KEEP");
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : -1;

	if (!text || end == text || *end || n < 0)
		return TG_PRUNE_FILES;
	return n ? (size_t)n : SIZE_MAX;
}

int tg_prune(
	const char *path, const char *current, size_t keep_files, int64_t keep_bytes, int64_t now_s)
{
	struct candidate *c;
	int64_t bytes;
	size_t n;
	int removed = 0;
	DIR *dir = opendir(path);

	if (!dir)
		return -errno;
	n = list(dir, &c);
	/* few enough with all that is there: none need be read */
	if (n > keep_files || bytes_of(c, n) > keep_bytes)
		n = keep_candidates(dirfd(dir), c, n, current, now_s);
	bytes = bytes_of(c, n);
	if (n)
		qsort(c, n, sizeof(*c), older_first);
	for (size_t i = 0; i < n && (n - i > keep_files || bytes > keep_bytes); i++) {
		removed += drop(dirfd(dir), path, c[i].name);
		bytes -= c[i].bytes; /* one that a recorder holds does not count either */
	}
	for (size_t i = 0; i < n; i++)
		free(c[i].name);
	free(c);
	closedir(dir);
	return removed;
}
