/* SPDX-License-Identifier: BSD-3-Clause */
/* What iostat's text and its JSON share: columns under all their names, and reports. */
#ifndef TG_IMPORT_IOSTAT_H
#define TG_IMPORT_IOSTAT_H

#include "import/civil.h"
#include "import/csv.h"
#include "import/logfile.h"

enum tg_iostat_column {
	TG_IO_RRQM, /* as old versions printed them, then what newer ones have beside */
	TG_IO_WRQM,
	TG_IO_R,
	TG_IO_W,
	TG_IO_RKB,
	TG_IO_WKB,
	TG_IO_AVGRQ,
	TG_IO_QUEUE,
	TG_IO_AWAIT,
	TG_IO_R_AWAIT,
	TG_IO_W_AWAIT,
	TG_IO_SVCTM,
	TG_IO_UTIL,
	TG_IO_RRQM_PCT,
	TG_IO_WRQM_PCT,
	TG_IO_RAREQ,
	TG_IO_WAREQ,
	TG_IO_D,
	TG_IO_DKB,
	TG_IO_DRQM,
	TG_IO_DRQM_PCT,
	TG_IO_D_AWAIT,
	TG_IO_DAREQ,
	TG_IO_F,
	TG_IO_F_AWAIT,
	TG_IO_TPS,
	TG_IO_KB,
	TG_IO_RQM,
	TG_IO_AREQ,
	TG_IO_COLUMNS
};

enum tg_iostat_cpu {
	TG_IO_USER,
	TG_IO_NICE,
	TG_IO_SYSTEM,
	TG_IO_IOWAIT,
	TG_IO_STEAL,
	TG_IO_IDLE,
	TG_IO_CPUS
};

/* Grids of both formats, in this order. */
extern const struct tg_log_layout tg_iostat_layout, tg_iostat_cpu_layout;

struct tg_iostat {
	struct tg_logfile *log;
	struct tg_readings *disks, *cpu;
	bool since_boot; /* the report at hand is the first of a run */
	bool next_is_first;
	uint64_t n_reports; /* that were left out, too */
};

void tg_iostat_begin(struct tg_iostat *io, struct tg_logfile *log);
void tg_iostat_end(struct tg_iostat *io);

/* A run of iostat begins here: its first report tells of the time since boot. */
void tg_iostat_run(struct tg_iostat *io, const char *host, size_t host_len, int64_t cpus);

/* A report begins. NULL: without a stamp. */
void tg_iostat_report(struct tg_iostat *io, const struct tg_stamp *stamp);

/*
 * The column of that name, as a head or a key, and what its values are times `factor` in the unit
 * of enum tg_iostat_column. -1: it is none, or says nothing new.
 */
int tg_iostat_column(const char *name, size_t len, double *factor);
int tg_iostat_cpu_column(const char *name, size_t len);

void tg_iostat_disk(struct tg_iostat *io, const char *name, const double *value);
void tg_iostat_cpu_row(struct tg_iostat *io, const double *value);

/* The version, by a set of columns (bits). */
void tg_iostat_version(struct tg_logfile *log, uint64_t columns);

/* Of text and JSON the same file. */
#define TG_IOSTAT_CSV                                                                              \
	{                                                                                          \
		"iostat.csv", "datetime,time,device", true, true                                   \
	}

#endif
