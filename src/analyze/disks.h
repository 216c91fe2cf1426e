/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What disks are called. Their names mean little to who knows folders: a recording says which mount
 * points are on each, as it was when the recorder looked last. Older ones do not.
 */
#ifndef TG_ANALYZE_DISKS_H
#define TG_ANALYZE_DISKS_H

#include "analyze/recording.h"
#include "base/json.h"

/*
 * Append how that instance of that metric is shown: "/scratch, /data (nvme0n1)" when it is a disk
 * with mount points, of which some are left out when they are many; else the instance itself.
 */
void tg_instance_title(
	const struct tg_recording *r, const char *metric, const char *instance, struct tg_buf *out);

/* Write member "mounts", the mount points on that disk. Nothing when there are none to be told. */
void tg_disk_put_mounts(const struct tg_recording *r, const char *disk, struct tg_jw *w);

#endif
