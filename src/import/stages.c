/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stages that a script has written down, with tabs or blanks between: seconds since 1970, begin or
 * end, and a name.
 *
 *  1796158421.628	begin	setup-cluster
 */
#include <math.h>

#include "base/clock.h"
#include "import/logfile.h"
#include "import/scan.h"

#include "base/mem.h"

/* A line as a stage whose name is borrowed. False: it is none. */
static bool scan_stage(const char *line, struct tg_log_stage *stage)
{
	const char *p, *end;
	double s;

	p = tg_scan_number(line, &s);
	if (!p || !(s >= 1e8) || !(s < 7e9))
		return false;
	p = tg_scan_blanks(p);
	end = tg_scan_word(p);
	stage->begin = tg_scan_is(p, end, "begin");
	if (!stage->begin && !tg_scan_is(p, end, "end"))
		return false;
	stage->name = (char *)tg_scan_blanks(end);
	stage->utc_ns = (int64_t)(s * 1e6 + 0.5) * 1000;
	return stage->name[0] != '\0';
}

static void read_stages(struct tg_logfile *log)
{
	struct tg_log_stage stage;
	const char *line;
	size_t len;

	while ((line = tg_bytes_line(&log->bytes, &len)) && !tg_logfile_is_cut(log)) {
		if (!*line || *line == '#')
			continue;
		if (!scan_stage(line, &stage) || log->n_stages == TG_LOG_LIST_MAX) {
			log->n_skipped++;
			continue;
		}
		stage.name = tg_xmemdup0(stage.name, strnlen(stage.name, TG_ITEM_NAME_MAX));
		TG_GROW(log->stage, log->n_stages + 1, log->cap_stages);
		log->stage[log->n_stages++] = stage;
	}
	log->n_samples = log->n_stages;
}

static bool looks(const char *head, size_t len)
{
	char line[512];
	struct tg_log_stage stage;
	size_t n = strcspn(head, "\r\n");

	(void)len;
	if (n >= sizeof(line))
		return false;
	memcpy(line, head, n);
	line[n] = '\0';
	return scan_stage(line, &stage);
}

const struct tg_log_format tg_format_stages = {
	.tool = "stages", .noun = "stage mark", .looks = looks, .read = read_stages
};
