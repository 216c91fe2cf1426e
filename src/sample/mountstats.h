/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NFS in /proc/PID/mountstats: what each mount has done since it was made. Reading that file asks
 * no server, so that one that hangs cannot hang the reader. A pure function on bytes.
 */
#ifndef TG_SAMPLE_MOUNTSTATS_H
#define TG_SAMPLE_MOUNTSTATS_H

#include "sample/procfs.h"

/* Operations that are told one by one; TG_NFS_ALL: those and all others. */
enum tg_nfs_op_number {
	TG_NFS_READ,
	TG_NFS_WRITE,
	TG_NFS_COMMIT,
	TG_NFS_OPEN,
	TG_NFS_LOOKUP,
	TG_NFS_ACCESS,
	TG_NFS_GETATTR,
	TG_NFS_READDIR,
	TG_NFS_READDIRPLUS,
	TG_NFS_CREATE,
	TG_NFS_REMOVE,
	TG_NFS_OPS,
	TG_NFS_ALL = TG_NFS_OPS
};
extern const char *const tg_nfs_op_name[TG_NFS_OPS];

struct tg_nfs_op {
	int64_t ops; /* completed; TG_MISSING: the mount has no such operation */
	int64_t retransmits; /* sent again */
	int64_t queue_ms, rtt_ms, exec_ms; /* sums: until sent, from then to the reply, all of it */
};

/* The line "bytes:" */
struct tg_nfs_bytes {
	int64_t normal_read, normal_write, direct_read, direct_write; /* by programs */
	int64_t server_read, server_write; /* over the wire */
	int64_t pages_read, pages_write;
};

/* Of the line "events:", what concerns pages */
struct tg_nfs_pages {
	int64_t update, read_one, read_many, write_one, write_many;
};

struct tg_nfs_mount {
	char device[TG_PATH_MAX]; /* "server:/path" */
	char point[TG_PATH_MAX];
	bool has_bytes, has_pages;
	struct tg_nfs_bytes bytes;
	struct tg_nfs_pages pages;
	unsigned xprts; /* connections, with `nconnect` several */
	int64_t connects, sends, receives; /* sums over them; TG_MISSING: none tells it */
	struct tg_nfs_op op[TG_NFS_OPS + 1];
};

/* The next NFS mount that is there as a whole. False when there is none. */
bool tg_mountstats_next(struct tg_cursor *s, struct tg_nfs_mount *out);

#endif
