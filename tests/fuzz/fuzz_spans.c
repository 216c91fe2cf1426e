/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of a recording, as what analyzes them gets them: the input is their lines, put into a
 * recording with a few rows. Every span is summed up, every bin filled.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/moments.h"
#include "analyze/series.h"
#include "analyze/totals.h"
#include "export/export.h"
#include "record/writer.h"

#include "base/mem.h"

#define LINES_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int forget(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

static void write_rows(struct tg_writer *w)
{
	static const struct tg_metric metric[] = {
		{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	};
	const struct tg_column column[] = { { &metric[0], "" }, { &metric[1], "" } };
	struct tg_block *b = tg_block_new(tg_writer_next_table(w), 2, 16);

	tg_writer_table(w, b->table, "main", column, 2);
	for (int64_t i = 0; i < 16; i++)
		tg_block_add(b, i * 100000000, (int64_t[]){ i * i * 1000, 1000 - i * i });
	tg_writer_block(w, b);
	tg_block_free(b);
}

static void use(struct tg_recording *r)
{
	const struct tg_span **span = tg_xcalloc(r->n_spans + 1, sizeof(*span));
	struct tg_export e = { .recording = r, .span = span, .sink = { forget, NULL } };
	struct tg_buf label = TG_BUF_INIT;
	struct tg_totals totals;

	for (size_t i = 0; i < r->n_spans && i < 16; i++) {
		if (tg_totals_of(r, &r->span[i], &totals) < 0)
			abort();
		if (r->span[i].end_ns < r->span[i].begin_ns || totals.wall_s < 0)
			abort();
		tg_span_label(&r->span[i], &label);
		span[e.n_spans++] = &r->span[i];
	}
	for (size_t i = 0; i < r->n_moments && i < 16; i++)
		tg_moment_label(&r->moment[i], &label);
	tg_export_summary(&e, NULL);
	tg_export_csv(&e, NULL);
	tg_export_json(&e, NULL);
	tg_recording_only_run(r, -1);
	tg_buf_release(&label);
	free(span);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_recording *r = NULL;
	struct tg_reader *reader;
	struct tg_writer *w;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), copy = dup(fd);

	if (fd < 0 || copy < 0 || size > LINES_MAX)
		goto out;
	if (tg_writer_open_fd(&w, fd, "{\"host\":\"a\"}", NULL) < 0)
		goto out;
	write_rows(w);
	tg_writer_events(w, (const char *)data, size);
	tg_writer_finish(w);
	fd = -1;
	if (tg_reader_open_fd(&reader, copy, "fuzz", NULL) < 0) {
		copy = -1;
		goto out;
	}
	copy = -1;
	if (tg_recording_load(&r, reader, "fuzz", NULL) == 0)
		use(r);
	tg_recording_close(r);
out:
	if (fd >= 0)
		close(fd);
	if (copy >= 0)
		close(copy);
	return 0;
}
