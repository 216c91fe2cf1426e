/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a recording, also one that is still being written, cut off, or damaged: it stops at an
 * incomplete tail, goes on at the next valid header after damage, and counts what is lost. Uses
 * pread only. Every size in the file is checked against a bound before anything is allocated.
 */
#ifndef TG_RECORD_READER_H
#define TG_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "record/block.h"

struct tg_reader;

struct tg_session {
	uint32_t number;
	const char *json; /* the session chunk's object, NUL-terminated */
};

struct tg_table {
	uint32_t number;
	uint32_t session;
	const char *name; /* "main", "slow" */
	const struct tg_column *column; /* column[i].metric points into the reader too */
	size_t n_columns;
	int64_t first_ns, last_ns; /* time stamps of its rows; 0, 0 when it has none */
	uint64_t n_rows;
};

/* One group of rows of one column, from a summary or, where there is none, from the rows. */
struct tg_group {
	int64_t first_ns, last_ns; /* time stamps of the group's first and last row */
	int64_t min, max, first, last;
	uint32_t rows; /* rows in the group */
	uint32_t count; /* of them with a value; 0: min to last mean nothing */
};

struct tg_damage {
	uint64_t chunks; /* whole chunks read; after tg_reader_verify those that decode */
	uint64_t bytes_skipped; /* bytes between valid chunks */
	uint64_t holes; /* runs of such bytes */
	uint64_t lost_chunks; /* jumps in the sequence numbers */
	uint64_t tail_bytes; /* incomplete chunk at the end (normal after a kill) */
	bool ended; /* the last session has its end chunk */
};

/*
 * Open and index: through the end chunk and its chain of summaries where there is one, else by
 * scanning headers. Returns 0; -EBADMSG when it is no recording; -EPROTONOSUPPORT when a newer
 * version wrote it; -errno.
 */
int tg_reader_open(struct tg_reader **out, const char *path, struct tg_err *err);

/* The same on a descriptor that must be seekable. Takes `fd`. `name` is for sentences. */
int tg_reader_open_fd(struct tg_reader **out, int fd, const char *name, struct tg_err *err);

/*
 * Index what was appended since. Returns the number of new chunks or -errno. For live views, which
 * keep a reader open; until there are any, only tests call it.
 */
int tg_reader_refresh(struct tg_reader *r);

void tg_reader_close(struct tg_reader *r);

/* Borrowed; valid until the next refresh or close. Sessions and tables in file order. */
const struct tg_session *tg_reader_sessions(const struct tg_reader *r, size_t *n);
const struct tg_table *tg_reader_tables(const struct tg_reader *r, size_t *n);

/*
 * Hand over every event in file order as one NUL-terminated JSON object without its newline. A
 * non-zero result of `each` stops and is returned.
 */
int tg_reader_events(struct tg_reader *r,
	int (*each)(void *ctx, uint32_t session, const char *json, size_t len), void *ctx);

/*
 * Hand over the decoded blocks of `table` that touch [from_ns, to_ns], in order of time. Only the
 * listed columns are decoded: block->values has them in the order of `column`. The block is the
 * reader's; a row or more on either side of that time may be in it. A chunk that cannot be decoded
 * is skipped and counted as damage.
 */
int tg_reader_blocks(struct tg_reader *r, const struct tg_table *table, const uint32_t *column,
	size_t n_columns, int64_t from_ns, int64_t to_ns,
	int (*each)(void *ctx, const struct tg_block *block), void *ctx);

/*
 * From now on decode a table whole when it is first read, and hold it, as long as all tables
 * together take no more than `bytes`: for many columns of one recording. What is appended later to
 * one that is held is not seen.
 */
void tg_reader_hold(struct tg_reader *r, uint64_t bytes);

/*
 * Hand over groups of one column that cover [from_ns, to_ns], each at most as long as the
 * summaries made it (or one per chunk where no summary covers it). For charts of long recordings.
 */
int tg_reader_groups(struct tg_reader *r, const struct tg_table *table, uint32_t column,
	int64_t from_ns, int64_t to_ns, int (*each)(void *ctx, const struct tg_group *group),
	void *ctx);

/* The same for cells of processes of one session. */
int tg_reader_processes(struct tg_reader *r, uint32_t session, int64_t from_ns, int64_t to_ns,
	int (*each)(void *ctx, const struct tg_process_cell *cell), void *ctx);

/* Read everything, check every CRC and decode every chunk. Returns 0 or -errno. */
int tg_reader_verify(struct tg_reader *r, struct tg_damage *damage);

/* What opening found (a scan may not have been needed: then only tail and end are known). */
const struct tg_damage *tg_reader_damage(const struct tg_reader *r);

#endif
