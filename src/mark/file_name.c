/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/file_name.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "mark/batch.h"
#include "mark/protocol.h"

#include "base/mem.h"

#define NAME_MAX_BYTES 100
#define JOB_MAX_BYTES  40

/* UTF-8 without control characters and slashes. */
static void add_name(struct tg_buf *out, const char *name, size_t len, size_t max)
{
	len = tg_mark_cut(name, len, max);
	for (size_t n; len > 0; name += n, len -= n) {
		uint32_t cp;

		n = tg_utf8_decode(name, len, &cp);
		if (n && cp >= 0x20 && cp != 0x7f && cp != '/')
			tg_buf_add(out, name, n);
		else
			tg_buf_addc(out, '_');
		n = n ? n : 1;
	}
}

/* Of a task of an array the array's id and the index, as the batch system shows them. */
static void add_job(struct tg_buf *out)
{
	struct tg_batch b;

	tg_batch_find(&b);
	if (!b.system)
		return;
	tg_buf_addc(out, '-');
	add_name(out, b.job, strlen(b.job), JOB_MAX_BYTES);
	if (b.index) {
		tg_buf_addc(out, '_');
		add_name(out, b.index, strlen(b.index), JOB_MAX_BYTES);
	}
}

void tg_mark_file_name(struct tg_buf *out, const char *name, size_t len, bool job)
{
	time_t now = (time_t)(tg_real_ns() / TG_NS_PER_S);
	char host[65] = "", date[32];
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	add_name(out, name, len, NAME_MAX_BYTES);
	tg_buf_addc(out, '-');
	add_name(out, host, strlen(host), sizeof(host));
	if (job)
		add_job(out);
	tg_buf_addf(out, "-%s.tacho", date);
}
