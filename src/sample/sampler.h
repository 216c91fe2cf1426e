/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All sources as one: a set of columns and a reading of them. It opens no file but those that it
 * reads, starts no thread, sends no signal; the recorder decides when to read and what becomes of
 * it. In the steady state a reading allocates nothing.
 */
#ifndef TG_SAMPLE_SAMPLER_H
#define TG_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/metric.h"

struct tg_sampler;

/*
 * A process of the tree was seen for the first time; or again with the same entity, when exec has
 * given it another name and arguments: the later one holds. Strings live until the call returns.
 */
struct tg_birth {
	int64_t t_ns; /* CLOCK_MONOTONIC of the reading that saw it */
	uint32_t entity;
	pid_t pid, ppid;
	int64_t start_ns; /* when it was started, boot clock, to a clock tick */
	const char *comm;
	const char *args; /* command line joined by blanks, cut at 4 KiB, secrets masked; or NULL */
};

/* What happens to processes of the tree; called from within tg_sampler_read. Any may be NULL. */
struct tg_sampler_hooks {
	void (*birth)(void *ctx, const struct tg_birth *birth);
	void (*death)(void *ctx, int64_t t_ns, uint32_t entity, pid_t pid, int64_t cpu_ns);
	/* what changed: `field` is the number in enum tg_field, which is also the one on disk */
	void (*value)(void *ctx, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value);
	/* something that people should know about the values: a sentence without its stop */
	void (*note)(void *ctx, int64_t t_ns, const char *text);
	/* the mount points on a whole disk: strings one behind the other, then an empty one */
	void (*disk)(void *ctx, int64_t t_ns, const char *name, const char *mounts);
	/* start the GPU helper (gpu_wire.h): our end of its socket, non-blocking, or -errno */
	int (*start_gpu)(void *ctx);
	/* the same of one that serves a source of its own (apart.h); NULL: they are read here */
	int (*start_apart)(void *ctx);
	void *ctx;
};

/* Fields of a process. The numbers are those of enum tg_process_field (a test compares them). */
enum tg_field {
	TG_FIELD_CPU_NS,
	TG_FIELD_RSS_BYTES,
	TG_FIELD_VMS_BYTES,
	TG_FIELD_HWM_BYTES,
	TG_FIELD_READ_BYTES,
	TG_FIELD_WRITE_BYTES,
	TG_FIELD_READ_OPS,
	TG_FIELD_WRITE_OPS,
	TG_FIELD_THREADS,
	TG_FIELDS
};

struct tg_sampler_options {
	int root_fd; /* directory that has proc/ and sys/; -1: "/" itself */
	pid_t root; /* root of the measured tree; 0: none yet */
	uint32_t first_entity; /* number of the first process that is found */
	/*
	 * NAME=VALUE that the root has in its environment, and so has what it starts: daemons are
	 * known by it, whose parent has ended before it was seen. NULL: they are not found. Copied.
	 */
	const char *mark;
	bool no_args; /* never read command lines */
	bool no_perf; /* ask the kernel for no perf events, which cost the tree 0.7 us a switch */
	struct tg_sampler_hooks hooks;
};

/* Opens what is to be had; a source that cannot be opened has no columns and says why (list). */
int tg_sampler_new(
	struct tg_sampler **out, const struct tg_sampler_options *options, struct tg_err *err);
void tg_sampler_free(struct tg_sampler *s);

/* Another root (a restarted kernel). Processes of the old tree that live on are dropped. */
void tg_sampler_set_root(struct tg_sampler *s, pid_t root);

/* One reading. Borrowed memory, valid until the next call on the sampler. */
struct tg_reading {
	/* CLOCK_MONOTONIC, taken as the tree total is read; at an edge nothing in it is of later */
	int64_t t_ns;
	const struct tg_column *column;
	const int64_t *value; /* TG_MISSING where there is none: unknown, denied, or no base yet */
	size_t n;
	unsigned generation; /* changes whenever the set of columns has changed */
};

enum tg_read_flags {
	TG_READ_EDGE = 1 << 0, /* job, cgroup, disk, net, energy only: the others are missing */
	/* once a second: all sources that are not too dear for that, and processes whose CPU clock
	 * did not move */
	TG_READ_REFRESH = 1 << 1,
	TG_READ_ALL = 1 << 2, /* all sources, whatever they cost: to begin or end with */
};

/*
 * Read all sources that are due (source.h: each has a period). Cannot fail: what cannot be read, or
 * is not read this time, is missing.
 */
void tg_sampler_read(struct tg_sampler *s, unsigned flags, struct tg_reading *out);

/* Processes of the tree that are alive now (for the end of a recording). */
void tg_sampler_alive(struct tg_sampler *s,
	void (*each)(void *ctx, uint32_t entity, pid_t pid, const char *comm), void *ctx);

/* Effective limits of the tree, from affinity, cgroup and machine; TG_MISSING when unknown. */
struct tg_limits {
	int64_t cores_milli; /* thousandths of a core that it may use */
	int64_t memory_bytes;
	char cores_why[64]; /* "cpuset", "cgroup quota", "affinity", "machine" */
	char memory_why[64]; /* "cgroup limit", "machine" */
	char cpus[512]; /* those that it may run on, "0-3,8"; "" when unknown or longer */
};
void tg_sampler_limits(struct tg_sampler *s, struct tg_limits *out);

/*
 * By what means the CPU time of the tree (tree.cpu_ns) is told, from the last reading; `why` gets
 * what is to be known about it: why it is not the next better one, or what is uncertain, or "".
 */
enum tg_means {
	TG_MEANS_PROCESSES, /* the sum of processes: some that live and die between readings lack */
	TG_MEANS_CGROUP, /* their own control group: complete */
	TG_MEANS_PERF, /* perf's inherited task-clock: complete */
};
enum tg_means tg_sampler_means(const struct tg_sampler *s, const char **why);
const char *tg_means_name(enum tg_means means); /* "processes", "cgroup", "perf" */

/*
 * Whether the root, which has just ended by SIGKILL, was killed for want of memory (sample/oom.h),
 * or was just `asked` to end.
 * `why` gets the evidence, as the rest of a sentence. Readings with TG_READ_REFRESH are what the
 * answer is compared with: without one about every second it may be TG_OOM_UNKNOWN or late.
 */
#define TG_OOM_WHY 320 /* room enough for it */
enum tg_oom { TG_OOM_UNKNOWN, TG_OOM_NO, TG_OOM_YES };
enum tg_oom tg_sampler_oom(struct tg_sampler *s, bool asked, char *why, size_t size);

/* What a source has cost, and how often it is read now: 0, at every reading. */
struct tg_source_cost {
	const char *name;
	int64_t readings, cpu_ns;
	int64_t period_ns;
	int64_t nominal_ns; /* how often it is meant to be read, as its columns say */
};
size_t tg_sampler_costs(const struct tg_sampler *s, struct tg_source_cost *cost, size_t cap);

/* What each source offers here: for `tachograph list`, docs/metrics.md and CSV headers. */
struct tg_source_info {
	const char *name;
	const char *help;
	const struct tg_metric *metric;
	size_t n_metrics;
	bool available;
	char why[160]; /* why it is not, or what it lacks, after a reading also now; or "" */
};
size_t tg_sampler_sources(const struct tg_sampler *s, struct tg_source_info *info, size_t cap);

/*
 * Read all sources again and again, until those that need several readings have had them and
 * drivers have answered, or the time is over: for list, which has one moment to find out what there
 * is.
 */
void tg_sampler_look(struct tg_sampler *s, int64_t within_ns);

/* One metric of them, as it is on this machine; after readings, of which it tells. */
struct tg_metric_info {
	int64_t resolution_ns; /* its value is as old or as coarse as that; 0: at every reading */
	bool available; /* else `why` says why it is not */
	char why[256]; /* or what is to be known about it, or "" */
};
void tg_sampler_metric(
	struct tg_sampler *s, size_t source, size_t metric, struct tg_metric_info *info);

/* What whoever administers the machine could allow: sentences without their stops. */
struct tg_advice {
	const char *what; /* "RAPL": few words */
	const char *how; /* what to do */
	const char *adds; /* what there would be then */
};

/* What is denied or switched off here, after a reading. Returns how many, at most `cap`. */
size_t tg_sampler_advice(struct tg_sampler *s, struct tg_advice *advice, size_t cap);
#define TG_ADVICE_MAX 16

#endif
