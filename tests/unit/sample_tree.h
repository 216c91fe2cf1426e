/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of sampling on captured trees in tests/fixtures, and on copies that they change. */
#ifndef TG_TESTS_SAMPLE_TREE_H
#define TG_TESTS_SAMPLE_TREE_H

#include "sample_util.h"

#include "base/buf.h"
#include "base/file.h"

#include "base/mem.h"

static inline struct tg_sampler *sampler_at(const char *folder, pid_t root)
{
	struct tg_sampler_options options = { .root = root };
	struct tg_sampler *s = NULL;

	options.root_fd = open(folder, O_RDONLY | O_DIRECTORY);
	T_OK(options.root_fd >= 0);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	return s;
}

static inline struct tg_sampler *sampler_of(const char *machine, pid_t root)
{
	char folder[512];

	snprintf(folder, sizeof(folder), "%s/fixtures/%s", t_dir(), machine);
	return sampler_at(folder, root);
}

/* A copy that a test may change. */
struct copy {
	char folder[64];
};

static inline struct copy copy_of(const char *machine)
{
	struct copy c = { "/tmp/tg-fixture-XXXXXX" };
	char command[700];

	T_OK(mkdtemp(c.folder) != NULL);
	snprintf(command, sizeof(command), "cp -r '%s/fixtures/%s/.' '%s'", t_dir(), machine,
		c.folder);
	T_EQ_I(system(command), 0);
	return c;
}

static inline void copy_remove(struct copy *c)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", c->folder);
	T_EQ_I(system(command), 0);
}

/* Replace the content of a file, under the descriptors that are open. */
static inline void put_file(const struct copy *c, const char *path, const char *text, size_t len)
{
	char full[256];
	int fd;

	snprintf(full, sizeof(full), "%s/%s", c->folder, path);
	fd = open(full, O_WRONLY | O_TRUNC | O_CREAT, 0600);
	if (fd < 0 || tg_file_write_all(fd, text, len) < 0)
		abort();
	close(fd);
}

static inline void edit(const struct copy *c, const char *path, const char *from, const char *to)
{
	struct tg_buf b = TG_BUF_INIT;
	char full[256], *at;

	snprintf(full, sizeof(full), "%s/%s", c->folder, path);
	T_EQ_I(tg_file_read(AT_FDCWD, full, 1 << 20, &b, NULL), 0);
	at = strstr(b.data, from);
	T_OK(at != NULL);
	if (at)
		tg_buf_splice(&b, (size_t)(at - b.data), strlen(from), to, strlen(to));
	put_file(c, path, b.data, b.len);
	tg_buf_release(&b);
}

#define VALUE(name, instance, want) T_EQ_I(column(&r, name, instance), want)
#define MISSING(name, instance)     T_EQ_I(column(&r, name, instance), TG_MISSING)

static inline int64_t sum(const struct tg_reading *r, const char *name, char *names, size_t size)
{
	int64_t total = 0;
	size_t at = 0;

	names[0] = '\0';
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->column[i].metric->name, name)) {
			total += r->value[i];
			at += (size_t)snprintf(names + at, size - at, "%s ", r->column[i].instance);
		}
	return total;
}

/* Half a number is never a number: each file cut at each byte gives the value or nothing. */
static inline void test_truncated(const char *machine, pid_t root, const char *path)
{
	struct copy c = copy_of(machine);
	struct tg_buf whole = TG_BUF_INIT;
	struct tg_sampler *s = sampler_at(c.folder, root);
	struct tg_reading full, r;
	char file[256];
	int wrong = 0;

	tg_sampler_read(s, TG_READ_REFRESH, &full);
	snprintf(file, sizeof(file), "%s/%s", c.folder, path);
	T_EQ_I(tg_file_read(AT_FDCWD, file, 1 << 20, &whole, NULL), 0);
	for (size_t cut = 0; cut < whole.len; cut++) {
		struct tg_sampler_options options = { .root = root };
		struct tg_sampler *other;

		options.root_fd = open(c.folder, O_RDONLY | O_DIRECTORY);
		put_file(&c, path, whole.data, cut);
		if (tg_sampler_new(&other, &options, NULL) < 0)
			abort();
		close(options.root_fd);
		tg_sampler_read(other, TG_READ_REFRESH, &r);
		for (size_t i = 0; i < full.n; i++) {
			int64_t v =
				column(&r, full.column[i].metric->name, full.column[i].instance);

			/* these count lines, processes and what may be read of them */
			if (!strcmp(full.column[i].metric->name, "node.cores") ||
				(!strncmp(full.column[i].metric->name, "tree.", 5) &&
					strstr(path, "proc/1")) ||
				!strcmp(full.column[i].metric->name, "self.cpu_ns"))
				continue;
			if (v != TG_MISSING && v != full.value[i]) {
				fprintf(stderr, "# %s cut at %zu: %s %s is %" PRId64 "\n", path,
					cut, full.column[i].metric->name, full.column[i].instance,
					v);
				wrong++;
			}
		}
		tg_sampler_free(other);
	}
	T_EQ_I(wrong, 0);
	tg_sampler_free(s);
	tg_buf_release(&whole);
	copy_remove(&c);
}

static inline int count(const struct tg_reading *r, const char *prefix)
{
	int n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += !strncmp(r->column[i].metric->name, prefix, strlen(prefix));
	return n;
}

/* What `tachograph list` says of a source: "+" when it is there, and the reason. */
static inline const char *said(const struct tg_sampler *s, const char *name)
{
	static char text[200];
	struct tg_source_info info[32];
	size_t n = tg_sampler_sources(s, info, TG_ARRAY_SIZE(info));

	for (size_t i = 0; i < n; i++)
		if (!strcmp(info[i].name, name)) {
			snprintf(text, sizeof(text), "%s%s", info[i].available ? "+" : "",
				info[i].why);
			return text;
		}
	return "no such source";
}

static inline void run(const struct copy *c, const char *what)
{
	char command[800];

	snprintf(command, sizeof(command), "cd '%s' && %s", c->folder, what);
	T_EQ_I(system(command), 0);
}

#endif
