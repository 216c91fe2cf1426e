/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitoring magics of JUmPER 1.0.0 and its report, with its names, its values and its
 * messages; where it hangs or raises, one sentence. Its values are those of its own monitor: one
 * for each JUMPER_REPORT_FREQUENCY seconds, CPU per cent of each core of the machine, memory in
 * use on the machine in GiB, calls and MiB that the kernel's process has read and written since it
 * started.
 */
#ifndef TG_COMMAND_JUMPER_H
#define TG_COMMAND_JUMPER_H

#include "analyze/recording.h"
#include "base/json.h"
#include "command/command.h"
#include "mark/magics.h"

#define TG_JUMPER_VALUES_MAX 100000 /* of one list in one cell */

struct tg_jumper {
	struct tg_command *c;
	double period_s; /* JUMPER_REPORT_FREQUENCY */
	double reports_min; /* JUMPER_REPORTS_MIN */
	const char *fifo; /* where perfdata_to_variable hands over, or NULL */
	bool handed_over; /* something was written into it */
};

/* Run one (any name but `tacho`); writes to `rest`. Returns enum tg_word_result with a sentence in
 * j->c->err. */
int tg_jumper_run(struct tg_jumper *j, enum tg_magic_name name, char *rest);

/* Append the list of one cell: [node, cpu, memory, four of I/O, two of GPU]. 0 or -errno. */
int tg_jumper_cell(
	struct tg_recording *r, const struct tg_span *cell, double period_s, struct tg_jw *w);

/*
 * Append the report of a cell when its duration is more than `reports_min` periods. 0 or -errno.
 */
int tg_jumper_report(struct tg_recording *r, const struct tg_span *cell, double period_s,
	double reports_min, struct tg_buf *out);

/* Write all of `data` into the fifo, waiting for its reader, `timeout_ms` at most. 0 or -errno. */
int tg_jumper_hand_over(const char *fifo, const char *data, size_t len, int timeout_ms);

#endif
