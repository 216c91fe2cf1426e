/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folders we use. Sockets, locks and private connection files live in the runtime folder
 * ($TACHOGRAPH_RUNTIME_DIR, $XDG_RUNTIME_DIR/tachograph, $TMPDIR/tachograph-UID or
 * /tmp/tachograph-UID, the first that can be used): 0700, owned by us, no symbolic link. Recordings
 * of kernels live in $TACHOGRAPH_DIR, else $XDG_STATE_HOME/tachograph, else
 * ~/.local/state/tachograph.
 */
#ifndef TG_BASE_PATHS_H
#define TG_BASE_PATHS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* The variable by which one of us tells another it starts which runtime folder it uses. */
#define TG_PATHS_RUNTIME_TOLD "_TACHOGRAPH_RUNTIME"

/*
 * Append the runtime folder's path, made when absent: that which was told, else `tachograph` in
 * $TACHOGRAPH_RUNTIME_DIR, else the first of the others in which there is room, which a file is
 * written to see. One that others may look into is refused. Returns 0, or -errno with a sentence
 * about the last one.
 */
int tg_paths_runtime(struct tg_buf *out, struct tg_err *err);

/* Append the folder for kernels' recordings, made with its parents when absent. Same result. */
int tg_paths_recordings(struct tg_buf *out, struct tg_err *err);

/* Append its name only, for readers: it may not exist. Same result. */
int tg_paths_recordings_name(struct tg_buf *out, struct tg_err *err);

/* Make an empty folder, for us alone, for what is gone soon: in $TMPDIR, else /tmp. 0 or -errno. */
int tg_paths_scratch(struct tg_buf *out);

/* mkdir -p with `mode` for what is made. Returns 0 or -errno; `err` names the folder. */
int tg_paths_mkdirs(const char *path, unsigned mode, struct tg_err *err);

/* The path of the running executable, for starting ourselves in another role. 0 or -errno. */
int tg_paths_self(struct tg_buf *out);

#endif
