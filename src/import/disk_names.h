/* SPDX-License-Identifier: BSD-3-Clause */
/* Which block devices hold bytes of their own, by their names alone. */
#ifndef TG_IMPORT_DISK_NAMES_H
#define TG_IMPORT_DISK_NAMES_H

#include "import/readings.h"

/*
 * Whether an item of the grid is a disk that stands on no other: no partition of another item, no
 * device-mapper, RAID, loop or memory device. The bytes of these are those of others, too.
 */
bool tg_disk_is_whole(const struct tg_readings *g, size_t item);

#endif
