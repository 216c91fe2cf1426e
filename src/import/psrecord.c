/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * psrecord's log of a process, with what is below it where it was told so; in columns or as CSV.
 * Times are those since it began. Its MB are MiB; its CPU is of the time since the line before, and
 * 0 in the first.
 *
 *  # Elapsed time   CPU (%)     Real (MB)   Virtual (MB)
 *         1.001       99.900       10.332      312.020
 */
#include <math.h>

#include "base/clock.h"
#include "import/csv.h"
#include "import/fields.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

#define SECONDS_MAX 1e9
#define NUMBERS     9

enum column { PROCESSES, CPU, REAL, VIRTUAL, READS, WRITES, READ_BYTES, WRITE_BYTES, COLUMNS };

static const struct tg_quantity columns[COLUMNS] = {
	[PROCESSES] = { "nproc", "nproc", 0 },
	[CPU] = { "cpu [%]", "cpu", 3 },
	[REAL] = { "real [MiB]", "real", 3 },
	[VIRTUAL] = { "virtual [MiB]", "virtual", 3 },
	[READS] = { "read count", NULL, 0 },
	[WRITES] = { "write count", NULL, 0 },
	[READ_BYTES] = { "read [bytes]", NULL, 0 },
	[WRITE_BYTES] = { "write [bytes]", NULL, 0 },
};

#define BIT(column) (UINT64_C(1) << (column))
#define GAUGE(name, unit, factor, column)                                                          \
	{                                                                                          \
		{ name, unit, TG_GAUGE, TG_SCOPE_JOB, 0, NULL }, TG_LEVEL, factor, BIT(column)     \
	}
#define COUNTER(name, unit, column)                                                                \
	{                                                                                          \
		{ name, unit, TG_COUNTER, TG_SCOPE_JOB, 0, NULL }, TG_LEVEL, 1, BIT(column)        \
	}

static const struct tg_derived outputs[] = {
	{ { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL }, TG_PERCENT_OF_TIME, 1,
		BIT(CPU) },
	GAUGE("tree.rss_bytes", "bytes", 1048576, REAL),
	GAUGE("tree.vms_bytes", "bytes", 1048576, VIRTUAL),
	GAUGE("tree.processes", "count", 1, PROCESSES),
	COUNTER("tree.read_ops", "ops", READS),
	COUNTER("tree.write_ops", "ops", WRITES),
	COUNTER("tree.read_bytes", "bytes", READ_BYTES),
	COUNTER("tree.write_bytes", "bytes", WRITE_BYTES),
};

static const struct tg_log_layout layout = { columns, COLUMNS, outputs, TG_ARRAY_SIZE(outputs) };

/* The numbers of a line, blanks or commas between. Returns how many; 0: there is something else. */
static size_t scan_numbers(const char *p, double v[NUMBERS])
{
	size_t n = 0;

	for (p = tg_scan_blanks(p); *p && n < NUMBERS; n++) {
		char own[64];
		size_t len = strcspn(p, ", \t");
		const char *end;

		/* a comma is a separator here, and never decimal */
		if (len >= sizeof(own))
			return 0;
		memcpy(own, p, len);
		own[len] = '\0';
		end = tg_scan_number(own, &v[n]);
		if (!end || *end || v[n] < 0)
			return 0;
		p = tg_scan_blanks(p + len);
		p += *p == ',';
		p = tg_scan_blanks(p);
	}
	return *p ? 0 : n;
}

static bool take_row(struct tg_logfile *log, const char *line, bool csv)
{
	struct tg_readings *grid = &log->part[0].grid;
	double v[NUMBERS], value[COLUMNS];
	size_t n = scan_numbers(line, v), at = csv ? PROCESSES : CPU;
	ptrdiff_t item;

	if (n < (csv ? 5 : 4) || v[0] > SECONDS_MAX)
		return false;
	for (size_t i = 0; i < COLUMNS; i++)
		value[i] = NAN;
	for (size_t i = 1; i < n && at < COLUMNS; i++)
		value[at++] = v[i];
	item = tg_readings_item(grid, "");
	tg_readings_tick(grid, (int64_t)(v[0] * 1e9 + 0.5));
	if (item >= 0)
		tg_readings_row(grid, (size_t)item, value);
	return true;
}

static void read_psrecord(struct tg_logfile *log)
{
	bool csv = false;
	const char *line;
	size_t len;

	log->part[0].grid.times = TG_RELATIVE;
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log)) {
		if (tg_scan_starts(line, "elapsed_time,"))
			csv = true;
		else if (*tg_scan_blanks(line) && *line != '#' && !take_row(log, line, csv))
			log->n_skipped++;
	}
	log->n_samples = log->part[0].grid.n_ticks;
}

static bool looks(const char *head, size_t len)
{
	size_t n = strcspn(head, "\n");

	(void)len;
	return tg_scan_starts(head, "elapsed_time,nproc,cpu,") ||
	       (*head == '#' && memmem(head, n, "Elapsed time", 12) &&
		       memmem(head, n, "CPU (%)", 7));
}

const struct tg_log_format tg_format_psrecord = {
	.tool = "psrecord",
	.layout = { &layout },
	.looks = looks,
	.read = read_psrecord,
	.report = tg_report_one,
	.csv = tg_csv_grid,
	.csv_kind = { "psrecord.csv", "datetime,time", true, false },
};
