/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iostat -o JSON. One that was killed has no closing brackets: what is whole is read.
 *
 *  {"sysstat": {"hosts": [{"nodename": "host1", …, "number-of-cpus": 2, "date": "12/01/26",
 *    "statistics": [{"timestamp": "12/01/26 20:53:38", "avg-cpu": {"user": 48.87, …},
 *      "disk": [{"disk_device": "vda", "r/s": 121.05, …, "util": 2.65}]}, …
 */
#include <math.h>

#include "import/iostat.h"
#include "import/json_scan.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

struct json {
	struct tg_iostat io;
	struct tg_json_scan scan;
};

/* {"disk_device": "vda", "r/s": 121.05, …}, opened */
static void take_disk(struct json *j, uint64_t *columns)
{
	char name[TG_JSON_SCAN_TEXT] = "", key[TG_JSON_SCAN_TEXT] = "";
	double value[TG_IO_COLUMNS], factor;
	int depth = j->scan.depth;
	enum tg_json_token t;

	for (int i = 0; i < TG_IO_COLUMNS; i++)
		value[i] = NAN;
	while (j->scan.depth >= depth && (t = tg_json_scan_next(&j->scan)) != TG_JSON_END) {
		if (t == TG_JSON_KEY) {
			memcpy(key, j->scan.text, sizeof(key));
		} else if (t == TG_JSON_STRING && !strcmp(key, "disk_device")) {
			memcpy(name, j->scan.text, sizeof(name));
		} else if (t == TG_JSON_NUMBER) {
			int c = tg_iostat_column(key, strlen(key), &factor);

			if (c >= 0) {
				value[c] = j->scan.number * factor;
				*columns |= UINT64_C(1) << c;
			}
		}
	}
	if (name[0] && !j->scan.bad)
		tg_iostat_disk(&j->io, name, value);
}

static void take_cpu(struct json *j)
{
	double value[TG_IO_CPUS] = { NAN, NAN, NAN, NAN, NAN, NAN };
	int depth = j->scan.depth, c = -1;
	enum tg_json_token t;

	while (j->scan.depth >= depth && (t = tg_json_scan_next(&j->scan)) != TG_JSON_END) {
		if (t == TG_JSON_KEY)
			c = tg_iostat_cpu_column(j->scan.text, strlen(j->scan.text));
		else if (t == TG_JSON_NUMBER && c >= 0)
			value[c] = j->scan.number;
	}
	if (!j->scan.bad)
		tg_iostat_cpu_row(&j->io, value);
}

static void take_disks(struct json *j)
{
	int depth = j->scan.depth;
	uint64_t columns = 0;
	enum tg_json_token t;

	while (j->scan.depth >= depth && (t = tg_json_scan_next(&j->scan)) != TG_JSON_END)
		if (t == TG_JSON_OPEN)
			take_disk(j, &columns);
	if (columns)
		tg_iostat_version(j->io.log, columns);
}

/* One of "statistics", opened. Its stamp, when it has one, comes first. */
static void take_report(struct json *j)
{
	int depth = j->scan.depth;
	char key[TG_JSON_SCAN_TEXT] = "";
	struct tg_stamp stamp;
	bool begun = false;
	enum tg_json_token t;

	while (j->scan.depth >= depth && (t = tg_json_scan_next(&j->scan)) != TG_JSON_END) {
		bool opens = t == TG_JSON_OPEN || t == TG_JSON_OPEN_LIST;

		if (t == TG_JSON_KEY)
			memcpy(key, j->scan.text, sizeof(key));
		if (t == TG_JSON_STRING && !strcmp(key, "timestamp") && !begun &&
			tg_civil_stamp(j->scan.text, &stamp)) {
			tg_iostat_report(&j->io, &stamp);
			begun = true;
		}
		if (opens && !begun) {
			tg_iostat_report(&j->io, NULL);
			begun = true;
		}
		if (t == TG_JSON_OPEN_LIST && !strcmp(key, "disk"))
			take_disks(j);
		else if (t == TG_JSON_OPEN && !strcmp(key, "avg-cpu"))
			take_cpu(j);
		else if (opens)
			tg_json_scan_leave(&j->scan, j->scan.depth);
	}
}

static void take_reports(struct json *j)
{
	int depth = j->scan.depth;
	enum tg_json_token t;

	while (j->scan.depth >= depth && (t = tg_json_scan_next(&j->scan)) != TG_JSON_END)
		if (t == TG_JSON_OPEN)
			take_report(j);
}

static void read_json(struct tg_logfile *log)
{
	struct json j = { .scan.bytes = &log->bytes };
	char key[TG_JSON_SCAN_TEXT] = "", host[TG_JSON_SCAN_TEXT] = "";
	enum tg_json_token t;

	tg_iostat_begin(&j.io, log);
	while ((t = tg_json_scan_next(&j.scan)) != TG_JSON_END) {
		if (t == TG_JSON_KEY)
			memcpy(key, j.scan.text, sizeof(key));
		else if (t == TG_JSON_STRING && !strcmp(key, "nodename"))
			memcpy(host, j.scan.text, sizeof(host));
		else if (t == TG_JSON_NUMBER && !strcmp(key, "number-of-cpus"))
			tg_iostat_run(&j.io, host, strlen(host), (int64_t)j.scan.number);
		else if (t == TG_JSON_OPEN_LIST && !strcmp(key, "statistics"))
			take_reports(&j);
	}
	tg_iostat_end(&j.io);
	if (j.scan.bad)
		tg_logfile_note(
			log, "it ends before its end, or is damaged: what is whole was read");
}

static bool looks(const char *head, size_t len)
{
	const char *p = head + strspn(head, " \t\r\n");

	(void)len;
	return *p == '{' && strstr(p, "\"sysstat\"") && strstr(p, "\"statistics\"") &&
	       !strstr(p, "\"file-date\"") && /* which sadf has */
	       (strstr(p, "\"disk\"") || strstr(p, "\"avg-cpu\""));
}

const struct tg_log_format tg_format_iostat_json = {
	.tool = "iostat",
	.layout = { &tg_iostat_layout, &tg_iostat_cpu_layout },
	.looks = looks,
	.read = read_json,
	.report = tg_report_items,
	.csv = tg_csv_grid,
	.csv_kind = TG_IOSTAT_CSV,
};
