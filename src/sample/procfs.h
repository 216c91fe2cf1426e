/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsers of what /proc and cgroup files say: pure functions on bytes, no file is opened here.
 * They never look beyond the length they were given, and they take a line only when it is whole:
 * what is cut off, mangled or too large is refused, so that half a number is never a number.
 * Times are in the file's own unit (clock ticks, ms, sectors); sources convert.
 */
#ifndef TG_SAMPLE_PROCFS_H
#define TG_SAMPLE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A piece of text that is being read: [p, end). */
struct tg_cursor {
	const char *p, *end;
};

struct tg_cursor tg_cursor_of(const char *text, size_t len);

/* Take the next line, which must end with '\n' (kept in `line`). False when there is none. */
bool tg_cursor_line(struct tg_cursor *s, struct tg_cursor *line);

/* Skip blanks, take a number with something behind it that is not a digit. False: not moved. */
bool tg_cursor_i64(struct tg_cursor *s, int64_t *value);

/* Skip blanks, take a word up to the next blank or line end. False when there is none. */
bool tg_cursor_word(struct tg_cursor *s, const char **word, size_t *len);

/* Take a word that is a path, its octal escapes undone, NUL behind it. False: none, or too long. */
bool tg_cursor_path(struct tg_cursor *s, char *to, size_t size);

/*
 * Take `n` numbers; those with a place to go are stored. They are figures: not below 0, and some
 * can be added up. False when there are fewer, or others.
 */
bool tg_cursor_numbers(struct tg_cursor *s, int64_t *const to[], size_t n);

/* Skip blanks and `text`, when that is what follows. False: not moved. */
bool tg_cursor_skip(struct tg_cursor *s, const char *text);

/* The one number that a file consists of, or begins with. */
bool tg_procfs_number(const char *text, size_t len, int64_t *value);

/* /proc/PID/stat */
#define TG_COMM_MAX 64
struct tg_pid_stat {
	char comm[TG_COMM_MAX]; /* may hold blanks and parentheses */
	char state; /* R S D T Z … */
	pid_t ppid;
	int64_t flags; /* PF_…, of linux/sched.h */
	int64_t minflt, cminflt, majflt, cmajflt; /* c…: of children that were waited for */
	int64_t utime, stime, cutime, cstime; /* ticks */
	int64_t threads;
	int64_t starttime; /* ticks after boot */
};
int tg_procfs_pid_stat(const char *text, size_t len, struct tg_pid_stat *out);

/* /proc/PID/statm, in pages */
struct tg_statm {
	int64_t size, resident, shared;
};
int tg_procfs_statm(const char *text, size_t len, struct tg_statm *out);

/* /proc/PID/io, in the file's order */
enum tg_io {
	TG_IO_RCHAR,
	TG_IO_WCHAR,
	TG_IO_SYSCR,
	TG_IO_SYSCW,
	TG_IO_READ,
	TG_IO_WRITE,
	TG_IO_CANCELLED,
	TG_IOS
};
int tg_procfs_io(const char *text, size_t len, int64_t out[TG_IOS]);

/*
 * The number behind "Key:" or "key " at the beginning of a line, as in /proc/PID/status,
 * /proc/meminfo, cpu.stat and memory.events. `key` has its colon or blank. kB becomes bytes.
 */
bool tg_procfs_key(const char *text, size_t len, const char *key, int64_t *value);

/* The rest of the line behind "Key:", without blanks around it; 0 or -ENOENT. */
int tg_procfs_key_text(const char *text, size_t len, const char *key, struct tg_cursor *out);

/* /proc/PID/status on memory, in bytes; what is absent, or below 0, is TG_MISSING */
struct tg_status_memory {
	int64_t hwm; /* the largest resident size that it ever had */
	int64_t file, shmem; /* of the resident size: the rest is anonymous */
	int64_t swap;
	int64_t hugetlb; /* beside the resident size */
};
void tg_procfs_status_memory(const char *text, size_t len, struct tg_status_memory *out);

/* /proc/PID/smaps_rollup, in bytes; 0 or -EBADMSG */
struct tg_rollup {
	int64_t rss, pss;
	int64_t swap_pss; /* 0 where it is absent */
};
int tg_procfs_rollup(const char *text, size_t len, struct tg_rollup *out);

/* /proc/meminfo in bytes; what is absent is TG_MISSING */
struct tg_meminfo {
	int64_t total, free, available, buffers, cached, shmem, sreclaimable, swap_total, swap_free;
};
void tg_procfs_meminfo(const char *text, size_t len, struct tg_meminfo *out);

/* A line "cpu" or "cpuN" of /proc/stat, in ticks. guest is inside user, guest_nice inside nice. */
struct tg_cpu_line {
	int cpu; /* -1: all of them */
	int64_t user, nice, system, idle, iowait, irq, softirq, steal;
};
bool tg_procfs_cpu_next(struct tg_cursor *s, struct tg_cpu_line *out);

/* A line of /proc/diskstats */
struct tg_disk_line {
	char name[64];
	int64_t reads, sectors_read, writes, sectors_written, busy_ms;
};
bool tg_procfs_disk_next(struct tg_cursor *s, struct tg_disk_line *out);

/* A line of /proc/net/dev */
struct tg_net_line {
	char name[64];
	int64_t rx_bytes, rx_packets, tx_bytes, tx_packets;
};
bool tg_procfs_net_next(struct tg_cursor *s, struct tg_net_line *out);

/* A line of /proc/PID/cgroup. v2's line has no controllers. Borrowed from the text. */
struct tg_cgroup_line {
	struct tg_cursor controllers, path;
};
bool tg_procfs_cgroup_next(struct tg_cursor *s, struct tg_cgroup_line *out);

/* cpu.max of a group: so many us of CPU time in so many. False where there is no limit, too. */
bool tg_procfs_cpu_max(const char *text, size_t len, int64_t *quota, int64_t *period);

/* A line of /proc/PID/mountinfo, octal escapes undone; the options are borrowed from the text */
#define TG_PATH_MAX 1024
struct tg_mount_line {
	char dev[24]; /* "0:32": what is mounted twice has it twice */
	char root[TG_PATH_MAX], point[TG_PATH_MAX], fstype[32];
	struct tg_cursor options;
};
bool tg_procfs_mount_next(struct tg_cursor *s, struct tg_mount_line *out);

/* Is `word` one of the comma-separated words of `list`? */
bool tg_cursor_has(struct tg_cursor list, const char *word);

/* How many CPUs "0-3,8,10-11" names; 0 when it is no such list. */
int64_t tg_procfs_cpulist(const char *text, size_t len);

/* The fifth word of /proc/loadavg: the pid given out last, or -1. */
int64_t tg_procfs_last_pid(const char *text, size_t len);

/* total= of the line that starts with `kind` ("some", "full") of a pressure file, in us, or -1. */
int64_t tg_procfs_pressure(const char *text, size_t len, const char *kind);

/* A line of llite's "stats" of Lustre. `sum` is TG_MISSING where only the number is counted. */
struct tg_lustre_line {
	char name[32];
	int64_t samples, sum;
};
bool tg_procfs_lustre_next(struct tg_cursor *s, struct tg_lustre_line *out);

/* Does it begin with a time and end with a line's end? */
bool tg_procfs_lustre_is_whole(const char *text, size_t len);

#endif
