/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nfsiostat -d -p, of nfs-utils 1.3 to 2.8, in blocks as a loop around it writes them: a date, then
 * some reports, of which the first tells of the time since the mount. Reports have no times: these
 * are the block's date and the interval, which is what the time to the next block's date makes it.
 *
 *  datetime: 2026/12/01 20:53:39
 *
 *  nas1.example.org:/export/data mounted on /mp/nas1:
 *
 *             ops/s       rpc bklog
 *             0.069           0.000
 *
 *  read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms) …
 *                     0.012           0.374          32.293        0 (0.0%)           2.000 …
 *  250 nfs_readpages() calls read 8000 pages
 *  (32.0 pages per call)
 */
#include <math.h>

#include "import/civil.h"
#include "import/csv.h"
#include "import/logfile.h"
#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

#define HEADS_MAX  16
#define MOUNTS_MAX 4096 /* in a report */

/* Columns of an operation, each for reads and for writes. */
enum { OPS, KBS, KB_PER_OP, RETRANS, RTT, EXE, QUEUE, ERRORS, PER_OP };

enum {
	ALL_OPS,
	READ, /* to READ + ERRORS */
	WRITE = READ + PER_OP,
	BACKLOG = WRITE + PER_OP,
	READPAGE_CALLS,
	READPAGE_PAGES,
	READPAGES_CALLS,
	READPAGES_PAGES,
	WRITEPAGE_CALLS,
	WRITEPAGE_PAGES,
	WRITEPAGES_CALLS,
	WRITEPAGES_PAGES,
	UPDATEPAGE_CALLS,
	COLUMNS
};

static const struct tg_quantity columns[COLUMNS] = {
	[ALL_OPS] = { "ops", "ops", 3 },
	[READ + OPS] = { "read_ops", "read_ops", 3 },
	[READ + KBS] = { "read_kbs", "read_kbs", 3 },
	[WRITE + OPS] = { "write_ops", "write_ops", 3 },
	[WRITE + KBS] = { "write_kbs", "write_kbs", 3 },
};

#define BIT(column) (UINT64_C(1) << (column))
#define NODE        TG_SCOPE_NODE
#define RATE(name, unit, factor, column, help)                                                     \
	{                                                                                          \
		{ name, unit, TG_COUNTER, NODE, 0, help }, TG_PER_SECOND, factor, BIT(column)      \
	}
#define NUMBER(name, bits, help)                                                                   \
	{                                                                                          \
		{ name, "count", TG_COUNTER, NODE, 0, help }, TG_PER_INTERVAL, 1, bits             \
	}
#define MS(name, column, help)                                                                     \
	{                                                                                          \
		{ name, "ms", TG_GAUGE, NODE, -3, help }, TG_LEVEL, 1, BIT(column)                 \
	}

static const struct tg_derived outputs[] = {
	RATE("nfs.ops", "ops", 1, ALL_OPS, NULL),
	RATE("nfs.wire_read_bytes", "bytes", 1024, READ + KBS, NULL),
	RATE("nfs.wire_write_bytes", "bytes", 1024, WRITE + KBS, NULL),
	NUMBER("nfs.pages_read", BIT(READPAGE_PAGES) | BIT(READPAGES_PAGES), NULL),
	NUMBER("nfs.pages_written", BIT(WRITEPAGE_PAGES) | BIT(WRITEPAGES_PAGES), NULL),
	NUMBER("nfs.readpage_calls", BIT(READPAGE_CALLS), NULL),
	NUMBER("nfs.readpages_calls", BIT(READPAGES_CALLS), NULL),
	NUMBER("nfs.writepage_calls", BIT(WRITEPAGE_CALLS), NULL),
	NUMBER("nfs.writepages_calls", BIT(WRITEPAGES_CALLS), NULL),
	NUMBER("nfs.updatepage_calls", BIT(UPDATEPAGE_CALLS), NULL),
	NUMBER("nfsiostat.readpage_pages", BIT(READPAGE_PAGES), "pages that were read one by one"),
	NUMBER("nfsiostat.readpages_pages", BIT(READPAGES_PAGES),
		"pages that were read several at once"),
	NUMBER("nfsiostat.writepage_pages", BIT(WRITEPAGE_PAGES),
		"pages that were written one by one"),
	NUMBER("nfsiostat.writepages_pages", BIT(WRITEPAGES_PAGES),
		"pages that were written several at once"),
	RATE("nfsiostat.read_ops", "ops", 1, READ + OPS, "READ requests"),
	RATE("nfsiostat.write_ops", "ops", 1, WRITE + OPS, "WRITE requests"),
	NUMBER("nfsiostat.read_retransmits", BIT(READ + RETRANS),
		"READ requests that were sent again"),
	NUMBER("nfsiostat.write_retransmits", BIT(WRITE + RETRANS),
		"WRITE requests that were sent again"),
	NUMBER("nfsiostat.read_errors", BIT(READ + ERRORS), "READ requests that failed"),
	NUMBER("nfsiostat.write_errors", BIT(WRITE + ERRORS), "WRITE requests that failed"),
	{ { "nfsiostat.read_request_bytes", "bytes", TG_GAUGE, NODE, 0, "mean size of a READ" },
		TG_LEVEL, 1024, BIT(READ + KB_PER_OP) },
	{ { "nfsiostat.write_request_bytes", "bytes", TG_GAUGE, NODE, 0, "mean size of a WRITE" },
		TG_LEVEL, 1024, BIT(WRITE + KB_PER_OP) },
	MS("nfsiostat.read_rtt_ms", READ + RTT, "time from sending a READ to the reply"),
	MS("nfsiostat.write_rtt_ms", WRITE + RTT, "time from sending a WRITE to the reply"),
	MS("nfsiostat.read_exe_ms", READ + EXE, "time from making a READ to its end"),
	MS("nfsiostat.write_exe_ms", WRITE + EXE, "time from making a WRITE to its end"),
	MS("nfsiostat.read_queue_ms", READ + QUEUE, "time that a READ waited to be sent"),
	MS("nfsiostat.write_queue_ms", WRITE + QUEUE, "time that a WRITE waited to be sent"),
	{ { "nfsiostat.backlog_mean", "count", TG_GAUGE, NODE, -3,
		  "requests that waited to be sent" },
		TG_LEVEL, 1, BIT(BACKLOG) },
};

static const struct tg_log_layout layout = { columns, COLUMNS, outputs, TG_ARRAY_SIZE(outputs) };

enum values { OF_NOTHING, OF_ALL, OF_READ, OF_WRITE };

struct nfs {
	struct tg_logfile *log;
	struct tg_readings *grid;
	/* of the block at hand */
	bool dated;
	int64_t date_ns;
	uint32_t first_tick; /* its first, or what it will be */
	uint32_t n_reports; /* the first, which is left out, too */
	int64_t step_ns; /* of the block before; 0: unknown */
	/* of the report at hand */
	char **seen; /* mounts */
	size_t n_seen, cap_seen;
	/* of the mount at hand */
	char mount[TG_ITEM_NAME_MAX];
	double value[COLUMNS];
	enum values next; /* what the line of numbers that comes is of */
	int head[HEADS_MAX]; /* columns of that line, -1: not known */
	int n_heads;
	uint64_t no_mounts; /* times that it said so */
};

/* ---- reports and blocks ---- */

static void end_mount(struct nfs *s)
{
	ptrdiff_t at;

	if (s->mount[0] && s->n_reports > 1) {
		at = tg_readings_item(s->grid, s->mount);
		if (at >= 0)
			tg_readings_row(s->grid, (size_t)at, s->value);
	}
	s->mount[0] = '\0';
	s->next = OF_NOTHING;
}

static void forget_seen(struct nfs *s)
{
	for (size_t i = 0; i < s->n_seen; i++)
		free(s->seen[i]);
	s->n_seen = 0;
}

static bool is_seen(const struct nfs *s, const char *mount)
{
	for (size_t i = 0; i < s->n_seen; i++)
		if (!strcmp(s->seen[i], mount))
			return true;
	return false;
}

static void begin_report(struct nfs *s)
{
	forget_seen(s);
	s->log->n_samples++;
	if (s->n_reports++)
		tg_readings_tick(s->grid, 0); /* its time is found at the end of the block */
	else
		s->log->n_averages++;
}

/* Give the block's ticks their times; `next_ns`: date of the block that follows, or TG_UNKNOWN. */
static void end_block(struct nfs *s, int64_t next_ns)
{
	int64_t step = s->step_ns, from = s->dated ? s->date_ns : 0;

	end_mount(s);
	if (next_ns != TG_UNKNOWN && s->dated && s->n_reports && next_ns > s->date_ns) {
		double seconds = (double)(next_ns - s->date_ns) / 1e9 / s->n_reports;

		step = TG_MAX(llround(seconds), 1) * TG_NS_PER_S;
	} else if (s->log->interval_ns) {
		step = s->log->interval_ns;
	}
	for (uint32_t i = s->first_tick; i < s->grid->n_ticks; i++) {
		struct tg_log_tick *tick = &s->grid->tick[i];
		int64_t k = i - s->first_tick + 1, length = step ? step : TG_NS_PER_S;

		tick->civil_ns = from + k * length;
		if (k == 1)
			tick->begin_ns = from;
	}
	if (s->grid->n_ticks > s->first_tick && (!s->dated || !step))
		s->grid->times = step && !s->dated ? TG_RELATIVE : TG_NUMBERED;
	s->step_ns = step;
	s->first_tick = s->grid->n_ticks;
	s->n_reports = 0;
	forget_seen(s);
}

/* ---- lines ---- */

/* "\040" is how a blank in a path is written. */
static void copy_path(char *out, size_t size, const char *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++) {
		if (p[i] == '\\' && i + 3 < len && p[i + 1] >= '0' && p[i + 1] <= '3' &&
			tg_scan_is_digit(p[i + 2]) && tg_scan_is_digit(p[i + 3])) {
			out[n++] = (char)((p[i + 1] - '0') * 64 + (p[i + 2] - '0') * 8 + p[i + 3] -
					  '0');
			i += 3;
		} else {
			out[n++] = p[i];
		}
	}
	out[n] = '\0';
}

/* "nas1:/export mounted on /mp/nas1:" */
static bool take_mount(struct nfs *s, const char *line)
{
	static const char between[] = " mounted on ";
	const char *p = strstr(line, between), *end = strrchr(line, ':');

	if (!p)
		return false;
	p += strlen(between);
	if (!end || end <= p)
		return false;
	end_mount(s);
	copy_path(s->mount, sizeof(s->mount), p, (size_t)(end - p));
	if (!s->n_reports || is_seen(s, s->mount))
		begin_report(s);
	if (s->n_seen == MOUNTS_MAX) {
		s->mount[0] = '\0';
		return false;
	}
	TG_GROW(s->seen, s->n_seen + 1, s->cap_seen);
	s->seen[s->n_seen++] = tg_xstrdup(s->mount);
	for (int i = 0; i < COLUMNS; i++)
		s->value[i] = NAN;
	return true;
}

static int column_of(const char *head)
{
	static const struct {
		const char *name;
		int column;
	} known[] = { { "ops/s", OPS }, { "op/s", OPS }, { "kB/s", KBS }, { "kB/op", KB_PER_OP },
		{ "retrans", RETRANS }, { "avg RTT", RTT }, { "avg exe", EXE },
		{ "avg queue", QUEUE }, { "errors", ERRORS } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(known); i++)
		if (tg_scan_starts(head, known[i].name))
			return known[i].column;
	return -1;
}

/* Heads have two blanks or more between them: "retrans    avg RTT (ms)    avg exe (ms)". */
static void take_heads(struct nfs *s, const char *p, enum values of)
{
	s->next = of;
	s->n_heads = 0;
	for (p = tg_scan_blanks(p); *p && s->n_heads < HEADS_MAX; p = tg_scan_blanks(p)) {
		s->head[s->n_heads++] = column_of(p);
		while (*p && !(p[0] == ' ' && (p[1] == ' ' || !p[1])))
			p++;
	}
	if (!s->log->version[0] && of == OF_READ)
		tg_logfile_version(s->log, s->n_heads > 6
						   ? "with queue and errors, as nfs-utils 2.6"
						   : "without queue, as nfs-utils 1.3");
}

/* The line below heads. A percentage in brackets belongs to the number before it. */
static bool take_values(struct nfs *s, const char *p)
{
	int base = s->next == OF_READ ? READ : WRITE;
	double v;

	for (int i = 0; i < s->n_heads; i++) {
		p = tg_scan_number(tg_scan_blanks(p), &v);
		if (!p)
			return false;
		if (s->next == OF_ALL)
			s->value[i ? BACKLOG : ALL_OPS] = v;
		else if (s->head[i] >= 0)
			s->value[base + s->head[i]] = v;
		p = tg_scan_blanks(p);
		if (*p == '(' && strchr(p, ')'))
			p = strchr(p, ')') + 1;
	}
	s->next = OF_NOTHING;
	return true;
}

/* "250 nfs_readpages() calls read 8000 pages", "5000 nfs_updatepage() calls" */
static bool take_calls(struct nfs *s, const char *line)
{
	static const struct {
		const char *name;
		int calls;
	} known[] = { { "nfs_readpage()", READPAGE_CALLS }, { "nfs_readpages()", READPAGES_CALLS },
		{ "nfs_writepage()", WRITEPAGE_CALLS }, { "nfs_writepages()", WRITEPAGES_CALLS },
		{ "nfs_updatepage()", UPDATEPAGE_CALLS } };
	double calls, pages;
	const char *p = tg_scan_number(line, &calls), *name, *end;

	name = p ? tg_scan_blanks(p) : line;
	end = tg_scan_word(name);
	for (size_t i = 0; p && i < TG_ARRAY_SIZE(known); i++) {
		if (!tg_scan_is(name, end, known[i].name))
			continue;
		s->value[known[i].calls] = calls;
		while (*end && !tg_scan_is_digit(*end))
			end++;
		if (known[i].calls != UPDATEPAGE_CALLS && tg_scan_number(end, &pages))
			s->value[known[i].calls + 1] = pages;
		return true;
	}
	return false;
}

static bool take_date(struct nfs *s, const char *line)
{
	struct tg_stamp stamp;

	if (!tg_civil_stamp(tg_scan_blanks(line + strlen("datetime:")), &stamp))
		return false;
	end_block(s, stamp.civil_ns);
	s->dated = true;
	s->date_ns = stamp.civil_ns;
	return true;
}

static bool take_line(struct nfs *s, const char *line)
{
	const char *p = tg_scan_blanks(line);

	if (!*p || tg_scan_starts(p, "("))
		return true; /* "(32.0 pages per call)" says nothing new */
	if (tg_scan_starts(p, "datetime:"))
		return take_date(s, p);
	if (tg_scan_starts(p, "No NFS mount points")) {
		s->no_mounts++;
		return true;
	}
	if (take_mount(s, p))
		return true;
	if (!s->mount[0])
		return false;
	if (tg_scan_starts(p, "read:"))
		take_heads(s, p + strlen("read:"), OF_READ);
	else if (tg_scan_starts(p, "write:"))
		take_heads(s, p + strlen("write:"), OF_WRITE);
	else if (strstr(p, "rpc bklog"))
		take_heads(s, p, OF_ALL);
	else if (s->next != OF_NOTHING)
		return take_values(s, p);
	else
		return take_calls(s, p);
	return true;
}

static void read_nfs(struct tg_logfile *log)
{
	struct nfs s = { .log = log };
	const char *line;
	size_t len;

	s.grid = &log->part[0].grid;
	log->since = "the mount";
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log))
		if (!take_line(&s, line))
			log->n_skipped++;
	end_block(&s, TG_UNKNOWN);
	free(s.seen);
	if (s.no_mounts)
		tg_logfile_note(log, "no NFS was mounted, it says%s",
			log->n_samples ? " now and then" : "");
}

static bool looks(const char *head, size_t len)
{
	(void)len;
	return (strstr(head, " mounted on ") && strstr(head, "rpc bklog")) ||
	       strstr(head, "No NFS mount points were found");
}

const struct tg_log_format tg_format_nfsiostat = {
	.tool = "nfsiostat",
	.layout = { &layout },
	.looks = looks,
	.read = read_nfs,
	.report = tg_report_items,
	.csv = tg_csv_grid,
	.csv_kind = { "nfsiostat.csv", "time,fs", false, true },
};
