/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/disk_names.h"

#include "import/scan.h"

#include "base/mem.h"

/* "sda1" of "sda", "nvme0n1p2" of "nvme0n1" */
static bool is_part_of(const char *name, const char *disk)
{
	size_t len = strlen(disk);
	const char *p = name + len;

	if (!len || strncmp(name, disk, len) != 0)
		return false;
	if (tg_scan_is_digit(disk[len - 1]) && *p++ != 'p')
		return false;
	if (!tg_scan_is_digit(*p))
		return false;
	while (tg_scan_is_digit(*p))
		p++;
	return !*p;
}

bool tg_disk_is_whole(const struct tg_readings *g, size_t item)
{
	static const char *const made[] = { "dm-", "md", "mapper/", "loop", "ram", "zram", "zd",
		"sr", "fd", "drbd" };
	const char *name = g->item[item].name;

	for (size_t i = 0; i < TG_ARRAY_SIZE(made); i++)
		if (tg_scan_starts(name, made[i]))
			return false;
	for (uint32_t i = 0; i < g->n_items; i++)
		if (is_part_of(name, g->item[i].name))
			return false;
	return true;
}
