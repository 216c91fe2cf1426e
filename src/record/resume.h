/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what a writer must know before it appends to a file that exists: whether it may, where the
 * last whole chunk ends, and which numbers are free. Changes nothing.
 */
#ifndef TG_RECORD_RESUME_H
#define TG_RECORD_RESUME_H

#include <stdint.h>

#include "base/err.h"

struct tg_resume {
	uint64_t offset; /* behind the last whole chunk */
	uint64_t sequence; /* of the next chunk */
	uint64_t last_summary; /* where its chunk is, or TG_NO_SUMMARY */
	uint32_t session; /* of the last one */
	uint32_t next_table;
	uint64_t next_span;
	uint32_t next_entity;
};

/*
 * `fd` stays the caller's. `session_json` is the new session's object: "host" and "boot_id" of the
 * file's last session must equal its own. Returns 0; -EEXIST with a sentence when the file is no
 * recording, one of another host or boot, or one that has no numbers left for a session more;
 * -EPROTONOSUPPORT; -errno.
 */
int tg_resume_read(struct tg_resume *out, int fd, const char *path, const char *session_json,
	struct tg_err *err);

#endif
