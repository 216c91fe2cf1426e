/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/import.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

#include "base/paths.h"
#include "import/resolve.h"
#include "import/tasks.h"
#include "import/zone.h"

#include "base/mem.h"

int tg_import_new(
	struct tg_import **out, const struct tg_import_options *options, struct tg_err *err)
{
	struct tg_import *im = tg_xcalloc(1, sizeof(*im));
	int r = tg_roles_init(&im->roles, options->match, options->role, options->n_roles, err);

	if (r == 0 && options->zone) {
		r = tg_zone_set(options->zone, err);
		if (r < 0)
			tg_roles_release(&im->roles);
	}
	*out = r == 0 ? im : NULL;
	if (r < 0)
		free(im);
	else
		im->options = *options;
	return r;
}

void tg_import_free(struct tg_import *im)
{
	if (!im)
		return;
	for (size_t i = 0; i < im->n; i++) {
		tg_logfile_release(im->log[i]);
		free(im->log[i]);
	}
	for (size_t i = 0; i < im->n_unknown; i++)
		free(im->unknown[i]);
	free(im->log);
	free(im->unknown);
	tg_roles_release(&im->roles);
	free(im);
}

/* Read what is open, which is taken, as a log of that format. */
static void read_log(struct tg_import *im, const struct tg_log_format *format, const char *path,
	const struct tg_log_bytes *bytes)
{
	struct tg_logfile *log = tg_xcalloc(1, sizeof(*log));
	const char *slash = strrchr(path, '/');

	*log = (struct tg_logfile){
		.path = tg_xstrdup(path), .bytes = *bytes, .interval_ns = im->options.interval_ns
	};
	log->name = slash ? log->path + (slash + 1 - path) : log->path;
	tg_logfile_init(log, format, &im->roles);
	format->read(log);
	if (log->bytes.error)
		tg_logfile_note(
			log, "it could not be read to its end: %s", strerror(-log->bytes.error));
	tg_bytes_close(&log->bytes);
	TG_GROW(im->log, im->n + 1, im->cap);
	im->log[im->n++] = log;
}

static bool is_compressed(const char *head, size_t len)
{
	static const char *const magic[] = { "\x1f\x8b", "BZh", "\3757zXZ", "\x28\xb5\x2f\xfd",
		"PK\x03\x04" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(magic); i++)
		if (len > strlen(magic[i]) && !memcmp(head, magic[i], strlen(magic[i])))
			return true;
	return false;
}

/* The same when the format is not known yet. */
static int add_open(
	struct tg_import *im, const char *path, struct tg_log_bytes *bytes, struct tg_err *err)
{
	size_t len;
	const char *head = tg_bytes_head(bytes, &len);
	const struct tg_log_format *format = tg_format_of(head, len);
	int r = 0;

	if (bytes->error)
		r = tg_err_set(
			err, bytes->error, "cannot read %.150s: %s", path, strerror(-bytes->error));
	else if (!format)
		r = tg_err_set(err, -EBADMSG, "%.150s: %s", path,
			!len                       ? "it is empty"
			: is_compressed(head, len) ? "it is compressed: unpack it first"
						   : "no log of a tool that is known here");
	else if (im->n == TG_IMPORT_LOGS_MAX)
		r = tg_err_set(err, -E2BIG, "there are more than %d logs", TG_IMPORT_LOGS_MAX);
	if (r < 0 || !format)
		tg_bytes_close(bytes);
	else
		read_log(im, format, path, bytes);
	return r;
}

void tg_import_add_as(struct tg_import *im, const struct tg_log_format *format, const char *name,
	const void *data, size_t len)
{
	struct tg_log_bytes bytes;

	tg_bytes_of(&bytes, data, len);
	read_log(im, format, name, &bytes);
}

int tg_import_add_bytes(
	struct tg_import *im, const char *name, const void *data, size_t len, struct tg_err *err)
{
	struct tg_log_bytes bytes;

	tg_bytes_of(&bytes, data, len);
	return add_open(im, name, &bytes, err);
}

static int add_file(struct tg_import *im, const char *path, struct tg_err *err)
{
	struct tg_log_bytes bytes;
	int r = tg_bytes_open(&bytes, path, err);

	return r < 0 ? r : add_open(im, path, &bytes, err);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Files that are no logs are named later; what cannot be read at all ends it. */
static int add_member(
	struct tg_import *im, const char *folder, const char *name, struct tg_err *err)
{
	struct tg_buf path = TG_BUF_INIT;
	struct tg_err its = { 0 };
	struct stat st;
	int r = 0;

	tg_buf_addf(&path, "%s/%s", folder, name);
	if (stat(path.data, &st) == 0 && S_ISREG(st.st_mode)) {
		r = add_file(im, path.data, &its);
		if (r == -EBADMSG) {
			TG_GROW(im->unknown, im->n_unknown + 1, im->cap_unknown);
			im->unknown[im->n_unknown++] = tg_xstrdup(name);
			r = 0;
		} else if (r < 0 && err) {
			*err = its;
		}
	}
	tg_buf_release(&path);
	return r;
}

static int add_folder(struct tg_import *im, const char *path, struct tg_err *err)
{
	struct dirent **entry;
	size_t before = im->n;
	int n = scandir(path, &entry, visible, alphasort), r = 0;

	if (n < 0)
		return tg_err_set(err, -errno, "cannot read %.150s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = add_member(im, path, entry[i]->d_name, err);
		free(entry[i]);
	}
	free(entry);
	if (r == 0 && im->n == before)
		r = tg_err_set(err, -EBADMSG, "%.150s: there is no log in this folder", path);
	return r;
}

int tg_import_add(struct tg_import *im, const char *path, struct tg_err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return tg_err_set(err, -errno, "cannot read %.150s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode) ? add_folder(im, path, err) : add_file(im, path, err);
}

/* ---- when all are there ---- */

static size_t rank_of(const struct tg_log_format *format)
{
	size_t n;
	const struct tg_log_format *const *all = tg_formats(&n);

	/* the first that has the tool's name: two formats may be of one tool */
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i]->tool, format->tool))
			return i;
	return n;
}

static int by_tool_and_time(const void *a, const void *b)
{
	const struct tg_logfile *x = *(struct tg_logfile *const *)a,
				*y = *(struct tg_logfile *const *)b;
	size_t rx = rank_of(x->format), ry = rank_of(y->format);

	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int64_t first_of(const struct tg_logfile *log)
{
	int64_t first, last;

	tg_tasks_times(log, &first, &last);
	for (size_t i = 0; i < log->n_parts; i++)
		if (log->part[i].grid.n_ticks)
			first = TG_MIN(first, log->part[i].grid.tick[0].utc_ns);
	return first;
}

static void resolve(struct tg_logfile *log, int64_t *tasks_ns)
{
	for (size_t i = 0; i < log->n_parts; i++) {
		struct tg_readings *g = &log->part[i].grid;

		tg_resolve_ticks(g);
		log->undated |= g->n_ticks && g->undated;
		log->numbered |= g->n_ticks && g->times == TG_NUMBERED;
	}
	if (log->has_processes)
		tg_resolve_ticks(&log->processes.grid);
	if (log->has_processes && log->processes.grid.n_items && !log->processes.counted)
		tg_logfile_note(log, "no command in it is one that counts, which --match chooses");
	if (log->numbered)
		tg_logfile_note(
			log, "it has no times, which --interval could tell: samples are numbered");
	else if (log->undated)
		tg_logfile_note(log, "the date is not in it: only relative times are known");
	if (tg_tasks_resolve(log, tasks_ns)) {
		tg_logfile_note(
			log, "when they ran is not in it: they are laid one after the other");
		log->undated = true;
	}
	log->first_ns = first_of(log);
}

/* The folder that a path names last: "align" of benchmarks/align/S1.tsv; NULL: none. */
static char *folder_of(const char *path)
{
	const char *end = strrchr(path, '/'), *begin = end;

	if (!end)
		return NULL;
	while (begin > path && begin[-1] != '/')
		begin--;
	return end > begin ? tg_xmemdup0(begin, (size_t)(end - begin)) : NULL;
}

/* Benchmarks of several rules have the names of samples: in several folders, these are the rules.
 */
static void settle_groups(struct tg_import *im)
{
	char *first = NULL, *folder;
	bool differ = false;

	for (size_t i = 0; i < im->n; i++) {
		if (!im->log[i]->named_by_file)
			continue;
		folder = folder_of(im->log[i]->path);
		differ |= first && folder && strcmp(first, folder) != 0;
		if (first)
			free(folder);
		else
			first = folder;
	}
	for (size_t i = 0; i < im->n && differ; i++)
		if (im->log[i]->named_by_file)
			im->log[i]->group = folder_of(im->log[i]->path);
	free(first);
}

/* Logs are of one machine, with one zone: that which a log tells, where the user tells none. */
static void settle_zone(struct tg_import *im)
{
	struct tg_logfile *tells = NULL;

	for (size_t i = 0; i < im->n && !im->options.zone; i++)
		if (im->log[i]->zone_is_utc)
			tells = im->log[i];
	if (!tells)
		return;
	if (im->n > 1 && tg_zone_offset_s(time(NULL)) != 0)
		tg_logfile_note(tells, "its clock was UTC, and so the others' is taken to be");
	tg_zone_set("UTC", NULL);
}

void tg_import_settle(struct tg_import *im)
{
	int64_t tasks_ns = 0;

	settle_zone(im);
	settle_groups(im);
	for (size_t i = 0; i < im->n; i++)
		resolve(im->log[i], &tasks_ns);
	if (im->n)
		qsort(im->log, im->n, sizeof(*im->log), by_tool_and_time);
}

size_t tg_import_of_tool(const struct tg_import *im, const char *tool, size_t *first)
{
	size_t n = 0;

	for (*first = 0; *first < im->n; ++*first)
		if (!strcmp(im->log[*first]->format->tool, tool))
			break;
	while (*first + n < im->n && !strcmp(im->log[*first + n]->format->tool, tool))
		n++;
	return n;
}

void tg_import_report(const struct tg_import *im, struct tg_buf *out)
{
	const char *tool = "";
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	for (size_t i = 0; i < im->n; i++) {
		const struct tg_log_format *f = im->log[i]->format;

		if (!f->report || !strcmp(f->tool, tool))
			continue;
		tool = f->tool;
		tg_jw_key(&w, f->key ? f->key : tool);
		f->report(im, f, &w);
	}
	tg_jw_end_object(&w);
	tg_buf_addc(out, '\n');
}

int tg_import_csv(const struct tg_import *im, const char *folder, struct tg_err *err)
{
	const char *tool = "";
	int r = tg_paths_mkdirs(folder, 0777, err);

	for (size_t i = 0; i < im->n && r == 0; i++) {
		const struct tg_log_format *f = im->log[i]->format;

		if (!f->csv || !strcmp(f->tool, tool))
			continue;
		tool = f->tool;
		r = f->csv(im, f, folder, err);
	}
	return r;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void tg_import_line(const struct tg_logfile *log, struct tg_buf *out)
{
	tg_buf_addf(out, "%s: %s", log->name, log->format->tool);
	if (log->version[0])
		tg_buf_addf(out, " (%s)", log->version);
	tg_buf_addf(out, ", %" PRIu64 " %s%s, %" PRIu64 " line%s skipped", log->n_samples,
		log->format->noun ? log->format->noun : "sample", plural(log->n_samples),
		log->n_skipped, plural(log->n_skipped));
	if (log->n_averages)
		tg_buf_addf(out, "; %" PRIu64 " of them, of the time since %s, %s not used",
			log->n_averages, log->since, log->n_averages == 1 ? "is" : "are");
	for (size_t i = 0; i < log->n_notes; i++)
		tg_buf_addf(out, "; %s", log->note[i]);
}

void tg_import_name(const char *path, struct tg_buf *out)
{
	size_t len = strlen(path), from;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (from = len; from && path[from - 1] != '/';)
		from--;
	tg_buf_add(out, path + from, len - from);
}
