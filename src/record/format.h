/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a recording (*.tacho), as tachograph(5) specifies them. Little-endian everywhere.
 * A file is a run of chunks and nothing else; a chunk is a header and a payload.
 *
 * A *table* is an immutable set of columns that share their time stamps; when the set changes (a
 * disk appears) a new table with a new number takes over. Spans, processes and everything else
 * that happens are *events*: JSON objects, listed below, one per line in an EVENTS chunk.
 */
#ifndef TG_RECORD_FORMAT_H
#define TG_RECORD_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define TG_FORMAT_VERSION 1
#define TG_TIME_MAX       (INT64_C(1) << 61) /* stamps are 0 to this: 73 years of uptime */
#define TG_CHUNK_MAGIC    UINT32_C(0x52475489) /* bytes 89 'T' 'G' 'R' */
#define TG_CHUNK_HEADER   32
#define TG_CHUNK_MAX      (16u << 20) /* bytes of a stored payload, and of what it expands to */
#define TG_SESSION_MAX    65536 /* bytes of a session's object */
#define TG_COLUMNS_MAX    65536
#define TG_TABLES_MAX     65536
#define TG_BLOCK_ROWS_MAX 65536
#define TG_SUMMARY_EVERY  64 /* sample chunks of a table between two summaries */
#define TG_GROUP_ROWS     100 /* least number of rows that one summary entry covers */

/* Others are damage: so differences of stamps, and a few seconds more, cannot overflow. */
static inline bool tg_times_valid(int64_t first_ns, int64_t last_ns)
{
	return first_ns >= 0 && first_ns <= last_ns && last_ns <= TG_TIME_MAX;
}

enum tg_chunk_type {
	TG_CHUNK_SESSION = 1, /* JSON object: the run of a recorder that starts here */
	TG_CHUNK_TABLE = 2, /* JSON object: number, name and columns of a table */
	TG_CHUNK_SAMPLES = 3, /* rows of one table, at most a second of them */
	TG_CHUNK_PROCESS = 4, /* sparse rows of processes: (entity, field, value) */
	TG_CHUNK_EVENTS = 5, /* JSON objects, one a line */
	TG_CHUNK_SUMMARY = 6, /* min, max, first, last, count by groups of rows; all tables again */
	TG_CHUNK_END = 7, /* JSON, then 16 bytes that point to the last summary */
};

enum tg_chunk_flags {
	TG_CHUNK_ZSTD = 1 << 0, /* one zstd frame: the payload, or what follows its prefix */
};

/* The header as it is on disk; crc fields are CRC32C (Castagnoli). */
struct tg_chunk_header {
	uint32_t magic;
	uint8_t version;
	uint8_t type;
	uint16_t flags;
	uint32_t session; /* counts recorder runs in this file, from 1 */
	uint32_t length; /* bytes of the stored payload that follows */
	uint64_t sequence; /* counts chunks in this file, from 0; a jump is a loss */
	uint32_t payload_crc; /* of the stored payload */
	uint32_t header_crc; /* of the 28 bytes before it */
};

/*
 * Events. Each has "ev" and "t" (CLOCK_MONOTONIC ns of the session); unknown ones are skipped.
 *
 *  begin     span (number, unique in the file), id (the client's name for it), kind (run, cell,
 *            stage, task, block, region), name, index (cells: n-th recorded cell of its run),
 *            parent (span number), lane, count (the front end's execution count), code, attrs {…};
 *            absent members are unknown
 *  end       span, status ("ok", "error", "aborted", "died", "unknown"), attrs {…}, figures {…}:
 *            what the span cost, as who ran it knew, which then counts instead of samples: cpu_s,
 *            rss_peak_bytes, pss_peak_bytes, vms_peak_bytes, read_bytes, write_bytes, rchar_bytes,
 *            wchar_bytes, read_ops, write_ops
 *  clock     mono_ns, real_ns, boot_ns: the same moment on three clocks
 *  root      pid: a new root of the measured tree
 *  root_end  pid, exit (code) or signal (number) or neither (unknown); after SIGKILL also oom
 *            ("yes", "no", "unknown": whether it was for want of memory), text (the evidence);
 *            asked: true when it was asked to end before
 *  birth     entity, pid, ppid, start_ns (boot clock), comm, args; of imported logs also role:
 *            what a process that counts is for
 *  death     entity, pid, cpu_ns
 *  crowd     comm, births, deaths, cpu_ns: processes of this name that lived less than a sample
 *  interval  ns: the sampler's period from here on
 *  missed    n: ticks skipped since the last one (they were late; nothing was made up)
 *  gap       from, to, why: no samples are stored for this time
 *  limit     what ("cores", "memory_bytes"), value, why: the effective limit of the tree;
 *            with cores also cpus: those that it may run on, "0-3,8"
 *  disk      name, mounts: the mount points of the tree that are on this whole disk
 *  means     what ("tree.cpu_ns"), by ("perf", "cgroup", "processes"), why: how that metric is told
 *            from here on, and why not by the means before in that list, or what is uncertain
 *  source    name, period_ns: how often a source of metrics is read from here on, beside edges of
 *            spans (0, or less than ticks are apart: at each tick), when that has come to more than
 *            twice or less than half; at the end of all also readings and cpu_ns: how often, at
 *            what cost
 *  alive     entity, pid, comm: still there when the recording ended
 *  mark      name, attrs: a moment that the user named
 *  note      text: something a reader of the recording should know
 */

/* Fields of a process in PROCESS chunks. The number is on disk: only append. */
enum tg_process_field {
	TG_PROCESS_CPU_NS,
	TG_PROCESS_RSS_BYTES,
	TG_PROCESS_VMS_BYTES,
	TG_PROCESS_HWM_BYTES, /* VmHWM: the peak of RSS that the kernel kept */
	TG_PROCESS_READ_BYTES,
	TG_PROCESS_WRITE_BYTES,
	TG_PROCESS_READ_OPS,
	TG_PROCESS_WRITE_OPS,
	TG_PROCESS_THREADS,
	TG_PROCESS_FIELDS
};

#endif
