/* SPDX-License-Identifier: BSD-3-Clause */
/* Dates in all their forms; midnight, clocks that are set, days without a sample; zones. */
#include "import_kit.h"

#include <errno.h>

#include "import/civil.h"
#include "import/zone.h"

#define S TG_NS_PER_S

static const struct tg_import_options berlin = { .zone = BERLIN };

static void stamp(const char *text, const char *want, int offset_s)
{
	struct tg_stamp at;
	const char *end = tg_civil_stamp(text, &at);
	struct tg_buf got = TG_BUF_INIT;

	if (end)
		tg_civil_text(&got, at.civil_ns, false);
	t_eq_s(got.data, want, text, 0, "stamp");
	if (end)
		t_eq_i(at.has_offset ? at.offset_s : -1, offset_s, text, 0, "offset");
	tg_buf_release(&got);
}

static void test_stamps(void)
{
	stamp("2026/12/01 20:53:38", "2026-12-01 20:53:38", -1);
	stamp("2026/12/01 20:53:38.312", "2026-12-01 20:53:38", -1);
	stamp("12/01/26 20:42:34", "2026-12-01 20:42:34", -1);
	stamp("12/01/2026 08:42:34 PM", "2026-12-01 20:42:34", -1);
	stamp("12/01/2026 12:00:01 AM", "2026-12-01 00:00:01", -1);
	stamp("12/01/2026 12:00:01 PM", "2026-12-01 12:00:01", -1);
	stamp("13/01/2026 12:00:01", "2026-01-13 12:00:01", -1);
	stamp("01.12.2026 20:42:34", "2026-12-01 20:42:34", -1);
	stamp("2026-12-01T20:53:38+0000", "2026-12-01 20:53:38", 0);
	stamp("2026-12-01T20:53:38Z", "2026-12-01 20:53:38", 0);
	stamp("2026-12-01T20:53:38+05:30", "2026-12-01 20:53:38", 19800);
	stamp("2026-12-01T20:53:38-0330", "2026-12-01 20:53:38", -12600);
	stamp("2024/02/29 00:00:00", "2024-02-29 00:00:00", -1);
	stamp("2026/02/29 00:00:00", "", 0);
	stamp("2026/13/01 00:00:00", "", 0);
	stamp("2026/12/01 24:00:00", "", 0);
	stamp("2026/12/01", "", 0);
	stamp("vda 12/01/26 20:42:34", "", 0);
}

/* Moments of the first readings, less the first of them, in seconds. */
static void steps(const char *text, const struct tg_import_options *o, int n, const int64_t *want_s)
{
	struct tg_import *im = kit_text(text, o);
	const struct tg_readings *g = &im->log[0]->part[0].grid;

	T_EQ_I(g->n_ticks, n);
	for (int i = 0; i < n && i < (int)g->n_ticks; i++)
		T_EQ_I((g->tick[i].utc_ns - g->tick[0].utc_ns) / S, want_s[i]);
	tg_import_free(im);
}

#define TOP(time, up) "top - " time " up " up ",  0 users,  load average: 0.00, 0.00, 0.00\n"

static void test_midnight(void)
{
	/* without uptime each fall is the next day, and no more */
	steps("datetime: 2026/12/31 23:59:58\n" TOP("23:59:58", "?") TOP("00:00:03", "?")
			TOP("00:00:08", "?") TOP("00:00:03", "?"),
		&berlin, 4, (int64_t[]){ 0, 5, 10, 86405 });
	/* the date stands above the first sample, which is of the next day */
	{
		struct tg_import *im = kit_text(
			"datetime: 2026/12/31 23:59:59\n" TOP("00:00:01", "3 min"), &berlin);

		T_EQ_I(im->log[0]->part[0].grid.tick[0].civil_ns / S, 1798761601);
		tg_import_free(im);
	}
}

static void test_uptime(void)
{
	/* more than a day without a sample */
	steps("datetime: 2026/12/01 10:00:00\n" TOP("10:00:00", "1 day,  3:00")
			TOP("11:00:00", "2 days,  4:00"),
		&berlin, 2, (int64_t[]){ 0, 90000 });
	steps("datetime: 2026/12/01 10:00:00\n" TOP("10:00:00", "1 day, 25 min")
			TOP("09:00:00", "4 days, 23:25"),
		&berlin, 2, (int64_t[]){ 0, 4 * 86400 - 3600 });
	/* the clock was set back by some seconds: that is no day, and time stands still */
	steps("datetime: 2026/12/01 10:00:00\n" TOP("10:00:05", "26 min") TOP("10:00:02", "26 min")
			TOP("10:00:07", "26 min"),
		&berlin, 3, (int64_t[]){ 0, 0, 2 });
}

/* In Berlin clocks go from 3:00 back to 2:00 on 2026-10-25, and from 2:00 to 3:00 on 2026-03-29. */
static void test_summer_time(void)
{
	steps("datetime: 2026/10/25 01:59:00\n" TOP("01:59:55", "?") TOP("02:59:55", "?")
			TOP("02:00:00", "?") TOP("02:59:59", "?") TOP("03:00:04", "?"),
		&berlin, 5, (int64_t[]){ 0, 3600, 3605, 7204, 7209 });
	steps("datetime: 2026/03/29 01:59:00\n" TOP("01:59:55", "?") TOP("03:00:00", "?"), &berlin,
		2, (int64_t[]){ 0, 5 });
}

static const char vmstat_head[] =
	"--procs-- ---memory--- --swap-- --io-- -system-- --cpu-- -----timestamp-----\n"
	"   r b swpd free buff cache si so bi bo in cs us sy id wa st gu CET\n";
#define ROW " 1 0 0 1 1 1 0 0 10 20 1 1 50 10 40 0 0 0 "

static void test_dated_fold(void)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_addf(&text,
		"%s" ROW "2026-10-25 02:59:50\n" ROW "2026-10-25 02:59:55\n" ROW
		"2026-10-25 02:00:00\n" ROW "2026-10-25 02:00:05\n" ROW "2026-10-25 03:00:00\n",
		vmstat_head);
	steps(text.data, &berlin, 4, (int64_t[]){ 0, 5, 10, 3605 });
	tg_buf_release(&text);
}

/* A stamp with an offset needs no zone; one without has that of the logs, or what they say. */
static void test_which_zone(void)
{
	const char *iso = "Linux 6.1 (h) \t2026-12-01 \t_x86_64_\t(2 CPU)\n\n"
			  "2026-12-01T20:53:38+0100\nDevice tps kB_read/s kB_wrtn/s\nsda 1 2 3\n\n"
			  "2026-12-01T20:53:43+0100\nDevice tps kB_read/s kB_wrtn/s\nsda 1 2 3\n";
	const char *top = "datetime: 2026/07/01 12:00:00\n" TOP("12:00:00", "1 min");
	struct tg_import *im = kit_text(iso, &berlin);

	T_EQ_I(im->log[0]->part[0].grid.tick[0].utc_ns / S, 1796154823);
	tg_import_free(im);
	im = kit_text(top, &berlin);
	T_EQ_I(im->log[0]->part[0].grid.tick[0].utc_ns / S, 1782900000); /* 10:00 UTC */
	tg_import_free(im);
	/* vmstat says UTC: the other logs beside it had the same clock */
	im = kit_new(&(struct tg_import_options){ 0 });
	T_EQ_I(tg_import_add_bytes(im, "a", top, strlen(top), NULL), 0);
	{
		struct tg_buf text = TG_BUF_INIT;

		tg_buf_addf(&text, "%s" ROW "2026-07-01 12:00:00\n", vmstat_head);
		memcpy(strstr(text.data, "CET"), "UTC", 3);
		T_EQ_I(tg_import_add_bytes(im, "b", text.data, text.len, NULL), 0);
		tg_buf_release(&text);
	}
	tg_import_settle(im);
	T_EQ_I(im->log[0]->part[0].grid.tick[0].utc_ns / S, 1782907200);
	T_EQ_I(im->log[1]->n_notes, 1); /* here it was another one */
	T_EQ_S(im->log[1]->note[0], "its clock was UTC, and so the others' is taken to be");
	tg_import_free(im);
}

static void test_no_such_zone(void)
{
	static const char *const bad[] = { "Europe/Atlantis", "", "../../etc/passwd",
		"/etc/localtime", "no zone" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++) {
		struct tg_err err = { 0 };

		T_EQ_I(tg_zone_set(bad[i], &err), -EINVAL);
		T_OK(strstr(err.text, "there is no time zone") != NULL);
	}
}

int main(void)
{
	test_stamps();
	test_midnight();
	test_uptime();
	test_summer_time();
	test_dated_fold();
	test_which_zone();
	test_no_such_zone();
	return t_done();
}
