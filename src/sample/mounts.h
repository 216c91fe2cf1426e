/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which mount points of the tree stand on which whole disks: a file system on a volume on an array
 * on partitions is on each disk below. Of one that is mounted several times the first that shows
 * all of it is told. No mount is touched. Those without a device of their own, as of btrfs, NFS
 * and overlays, are told of no disk.
 */
#ifndef TG_SAMPLE_MOUNTS_H
#define TG_SAMPLE_MOUNTS_H

#include "sample/source.h"

#define TG_POINT_MAX 96 /* with its end; of what is longer the end, behind an ellipsis */

/* Call `found` for each pair, 64 mount points at most. Uses env->text. */
void tg_mounts_each(struct tg_env *env,
	void (*found)(void *ctx, const char *disk, const char *point), void *ctx);

#endif
