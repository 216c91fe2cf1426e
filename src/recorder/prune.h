/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the folder of kernels' recordings small: the oldest go first. Only recordings that a kernel
 * made and that are over are ever removed: with an end chunk, or untouched for a day, and locked by
 * no recorder of this machine. Nothing outside the folder, no symbolic link, no file of another
 * name or user, nothing that cannot be read.
 */
#ifndef TG_RECORDER_PRUNE_H
#define TG_RECORDER_PRUNE_H

#include <stddef.h>
#include <stdint.h>

#define TG_PRUNE_FILES 20
#define TG_PRUNE_BYTES (INT64_C(200) << 20)

/* How many recordings to keep: TACHOGRAPH_KEEP, else 20. SIZE_MAX (0 there): nothing is removed. */
size_t tg_prune_keep(void);

/*
 * Remove *.tacho files of `dir` until at most `keep_files` and `keep_bytes` are left of those that
 * the rule allows to be removed; others do not count. `current` (a file name in the folder, or
 * NULL) is in use and does not count either. `now_s` is the time of day, for the rule of a day.
 * Returns the number of files removed or -errno.
 */
int tg_prune(
	const char *dir, const char *current, size_t keep_files, int64_t keep_bytes, int64_t now_s);

#endif
