/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iostat as text, with -x or without, of sysstat 10 to 12: columns by their heads, stamps in the
 * formats of the usual locales.
 *
 *  Linux 6.18.44 (host1) 	12/01/26 	_x86_64_	(2 CPU)
 *
 *  12/01/26 20:53:39
 *  Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s …  aqu-sz  %util
 *  vda             48.00    372.00     3.00   5.88    0.21     7.75   10.00 …    0.01   0.80
 */
#include "import/iostat.h"

#include <math.h>

#include "import/report.h"
#include "import/scan.h"

#include "base/mem.h"

#define HEADS_MAX 48

enum { HEAD_NAME = -2 };

struct text {
	struct tg_iostat io;
	int head[HEADS_MAX]; /* column of each, -1 or HEAD_NAME */
	double factor[HEADS_MAX];
	size_t n_heads;
	bool cpu_comes;
	bool stamped, ever_stamped; /* since the last report began; at all */
	int cpu[TG_IO_CPUS + 4]; /* column of each value of the line that comes */
	size_t n_cpu;
	struct tg_stamp stamp;
	bool in_report; /* its first heads were read: others begin the next, without a stamp */
};

/* "Linux 6.18.44 (host1) \t12/01/26 \t_x86_64_\t(2 CPU)" */
static void take_run(struct text *t, const char *line)
{
	const char *open = strchr(line, '('), *close = open ? strchr(open, ')') : NULL;
	const char *last = strrchr(line, '(');
	double cpus = 0;

	if (!close)
		return;
	if (last != open)
		tg_scan_number(last + 1, &cpus);
	tg_iostat_run(&t->io, open + 1, (size_t)(close - open - 1), (int64_t)cpus);
	t->in_report = t->stamped = false;
}

static void begin_report(struct text *t)
{
	tg_iostat_report(&t->io, t->stamped ? &t->stamp : NULL);
	t->stamped = false;
	t->in_report = true;
}

/* "avg-cpu:  %user   %nice %system %iowait  %steal   %idle" */
static void take_cpu_heads(struct text *t, const char *line)
{
	const char *p = tg_scan_blanks(tg_scan_word(line));

	begin_report(t);
	t->n_cpu = 0;
	while (*p && t->n_cpu < TG_ARRAY_SIZE(t->cpu)) {
		const char *end = tg_scan_word(p);

		t->cpu[t->n_cpu++] = tg_iostat_cpu_column(p, (size_t)(end - p));
		p = tg_scan_blanks(end);
	}
	t->cpu_comes = true;
	t->n_heads = 0;
}

static bool take_cpu(struct text *t, const char *line)
{
	double value[TG_IO_CPUS] = { NAN, NAN, NAN, NAN, NAN, NAN }, v;
	const char *p = line;

	for (size_t i = 0; i < t->n_cpu; i++) {
		p = tg_scan_number(tg_scan_blanks(p), &v);
		if (!p)
			return false;
		p += *p == '%';
		if (t->cpu[i] >= 0)
			value[t->cpu[i]] = v;
	}
	tg_iostat_cpu_row(&t->io, value);
	return true;
}

/* The line of heads has "Device" in front or, with --human in new versions, behind. */
static bool take_heads(struct text *t, const char *line)
{
	const char *p = tg_scan_blanks(line);
	uint64_t columns = 0;
	int head[HEADS_MAX], names = 0;
	double factor[HEADS_MAX];
	size_t n = 0, known = 0;

	for (; *p && n < HEADS_MAX; n++) {
		const char *end = tg_scan_word(p);

		head[n] = tg_iostat_column(p, (size_t)(end - p), &factor[n]);
		if (head[n] >= 0) {
			columns |= UINT64_C(1) << head[n];
			known++;
		} else if (!names && (!n || !*tg_scan_blanks(end))) {
			head[n] = HEAD_NAME;
			names++;
		}
		p = tg_scan_blanks(end);
	}
	if (known < 2 || names != 1)
		return false;
	memcpy(t->head, head, sizeof(head));
	memcpy(t->factor, factor, sizeof(factor));
	t->n_heads = n;
	tg_iostat_version(t->io.log, columns);
	return true;
}

/* "372.00", "3.3%", or "372.0k" of --human, which is told in bytes then. */
static const char *scan_value(const char *p, double *v)
{
	double suffix;

	p = tg_scan_number(p, v);
	if (!p)
		return NULL;
	suffix = tg_scan_suffix(*p);
	if (suffix > 0) {
		*v *= suffix / 1024;
		return p + 1;
	}
	return p + (*p == '%');
}

static bool take_disk(struct text *t, const char *line)
{
	double value[TG_IO_COLUMNS], v;
	char name[TG_ITEM_NAME_MAX] = "";
	const char *p = line;

	for (int i = 0; i < TG_IO_COLUMNS; i++)
		value[i] = NAN;
	for (size_t i = 0; i < t->n_heads; i++) {
		const char *q;

		p = tg_scan_blanks(p);
		if (t->head[i] == HEAD_NAME) {
			q = tg_scan_word(p);
			snprintf(name, sizeof(name), "%.*s",
				(int)TG_MIN((size_t)(q - p), sizeof(name) - 1), p);
		} else {
			q = scan_value(p, &v);
			if (q && t->head[i] >= 0)
				value[t->head[i]] = v * t->factor[i];
		}
		if (!q || q == p || (*q && *q != ' ' && *q != '\t'))
			return false;
		p = q;
	}
	if (*tg_scan_blanks(p))
		return false;
	tg_iostat_disk(&t->io, name, value);
	return true;
}

static bool take_line(struct text *t, const char *line)
{
	const char *p = tg_scan_blanks(line), *end;
	struct tg_stamp stamp;

	if (!*p)
		return true;
	if (tg_scan_starts(p, "Linux ")) {
		take_run(t, p);
		return true;
	}
	end = tg_civil_stamp(p, &stamp);
	if (end && !*tg_scan_blanks(end)) {
		t->stamp = stamp;
		t->stamped = t->ever_stamped = true;
		t->in_report = false;
		t->n_heads = 0;
		return true;
	}
	if (tg_scan_starts(p, "avg-cpu:")) {
		take_cpu_heads(t, p);
		return true;
	}
	if (t->cpu_comes) {
		t->cpu_comes = false;
		return take_cpu(t, p);
	}
	if (take_heads(t, p)) {
		/* the block of disks goes with that of processors above it */
		if (!t->in_report || (!t->n_cpu && !t->ever_stamped))
			begin_report(t);
		return true;
	}
	return t->n_heads && take_disk(t, p);
}

static void read_iostat(struct tg_logfile *log)
{
	struct text t = { .n_heads = 0 };
	const char *line;
	size_t len;

	tg_iostat_begin(&t.io, log);
	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log))
		if (!take_line(&t, line))
			log->n_skipped++;
	tg_iostat_end(&t.io);
}

/* "Linux RELEASE (HOST) \tDATE \t…", and somewhere below the heads of devices or processors. */
static bool looks(const char *head, size_t len)
{
	const char *line = strchr(head, '\n');

	(void)len;
	if (!tg_scan_starts(head, "Linux ") || !line || !memchr(head, '(', (size_t)(line - head)))
		return false;
	return strstr(line, "\nDevice") || strstr(line, "\navg-cpu:") || strstr(line, "%util") ||
	       strstr(line, " tps ");
}

const struct tg_log_format tg_format_iostat = {
	.tool = "iostat",
	.layout = { &tg_iostat_layout, &tg_iostat_cpu_layout },
	.looks = looks,
	.read = read_iostat,
	.report = tg_report_items,
	.csv = tg_csv_grid,
	.csv_kind = TG_IOSTAT_CSV,
};
