/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a log shows, as items of a grid with these columns. Rows of one pid are one
 * process as long as its CPU time does not fall; a command that changes is an exec.
 */
#ifndef TG_IMPORT_PROCESSES_H
#define TG_IMPORT_PROCESSES_H

#include "import/readings.h"
#include "import/roles.h"

enum tg_process_column {
	TG_P_VIRT, /* KiB */
	TG_P_RES,
	TG_P_SHR,
	TG_P_CPU_PCT, /* 100 is one core */
	TG_P_MEM_PCT,
	TG_P_CPU_S, /* that it has used in its life */
	TG_P_CPU_UNIT_S, /* resolution of that */
	TG_P_STATE, /* 'Z': it has ended; 0: any other */
	TG_P_ROLE, /* place in the list of roles; NaN: it does not count */
	TG_P_READ, /* KiB/s from and to storage */
	TG_P_WRITE,
	TG_P_COLUMNS
};

/* Rates: of a process that did nothing they are 0. */
#define TG_P_RATES                                                                                 \
	(UINT64_C(1) << TG_P_CPU_PCT | UINT64_C(1) << TG_P_READ | UINT64_C(1) << TG_P_WRITE)

#define TG_P_FINE_S 0.01 /* units of CPU time up to this are fine enough to tell it by */

/* What a process is called from a tick on. */
struct tg_naming {
	uint32_t item, tick;
	const char *command;
};

struct tg_log_process {
	int64_t pid;
	const char *command; /* that of its last row */
};

struct tg_processes {
	struct tg_readings grid;
	struct tg_roles *roles;
	struct tg_log_process *process; /* by item */
	size_t cap;
	struct tg_map by_pid; /* the last item of each pid */
	struct tg_naming *naming; /* in order of ticks */
	size_t n_namings, cap_namings;
	bool counted; /* some row was of one that counts */
};

void tg_processes_init(struct tg_processes *p, struct tg_roles *roles);
void tg_processes_release(struct tg_processes *p);

/*
 * One row of the tick: `command` has `len` bytes; the value of TG_P_ROLE is found here. Returns the
 * place of its item, or -1.
 */
ptrdiff_t tg_processes_row(struct tg_processes *p, int64_t pid, const char *command, size_t len,
	double value[TG_P_COLUMNS]);

#endif
