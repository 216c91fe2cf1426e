/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of the measured tree: its identity, its files, what was read of it last. Identity
 * is (pid, start time): a process that has another start time under the same pid is another one.
 * Which processes belong to the tree, and what they add up to, is tree.c's matter.
 *
 * Some of the files can make the reader wait for the process: "cmdline" and "smaps_rollup" take its
 * mmap_lock, "io" what execve holds before Linux 5.11. In state D those two are not read, and "io"
 * only of one that has run since the last reading. What remains: one that began to hang since then,
 * or begins to between our look at its state and the read, stops us until it goes on.
 */
#ifndef TG_SAMPLE_PROCESS_H
#define TG_SAMPLE_PROCESS_H

#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/source.h"

#define TG_ARGS_MAX 4096

/* The files kept open while a process is active: an open costs more than all its reads. */
enum tg_process_file { TG_FILE_STAT, TG_FILE_STATM, TG_FILE_IO, TG_FILE_CHILDREN, TG_FILES };

enum tg_faults { TG_FAULTS_MINOR, TG_FAULTS_MAJOR, TG_FAULTS };

/* What a process has used up: it only grows, and goes to the parent that waits for it. */
struct tg_usage {
	int64_t cpu_ns; /* its own and that of children it has waited for */
	int64_t waited_ns; /* … of that, the children's */
	int64_t faults[TG_FAULTS]; /* as cpu_ns */
	int64_t io[TG_IOS]; /* the same, as the kernel counts it */
	bool io_known; /* false: we may not read it */
};

/* Its part of memory that is shared, as it was last read (share.h). */
struct tg_share {
	bool known, denied; /* at the last try */
	int64_t rss_bytes, pss_bytes, swap_pss_bytes, cost_ns; /* of the last that was known */
};

struct tg_process {
	pid_t pid, ppid;
	uint32_t entity;
	int64_t start_ticks; /* after boot; -1 before the first reading */
	char comm[TG_COMM_MAX];
	char state;
	int64_t clock_ns; /* its own CPU time, all threads, also those that have ended */
	int64_t waited_ns; /* CPU time of children that it has waited for, to a tick each */
	int64_t faults[TG_FAULTS]; /* page faults, with those of children that it has waited for */
	int64_t rss_bytes, vms_bytes, anon_bytes, hwm_bytes; /* 0 for a zombie */
	struct tg_status_memory kinds; /* of memory; TG_MISSING of a zombie, or not told yet */
	struct tg_share share;
	pid_t memory_tid; /* the thread through which memory is seen: the first one that lives */
	int64_t threads;
	int64_t io[TG_IOS];
	bool io_known;

	bool exited; /* its pidfd says so: the pid's clock is no longer to be trusted */
	bool zombie; /* ended, not waited for */
	/*
	 * State X: its parent has waited for it and may show what it used already, or the kernel
	 * drops it unwaited. Which, its parent's figures tell, at the latest when it is gone.
	 */
	bool leaving;
	bool gone; /* ended and waited for: not in /proc any more */
	bool execed; /* its name has changed in the last reading */
	bool has_clock; /* the process clock works: clock_ns has nanoseconds, not ticks */
	bool memory_stale; /* read since hwm_bytes and kinds were */
	/* seen for the first time, with its parent's memory: until it executes something or writes,
	 * that is one and the same */
	bool just_forked;

	/* for the tree */
	struct tg_process *parent; /* in the tree, or NULL */
	struct tg_process *hash_next, *newer, *older;
	struct tg_usage credit; /* what it may have gained from children in this reading */
	struct tg_usage late; /* … between this reading of it and a second look */
	struct tg_usage late_used; /* of that, already matched; not credit in the next reading */
	bool late_read, late_gone;
	bool folded; /* leaving or gone, and a parent in the tree has what it used */
	bool read_now; /* at the next reading, moved or not */
	bool list_now; /* … and look for children */
	bool unlisted; /* has run since its children were last looked for */
	bool told_birth, told_death;
	unsigned args_tries; /* left: its command line was not to be had yet */
	int64_t told[TG_FIELDS];

	int pidfd;
	int fd[TG_FILES];
	unsigned n_open; /* of fd[] */
	unsigned next_thread; /* where the next look at its threads' children begins */
};

/* Begin with `pid`: nothing is open or read yet. */
void tg_process_init(struct tg_process *p, pid_t pid);

/* Close its files (not its pidfd). Returns how many there were. */
unsigned tg_process_close_files(struct tg_process *p);

/*
 * The process clock of the running machine, in ns: it needs no file and no permission, and tells
 * the whole thread group's time. -errno when there is no such process.
 */
int64_t tg_process_clock(pid_t pid);

enum tg_process_detail {
	TG_DETAIL_MEMORY = 1 << 0, /* hwm_bytes and kinds, which cost as much as all the rest */
};

/*
 * Read all of it. Returns 0, or -ESRCH when it is gone or its pid is another process's now; then
 * what was read before still stands. What may not be read keeps its last value.
 */
int tg_process_read(struct tg_process *p, struct tg_env *env, unsigned detail);

/*
 * Look at its memory alone, of one that is no zombie and has used no CPU since it was read. True
 * when that has changed, or it is gone: it is to be read, and then with its kinds of memory.
 */
bool tg_process_memory_moved(struct tg_process *p, struct tg_env *env);

/* Read "status" or "smaps_rollup" into env->text; the latter takes its mmap_lock. As tg_env_read.
 */
ssize_t tg_process_read_memory(const struct tg_process *p, struct tg_env *env, const char *file);

/* Read only what it has used up, leaving `p` as it is. 0 or -ESRCH. */
int tg_process_read_usage(struct tg_process *p, struct tg_env *env, struct tg_usage *out);

/*
 * Call `each` for its children. Those of every thread are listed apart: all threads are looked at
 * when `all` is set, else a share of them at a time. Returns 0 or -errno (-ENOENT: this kernel
 * has no such file). At most TG_THREADS_MAX threads a call.
 */
#define TG_THREADS_MAX 256
int tg_process_children(struct tg_process *p, struct tg_env *env, bool all,
	int (*each)(void *ctx, pid_t child), void *ctx);

/*
 * Its command line joined by blanks, cut to `size`, secrets masked. False: none to be had, or not
 * now, since it is in state D.
 */
bool tg_process_args(const struct tg_process *p, struct tg_env *env, char *out, size_t size);

#endif
