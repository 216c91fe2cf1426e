/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lsblk: which mount points are on which disk, whatever lies between. Columns by their heads; a
 * mount point may have lines of its own below the first.
 *
 *  NAME        MAJ:MIN RM   SIZE RO TYPE MOUNTPOINTS
 *  nvme0n1     259:0    0 953.9G  0 disk
 *  ├─nvme0n1p1 259:1    0   512M  0 part /boot/efi
 *  └─nvme0n1p2 259:2    0 953.4G  0 part /
 */
#include "base/utf8.h"
#include "import/logfile.h"
#include "import/scan.h"

#include "base/mem.h"

#define MOUNTS_MAX 256 /* of a disk */

/* Characters, which are what columns are made of, up to `to` in a line. */
static size_t column_of(const char *line, const char *to)
{
	size_t n = 0;

	while (line < to) {
		uint32_t cp;
		size_t k = tg_utf8_decode(line, (size_t)(to - line), &cp);

		line += k ? k : 1;
		n++;
	}
	return n;
}

static const char *at_column(const char *line, size_t column)
{
	for (; *line && column; column--) {
		uint32_t cp;
		size_t k = tg_utf8_decode(line, strlen(line), &cp);

		line += k ? k : 1;
	}
	return line;
}

static void add_disk(struct tg_logfile *log, const char *name, size_t len)
{
	if (log->n_disks == TG_LOG_LIST_MAX)
		return;
	TG_GROW(log->disk, log->n_disks + 1, log->cap_disks);
	log->disk[log->n_disks++] =
		(struct tg_log_disk){ .name = tg_xmemdup0(name, TG_MIN(len, (size_t)63)) };
}

static void add_mount(struct tg_logfile *log, const char *mount)
{
	struct tg_log_disk *disk = log->n_disks ? &log->disk[log->n_disks - 1] : NULL;
	size_t len = strlen(mount);

	while (len && mount[len - 1] == ' ')
		len--;
	if (!disk || !len || disk->n == MOUNTS_MAX || (mount[0] != '/' && mount[0] != '['))
		return;
	if (!disk->n)
		disk->mount = tg_xcalloc(MOUNTS_MAX, sizeof(*disk->mount));
	for (size_t i = 0; i < disk->n; i++)
		if (strlen(disk->mount[i]) == len && !memcmp(disk->mount[i], mount, len))
			return;
	disk->mount[disk->n++] = tg_xmemdup0(mount, len);
}

/* A name without a tree in front of it is that of a disk. */
static void take_line(struct tg_logfile *log, const char *line, size_t mounts_at)
{
	const char *end = tg_scan_word(line);

	if (*line > ' ' && !strchr("|`+-", *line) && *line > 0)
		add_disk(log, line, (size_t)(end - line));
	add_mount(log, at_column(line, mounts_at));
}

static void read_lsblk(struct tg_logfile *log)
{
	const char *line = tg_bytes_line(&log->bytes, &(size_t){ 0 }), *heads;
	size_t len, mounts_at;

	heads = line ? strstr(line, "MOUNTPOINT") : NULL;
	mounts_at = heads ? column_of(line, heads) : SIZE_MAX;
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log))
		take_line(log, line, mounts_at);
	log->n_samples = log->n_disks;
}

static bool looks(const char *head, size_t len)
{
	size_t n = strcspn(head, "\n");
	const char *mount = strstr(head, "MOUNTPOINT");

	(void)len;
	return tg_scan_starts(head, "NAME ") && mount && (size_t)(mount - head) < n;
}

const struct tg_log_format tg_format_lsblk = {
	.tool = "lsblk", .noun = "disk", .looks = looks, .read = read_lsblk
};
