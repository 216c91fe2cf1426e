/* SPDX-License-Identifier: BSD-3-Clause */
/* The recordings in a folder, of which the newest are listed where there are very many. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "command/run.h"

#include "base/mem.h"

#define FILES_MAX 4096

struct found {
	char *name;
	int64_t mtime_ns; /* INT64_MIN: unknown */
};

static int newer_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns > y->mtime_ns ? -1 : 1;
	return strcmp(y->name, x->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Keep the newest of `n`, FILES_MAX at most. Returns how many. */
static size_t keep_newest(struct found *found, size_t n)
{
	if (n <= FILES_MAX)
		return n;
	qsort(found, n, sizeof(*found), newer_first);
	for (size_t i = FILES_MAX; i < n; i++)
		free(found[i].name);
	return FILES_MAX;
}

/* *n_all counts all of them. Room for twice as many as are kept makes sorting rare. */
static size_t find(DIR *dir, struct found *found, size_t *n_all)
{
	struct dirent *entry;
	size_t n = 0;

	while ((entry = readdir(dir))) {
		int64_t mtime_ns = INT64_MIN;
		struct stat st;

		if (!tg_is_recording(entry->d_name))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			mtime_ns = st.st_mtim.tv_sec * TG_NS_PER_S + st.st_mtim.tv_nsec;
		if (n == 2 * (size_t)FILES_MAX)
			n = keep_newest(found, n);
		found[n++] = (struct found){ tg_xstrdup(entry->d_name), mtime_ns };
		(*n_all)++;
	}
	return keep_newest(found, n);
}

size_t tg_list_folder(struct tg_command *c, const char *name, char ***file)
{
	struct tg_buf path = TG_BUF_INIT, more = TG_BUF_INIT;
	struct found *found;
	size_t n, n_all = 0;
	DIR *dir;

	*file = NULL;
	tg_resolve(c, name, &path);
	dir = opendir(path.data);
	tg_buf_release(&path);
	if (!dir) {
		tg_err_set(&c->err, -errno, "Cannot read %.150s: %s", name, strerror(errno));
		return 0;
	}
	found = tg_xcalloc(2 * (size_t)FILES_MAX, sizeof(*found));
	n = find(dir, found, &n_all);
	closedir(dir);
	if (!n)
		tg_err_set(&c->err, -ENOENT, "There are no recordings in %.150s", name);
	*file = tg_xcalloc(n + 1, sizeof(**file));
	for (size_t i = 0; i < n; i++) {
		tg_buf_addf(&path, "%s/%s", name, found[i].name);
		(*file)[i] = tg_buf_detach(&path);
		free(found[i].name);
	}
	free(found);
	qsort(*file, n, sizeof(**file), by_name);
	if (n_all > n) {
		tg_buf_addf(&more, "Only the newest %zu of the %zu recordings in ", n, n_all);
		tg_plain(&more, name, 150);
		tg_buf_adds(&more, " are shown");
		c->out.note(c->out.ctx, more.data);
	}
	tg_buf_release(&more);
	return n;
}

bool tg_is_folder(struct tg_command *c, const char *name)
{
	struct tg_buf path = TG_BUF_INIT;
	struct stat st;
	bool yes;

	tg_resolve(c, name, &path);
	yes = name[0] && stat(path.data, &st) == 0 && S_ISDIR(st.st_mode);
	tg_buf_release(&path);
	return yes;
}
