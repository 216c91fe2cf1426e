/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appends chunks to a recording. One thread at a time; every call that writes may block as long as
 * the file system does. After any failure the file ends with a whole chunk (a short write is cut
 * off again) and later calls may succeed: a full disk that is cleared loses what came between.
 */
#ifndef TG_RECORD_WRITER_H
#define TG_RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "record/block.h"

struct tg_writer;

/*
 * Create `path` (0600, O_EXCL, O_NOFOLLOW) or, when it exists, append to it as a new session. An
 * existing file is appended to only when it is a recording of ours whose last session names this
 * host and boot; else -EEXIST and the caller chooses another name. An incomplete or damaged tail is
 * cut to the last whole chunk first. The caller holds the lock that makes it the only writer of its
 * runtime folder; one of another folder is kept out by a lock on the file, where there are such:
 * -EEXIST, too.
 * `session_json` is the object of the session chunk without "session" (the number is put in).
 * Returns 0, or -errno with a sentence.
 */
int tg_writer_open(
	struct tg_writer **out, const char *path, const char *session_json, struct tg_err *err);

/*
 * The same without a file system: an open descriptor at its end (a pipe will do). Takes `fd`. For
 * recordings that go to another host as a stream; until they do, only tests call it.
 */
int tg_writer_open_fd(struct tg_writer **out, int fd, const char *session_json, struct tg_err *err);

uint32_t tg_writer_session(const struct tg_writer *w);

/* First span and entity numbers that are free in this file: the numbers go on over sessions. */
uint64_t tg_writer_next_span(const struct tg_writer *w);
uint32_t tg_writer_next_entity(const struct tg_writer *w);

/*
 * Start a table of `n` columns. `table` is the number, chosen by the caller, new in this session
 * (start at tg_writer_next_table()). `name` is the tier ("main", "slow"). Columns are copied.
 */
uint32_t tg_writer_next_table(const struct tg_writer *w);
int tg_writer_table(struct tg_writer *w, uint32_t table, const char *name,
	const struct tg_column *column, size_t n);

/* Write the rows as one chunk (and a summary when one is due). The block stays the caller's. */
int tg_writer_block(struct tg_writer *w, const struct tg_block *block);
int tg_writer_processes(struct tg_writer *w, const struct tg_process_block *block);

/*
 * Write events: JSON objects, a '\n' behind each, at most TG_CHUNK_MAX bytes together. `begin` and
 * `end` events are looked at, so that summaries and the end chunk can say which spans are open.
 */
int tg_writer_events(struct tg_writer *w, const char *lines, size_t len);

/*
 * Whether the file has no name any more, was emptied, or its server has forgotten it: what is
 * written then will never be read. One fstat(2) and one byte read.
 */
bool tg_writer_is_deleted(const struct tg_writer *w);

/* Bytes in the file up to the last whole chunk. */
int64_t tg_writer_offset(const struct tg_writer *w);

/* Write the last summaries and the end chunk, close, free. `w` is gone whatever is returned. */
int tg_writer_finish(struct tg_writer *w);

/* Close and free without an end chunk, as after a crash (tests; giving up). */
void tg_writer_abandon(struct tg_writer *w);

#endif
