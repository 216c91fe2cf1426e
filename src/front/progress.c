/* SPDX-License-Identifier: BSD-3-Clause */
#include "front/progress.h"

#include <math.h>
#include <unistd.h>

#include "analyze/recording.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/format.h"

#include "base/mem.h"

#define STAGE_CHARS 24

static bool is_ours(const struct tg_progress *p)
{
	return p->fd >= 0 && tcgetpgrp(p->fd) == getpgrp();
}

/* " · 12 MB/s read" where there is something to say. */
static void add_rate(
	struct tg_buf *line, const struct tg_json *answer, const char *key, const char *what)
{
	double per_s = tg_json_num(tg_json_get(answer, key), NAN);

	if (!(per_s >= 1))
		return;
	tg_buf_adds(line, " · ");
	tg_fmt_bytes(line, per_s);
	tg_buf_addf(line, "/s %s", what);
}

void tg_progress_show(struct tg_progress *p, const struct tg_json *answer)
{
	const char *stage = tg_json_str(tg_json_get(answer, "stage"), NULL);
	double cores = tg_json_num(tg_json_get(answer, "cores"), NAN);
	double memory = tg_json_num(tg_json_get(answer, "memory"), NAN);
	int64_t whole_s = (tg_mono_ns() - p->begin_ns) / TG_NS_PER_S;
	struct tg_buf line = TG_BUF_INIT;

	if (!is_ours(p) || (isnan(cores) && isnan(memory)))
		return;
	tg_buf_adds(&line, "\r\033[K");
	tg_fmt_seconds(&line, (double)whole_s);
	if (stage) {
		tg_buf_adds(&line, " · ");
		tg_plain(&line, stage, STAGE_CHARS);
	}
	if (!isnan(cores)) {
		tg_buf_adds(&line, " · ");
		tg_fmt_cores(&line, cores);
	}
	if (!isnan(memory)) {
		tg_buf_adds(&line, " · ");
		tg_fmt_bytes(&line, memory);
	}
	add_rate(&line, answer, "read_per_s", "read");
	add_rate(&line, answer, "write_per_s", "written");
	tg_buf_addc(&line, '\r');
	p->shown = true;
	tg_file_write_all(p->fd, line.data, line.len);
	tg_buf_release(&line);
}

void tg_progress_clear(struct tg_progress *p)
{
	if (p->shown && is_ours(p))
		tg_file_write_all(p->fd, "\r\033[K", 4);
	p->shown = false;
}

void tg_progress_release(struct tg_progress *p)
{
	tg_progress_clear(p);
}
