/* SPDX-License-Identifier: BSD-3-Clause */
/* What the words share: finding recordings, choosing spans, naming them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/select.h"
#include "command/run.h"
#include "report/format.h"

#include "base/mem.h"

void tg_resolve(const struct tg_command *c, const char *name, struct tg_buf *out)
{
	if (c->home && name[0] == '~' && (name[1] == '/' || !name[1])) {
		tg_buf_adds(out, c->home);
		name++;
	} else if (c->cwd && name[0] != '/') {
		tg_buf_addf(out, "%s/", c->cwd);
	}
	tg_buf_adds(out, name);
}

bool tg_is_recording(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && !strcmp(name + len - 6, ".tacho");
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Append the path of the recording in c->folder that was written to last. */
static int find_newest(struct tg_command *c, struct tg_buf *path)
{
	struct timespec newest = { 0 };
	char *name = NULL;
	struct dirent *entry;
	struct stat st;
	DIR *dir = opendir(c->folder);

	if (!dir) {
		if (errno == ENOENT)
			tg_err_set(&c->err, -ENOENT,
				"There are no recordings yet: %.150s does not exist", c->folder);
		else
			tg_err_set(&c->err, -errno, "Cannot read %.150s: %s", c->folder,
				strerror(errno));
		return TG_WORD_FAILED;
	}
	while ((entry = readdir(dir))) {
		if (!tg_is_recording(entry->d_name) ||
			fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode) ||
			(name && !is_newer(&st.st_mtim, &newest)))
			continue;
		newest = st.st_mtim;
		free(name);
		name = tg_xstrdup(entry->d_name);
	}
	closedir(dir);
	if (!name) {
		tg_err_set(&c->err, -ENOENT, "There are no recordings in %.150s", c->folder);
		return TG_WORD_FAILED;
	}
	tg_buf_addf(path, "%s/%s", c->folder, name);
	free(name);
	return TG_WORD_OK;
}

/* `show last`: spans were meant. What is no selection is left to fail as a file. */
static int suspect_selection(struct tg_command *c, const char *name)
{
	struct tg_select select;
	int rc = tg_select_parse(&select, name, NULL);

	tg_select_release(&select);
	if (rc < 0)
		return TG_WORD_OK;
	tg_err_set(&c->err, -ENOENT, "There is no file %.40s; spans are chosen by --span %.40s",
		name, name);
	return TG_WORD_USAGE;
}

int tg_find(struct tg_command *c, const char *name, struct tg_buf *path)
{
	struct tg_buf said = TG_BUF_INIT;

	if (name) {
		if (!name[0]) { /* which would be the folder of whoever asked */
			tg_err_set(&c->err, -EINVAL, "An empty name is no recording");
			return TG_WORD_USAGE;
		}
		tg_resolve(c, name, path);
		return TG_WORD_OK;
	}
	if (c->file) {
		if (access(c->file, F_OK) < 0 && errno == ENOENT) {
			tg_err_set(&c->err, -ENOENT, "%s",
				c->why ? c->why
				       : "The recording is gone: its file was removed or renamed");
			return TG_WORD_FAILED;
		}
		if (c->late)
			c->out.note(c->out.ctx, c->late);
		tg_buf_adds(path, c->file);
		return TG_WORD_OK;
	}
	if (!c->folder) {
		tg_err_set(&c->err, -ENOENT, "%s",
			c->why ? c->why : "Which recording? Name a .tacho file");
		return c->why ? TG_WORD_FAILED : TG_WORD_USAGE;
	}
	if (find_newest(c, path) != TG_WORD_OK)
		return TG_WORD_FAILED;
	tg_buf_adds(&said, "The newest recording: ");
	tg_plain(&said, path->data, path->len);
	c->out.note(c->out.ctx, said.data);
	tg_buf_release(&said);
	return TG_WORD_OK;
}

int tg_open(struct tg_command *c, const char *name, struct tg_recording **out)
{
	struct tg_buf path = TG_BUF_INIT;
	int rc = tg_find(c, name, &path);

	*out = NULL;
	if (rc == TG_WORD_OK && name && access(path.data, F_OK) < 0)
		rc = suspect_selection(c, name); /* all words that look into one take --span */
	if (rc == TG_WORD_OK && tg_recording_open(out, path.data, &c->err) < 0)
		rc = TG_WORD_FAILED;
	tg_buf_release(&path);
	if (rc != TG_WORD_OK)
		return rc;
	tg_recording_tell_running(*out, c->now_ns);
	/* the kernel's own file may hold earlier runs, too; one that is named is shown whole */
	if (!name && c->where == TG_IN_NOTEBOOK)
		tg_recording_only_run(*out, c->run);
	return TG_WORD_OK;
}

void tg_damage_text(const struct tg_damage *d, struct tg_buf *out)
{
	if (d->holes) {
		tg_fmt_count(out, d->bytes_skipped, "byte");
		tg_buf_adds(out, " skipped in ");
		tg_fmt_count(out, d->holes, "hole");
	}
	if (d->lost_chunks) {
		tg_buf_adds(out, d->holes ? ", " : "");
		tg_fmt_count(out, d->lost_chunks, "chunk");
		tg_buf_adds(out, " lost");
	}
}

void tg_tell_damage(struct tg_command *c, struct tg_recording *r)
{
	struct tg_buf line = TG_BUF_INIT;
	struct tg_damage d;

	if (!tg_recording_damage(r, &d))
		return;
	tg_buf_adds(&line, "The recording is damaged: ");
	tg_damage_text(&d, &line);
	tg_buf_adds(&line, "; `verify` says more");
	c->out.note(c->out.ctx, line.data);
	tg_buf_release(&line);
}

int tg_choose(struct tg_command *c, const struct tg_recording *r, const char *selection,
	const char *otherwise, const struct tg_span ***span, size_t *n)
{
	struct tg_select select;
	int64_t found;
	int rc;

	*span = NULL;
	*n = 0;
	rc = tg_select_parse(&select, selection ? selection : otherwise, &c->err);
	if (rc < 0) {
		tg_select_release(&select);
		return TG_WORD_USAGE;
	}
	found = tg_select_spans(&select, r, span, &c->err);
	tg_select_release(&select);
	if (found < 0)
		return TG_WORD_FAILED;
	*n = (size_t)found;
	return TG_WORD_OK;
}
