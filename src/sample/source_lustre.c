/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lustre file systems that are mounted here, from the statistics of llite, about once a second.
 * Where they are depends on the version: below /proc, /sys, or since 2.12 debugfs, which is
 * root's. The mounts themselves are not touched.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum {
	READ,
	WRITE,
	READ_OPS,
	WRITE_OPS,
	OPEN,
	CLOSE,
	GETATTR,
	SETATTR,
	READDIR,
	CREATE,
	UNLINK,
	RENAME,
	MKDIR,
	RMDIR,
	FSYNC
};

static const struct tg_metric metrics[] = {
	[READ] = { "lustre.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that programs have read from the file system, also from its cache" },
	[WRITE] = { "lustre.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that programs have written to the file system" },
	[READ_OPS] = { "lustre.read_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "read calls" },
	[WRITE_OPS] = { "lustre.write_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "write calls" },
	[OPEN] = { "lustre.open_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "files opened" },
	[CLOSE] = { "lustre.close_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "files closed" },
	[GETATTR] = { "lustre.getattr_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that the attributes of a file were asked for, as stat(2) does" },
	[SETATTR] = { "lustre.setattr_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that the attributes of a file were set" },
	[READDIR] = { "lustre.readdir_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"reads of folders" },
	[CREATE] = { "lustre.create_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "files made" },
	[UNLINK] = { "lustre.unlink_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "files removed" },
	[RENAME] = { "lustre.rename_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "files renamed" },
	[MKDIR] = { "lustre.mkdir_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "folders made" },
	[RMDIR] = { "lustre.rmdir_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0, "folders removed" },
	[FSYNC] = { "lustre.fsync_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that somebody waited until a file was stored" },
};

/* Lines of "stats", and which metrics their number of samples and their sum are; -1: none. */
static const struct {
	const char *name;
	int count, sum;
} lines[] = {
	{ "read_bytes", READ_OPS, READ },
	{ "write_bytes", WRITE_OPS, WRITE },
	{ "open", OPEN, -1 },
	{ "close", CLOSE, -1 },
	{ "getattr", GETATTR, -1 },
	{ "setattr", SETATTR, -1 },
	{ "readdir", READDIR, -1 },
	{ "create", CREATE, -1 },
	{ "unlink", UNLINK, -1 },
	{ "rename", RENAME, -1 },
	{ "mkdir", MKDIR, -1 },
	{ "rmdir", RMDIR, -1 },
	{ "fsync", FSYNC, -1 },
};

static const char *const folders[] = { "proc/fs/lustre/llite", "sys/fs/lustre/llite",
	"sys/kernel/debug/lustre/llite" };

struct reading {
	struct tg_env *env;
	struct tg_out *out;
	const char *folder;
	int mounts, denied;
};

/* The file lists what has happened at least once: what is not there has happened no time. */
static void put(struct tg_out *out, size_t i, const struct tg_text *text)
{
	struct tg_cursor s = tg_cursor_of(text->data, text->len);
	struct tg_lustre_line line;
	int64_t value[TG_ARRAY_SIZE(metrics)] = { 0 };

	while (tg_procfs_lustre_next(&s, &line))
		for (size_t k = 0; k < TG_ARRAY_SIZE(lines); k++) {
			if (strcmp(line.name, lines[k].name) != 0)
				continue;
			value[lines[k].count] = line.samples;
			if (lines[k].sum >= 0)
				value[lines[k].sum] = line.sum;
		}
	for (size_t k = 0; k < TG_ARRAY_SIZE(value); k++)
		if (value[k] != TG_MISSING)
			tg_out_add(out, i, k, value[k]);
}

/*
 * "scratch-ffff8881a2b3c000": the file system, and one mount of it. Who has it mounted twice gets
 * the sum, under a name that means something and is the same next time.
 */
static int one_mount(void *ctx, const char *name)
{
	struct reading *r = ctx;
	ssize_t n = tg_env_read(r->env, "%s/%s/stats", r->folder, name);
	const char *dash = strrchr(name, '-');
	char instance[TG_INSTANCE_MAX];
	size_t i, len = dash && dash > name ? (size_t)(dash - name) : strlen(name);

	r->denied += n == -EACCES || n == -EPERM;
	if (n <= 0 || !tg_procfs_lustre_is_whole(r->env->text->data, r->env->text->len))
		return 0;
	r->mounts++;
	if (!r->out)
		return 0;
	snprintf(instance, sizeof(instance), "%.*s", (int)TG_MIN(len, sizeof(instance) - 1), name);
	i = tg_out_instance(r->out, instance);
	if (i != SIZE_MAX)
		put(r->out, i, r->env->text);
	return 0;
}

/* The mounts in the first folder that has any. */
static struct reading each_mount(struct tg_env *env, struct tg_out *out)
{
	struct reading r = { .env = env, .out = out };

	for (size_t i = 0; i < TG_ARRAY_SIZE(folders) && !r.mounts; i++) {
		int rc;

		r.folder = folders[i];
		rc = tg_env_each(env, one_mount, &r, "%s", folders[i]);
		r.denied += rc == -EACCES || rc == -EPERM;
	}
	return r;
}

static bool is_loaded(const struct tg_env *env)
{
	static const char *const sign[] = { "proc/fs/lustre", "sys/fs/lustre",
		"sys/kernel/debug/lustre" };
	bool loaded = false;

	for (size_t i = 0; i < TG_ARRAY_SIZE(sign) && !loaded; i++) {
		int dir = tg_env_open(env, "%s", sign[i]);

		loaded = dir >= 0;
		if (loaded)
			close(dir);
	}
	return loaded;
}

static int open_lustre(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct reading r;

	*state = NULL;
	if (!is_loaded(env)) {
		snprintf(why, why_size, "Lustre is not loaded");
		return -ENOENT;
	}
	r = each_mount(env, NULL);
	if (!r.mounts && r.denied) {
		snprintf(why, why_size, "denied: its statistics are root's (/sys/kernel/debug)");
		return -EACCES;
	}
	if (!r.mounts)
		snprintf(why, why_size, "no Lustre mount now");
	return 0;
}

static void read_lustre(void *state, struct tg_env *env, struct tg_out *out)
{
	(void)state;
	if (env->flags & TG_READ_REFRESH)
		each_mount(env, out);
}

static void close_lustre(void *state)
{
	(void)state;
}

const struct tg_source tg_source_lustre = {
	.name = "lustre",
	.help = "each Lustre file system that is mounted here, whoever uses it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = TG_NS_PER_S,
	.instances = true,
	.open = open_lustre,
	.read = read_lustre,
	.close = close_lustre,
};
