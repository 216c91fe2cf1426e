/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Disks, from /proc/diskstats. What goes through several layers counts once: only devices that
 * stand on no other (no partitions, no LVM, no RAID, no loop) are columns. A disk that NVMe
 * reaches on several paths (nvme0c0n1, nvme0c1n1) has one of its own (nvme0n1); with
 * older kernels that one counts nothing, and then what its paths have counted is added up.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/mounts.h"
#include "sample/names.h"
#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/source.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define DISKS_TOLD   32
#define SECTOR_BYTES 512 /* in diskstats always, whatever the device's own are */

enum { READ, WRITE, READ_OPS, WRITE_OPS, BUSY };

static const struct tg_metric metrics[] = {
	[READ] = { "disk.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes read from the device" },
	[WRITE] = { "disk.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes written to the device" },
	[READ_OPS] = { "disk.read_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"reads that the device has completed" },
	[WRITE_OPS] = { "disk.write_ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"writes that the device has completed" },
	[BUSY] = { "disk.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time in which it had something to do; a parallel device can do more at once" },
};

struct disk {
	int fd;
	struct tg_names known; /* with the answer to: is it to be counted? */
	pid_t told; /* the root whose mount points were noted; -1: none yet */
};

/* Skip a letter-and-number pair such as "c12"; NULL when that is not what follows. */
static const char *skip_pair(const char *p, char letter)
{
	if (!p || *p++ != letter || *p < '0' || *p > '9')
		return NULL;
	return p + strspn(p, "0123456789");
}

/* Names that say it: memory, files or another file system stand behind these. */
static bool is_made_of_others(const char *name)
{
	static const char *const prefix[] = { "loop", "ram", "zram", "zd", "sr", "fd" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(prefix); i++)
		if (!strncmp(name, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/* nvme0c1n1: one path of several to nvme0n1, which is put into `disk`. False: it is no path. */
static bool is_path(const char *name, char *disk, size_t size)
{
	const char *c = !strncmp(name, "nvm", 3) ? skip_pair(name + 3, 'e') : NULL;
	const char *n = skip_pair(c, 'c'), *end = skip_pair(n, 'n');

	if (!end || *end)
		return false;
	snprintf(disk, size, "%.*s%s", (int)(c - name), name, n);
	return true;
}

static int found(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return 1;
}

static bool is_whole(const struct tg_env *env, const char *name)
{
	char sysfs[64];
	int dir;

	if (is_made_of_others(name))
		return false;
	snprintf(sysfs, sizeof(sysfs), "%s", name);
	for (char *p = sysfs; (p = strchr(p, '/'));)
		*p = '!'; /* cciss/c0d0 */
	dir = tg_env_open(env, "sys/block/%s", sysfs);
	if (dir < 0)
		return false; /* a partition has no folder there */
	close(dir);
	return tg_env_each(env, found, NULL, "sys/block/%s/slaves", sysfs) <= 0;
}

static int open_disk(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct disk *d;
	int fd = tg_env_open(env, "proc/diskstats");

	if (fd < 0) {
		snprintf(why, why_size, "/proc/diskstats: %s", strerror(-fd));
		return fd;
	}
	d = tg_xcalloc(1, sizeof(*d));
	d->fd = fd;
	d->told = -1;
	*state = d;
	return 0;
}

/* A disk's own figures, once it has any, stand instead of those of its paths. */
enum { HAS_OWN = 1 << 0 };

static void put(struct tg_out *out, const char *name, const struct tg_disk_line *line, bool own)
{
	void (*give)(struct tg_out *, size_t, size_t, int64_t) = own ? tg_out_put : tg_out_add;
	size_t i = tg_out_instance(out, name);

	if (i == SIZE_MAX)
		return;
	give(out, i, READ, tg_scaled(line->sectors_read, SECTOR_BYTES));
	give(out, i, WRITE, tg_scaled(line->sectors_written, SECTOR_BYTES));
	give(out, i, READ_OPS, line->reads);
	give(out, i, WRITE_OPS, line->writes);
	give(out, i, BUSY, tg_scaled(line->busy_ms, TG_NS_PER_MS));
}

/* The mount points that stand on one disk, each with its end. */
struct title {
	char disk[TG_INSTANCE_MAX];
	struct tg_buf points;
};

struct titles {
	struct title title[DISKS_TOLD];
	size_t n;
};

static void add_point(void *ctx, const char *disk, const char *point)
{
	struct titles *t = ctx;
	size_t i = 0;

	while (i < t->n && strcmp(t->title[i].disk, disk) != 0)
		i++;
	if (i == DISKS_TOLD || strlen(disk) >= sizeof(t->title[i].disk))
		return;
	if (i == t->n)
		snprintf(t->title[t->n++].disk, sizeof(t->title[i].disk), "%s", disk);
	tg_buf_add(&t->title[i].points, point, strlen(point) + 1);
}

/* Names of disks mean little to who knows folders. Once for each root, as mounts were then. */
static void tell_mounts(struct disk *d, struct tg_env *env)
{
	struct titles *t;

	if (d->told == env->root || !env->hooks || !env->hooks->disk)
		return;
	d->told = env->root;
	t = tg_xcalloc(1, sizeof(*t));
	tg_mounts_each(env, add_point, t);
	for (size_t i = 0; i < t->n; i++) {
		/* a buffer ends with a NUL of its own: the empty string */
		env->hooks->disk(
			env->hooks->ctx, env->t_ns, t->title[i].disk, t->title[i].points.data);
		tg_buf_release(&t->title[i].points);
	}
	free(t);
}

static void read_disk(void *state, struct tg_env *env, struct tg_out *out)
{
	struct disk *d = state;
	struct tg_disk_line line;
	char disk[sizeof(line.name)];
	struct tg_cursor s;

	tell_mounts(d, env);
	if (tg_text_pread(env->text, d->fd) <= 0)
		return;
	s = tg_cursor_of(env->text->data, env->text->len);
	tg_names_rewind(&d->known);
	while (tg_procfs_disk_next(&s, &line)) {
		struct tg_name *known;

		if (is_path(line.name, disk, sizeof(disk))) {
			known = tg_names_find(&d->known, disk);
			if (!known || !(known->facts & HAS_OWN))
				put(out, disk, &line, false);
			continue;
		}
		known = tg_names_find(&d->known, line.name);
		if (!known) {
			known = tg_names_add(&d->known, line.name);
			if (!known)
				return;
			known->counted = is_whole(env, line.name);
		}
		if (!known->counted)
			continue;
		if (line.reads || line.writes)
			known->facts |= HAS_OWN;
		put(out, line.name, &line, known->facts & HAS_OWN);
	}
}

static void close_disk(void *state)
{
	struct disk *d = state;

	close(d->fd);
	tg_names_release(&d->known);
	free(d);
}

const struct tg_source tg_source_disk = {
	.name = "disk",
	.help = "each disk of the machine, whoever uses it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.instances = true,
	.edge = true,
	.open = open_disk,
	.read = read_disk,
	.close = close_disk,
};
