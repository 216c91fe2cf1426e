/* SPDX-License-Identifier: BSD-3-Clause */
/* What was used of what was there to be used, and what to ask for next time. */
#include <math.h>

#include "report/format.h"
#include "report/report.h"

#include "base/mem.h"

#define MEMORY_ROOM 1.2 /* of the peak */
#define TIME_ROOM   1.25 /* of the time it took */

static void columns(struct tg_sheet *s)
{
	tg_sheet_column(s, "", false, NULL);
	tg_sheet_column(s, "asked for or allowed", true,
		"what the batch system or --request says, else the limit that held");
	tg_sheet_column(s, "used", true, NULL);
	tg_sheet_column(s, "share", true, "used, of what was asked for or allowed");
	tg_sheet_column(s, "next time", true,
		"cores: the most that were busy, rounded up from a quarter on; memory: the peak "
		"and a fifth; time: "
		"what it took and a quarter");
}

static void share(struct tg_sheet *s, double used, double of, struct tg_buf *b)
{
	tg_fmt_pct(b, used, of);
	tg_sheet_value(s, 100 * used / of, b);
}

static void cpu(const struct tg_told *t, struct tg_sheet *s, struct tg_buf *b)
{
	const struct tg_totals *sums = &t->sums.totals;
	double asked = isnan(t->asked.cpus) ? sums->cores_allowed : t->asked.cpus;
	double next = ceil(sums->cores_max - 0.25);

	/* of what ran where, a mean alone tells nothing that could be asked for */
	if (isnan(sums->cores_mean) || (isnan(asked) && sums->single))
		return;
	tg_sheet_text(s, "cores");
	tg_fmt_number(b, asked);
	tg_sheet_value(s, asked, b);
	tg_fmt_about(b, sums, sums->cores_mean);
	tg_fmt_number(b, sums->cores_mean);
	tg_buf_adds(b, " on average, ");
	tg_fmt_number(b, sums->cores_max);
	tg_buf_adds(b, " at most");
	tg_sheet_value(s, sums->cores_mean, b);
	share(s, sums->cores_mean, asked, b);
	next = fmax(next, 1);
	tg_fmt_number(b, next);
	tg_sheet_value(s, next, b);
}

static void memory(const struct tg_told *t, struct tg_sheet *s, struct tg_buf *b)
{
	const struct tg_totals *sums = &t->sums.totals;
	double asked =
		isnan(t->asked.memory_bytes) ? sums->memory_limit_bytes : t->asked.memory_bytes;
	double next = ceil(sums->mem_peak_bytes * MEMORY_ROOM / 1e8) * 1e8;

	if (isnan(sums->mem_peak_bytes))
		return;
	tg_sheet_text(s, "memory");
	tg_fmt_bytes(b, asked);
	tg_sheet_value(s, asked, b);
	tg_fmt_bytes(b, sums->mem_peak_bytes);
	tg_buf_addf(b, "%s%s", sums->mem_peak_is ? " " : "",
		sums->mem_peak_is ? sums->mem_peak_is : "");
	tg_sheet_value(s, sums->mem_peak_bytes, b);
	share(s, sums->mem_peak_bytes, asked, b);
	tg_fmt_bytes(b, next);
	tg_sheet_value(s, next, b);
}

static void wall(const struct tg_told *t, struct tg_sheet *s, struct tg_buf *b)
{
	double took = (double)(t->sums.to_ns - t->sums.from_ns) / 1e9;
	double next = ceil(took * TIME_ROOM / 60) * 60;

	if (isnan(t->asked.time_s))
		return;
	tg_sheet_text(s, "time");
	tg_fmt_seconds(b, t->asked.time_s);
	tg_sheet_value(s, t->asked.time_s, b);
	tg_fmt_seconds(b, took);
	tg_sheet_value(s, took, b);
	share(s, took, t->asked.time_s, b);
	tg_fmt_seconds(b, next);
	tg_sheet_value(s, next, b);
}

static void gpus(const struct tg_told *t, struct tg_sheet *s, struct tg_buf *b)
{
	double used = t->sums.totals.gpu_util_mean_pct;

	if (isnan(used))
		return;
	tg_sheet_text(s, "GPUs");
	tg_fmt_number(b, t->asked.gpus);
	tg_sheet_value(s, t->asked.gpus, b);
	tg_fmt_pct(b, used, 100);
	tg_buf_adds(b, " busy on average");
	tg_sheet_value(s, used, b);
	tg_fmt_pct(b, used, 100);
	tg_sheet_value(s, used, b);
	tg_sheet_text(s, "");
}

void tg_report_efficiency(struct tg_told *t)
{
	struct tg_sheet sheet = { 0 };
	struct tg_buf b = TG_BUF_INIT;

	columns(&sheet);
	cpu(t, &sheet, &b);
	memory(t, &sheet, &b);
	wall(t, &sheet, &b);
	gpus(t, &sheet, &b);
	if (tg_sheet_rows(&sheet))
		tg_report_add(t->report, 2, "efficiency", "Efficiency", NULL)->sheet = sheet;
	else
		tg_sheet_release(&sheet);
	tg_buf_release(&b);
}
