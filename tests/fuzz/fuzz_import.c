/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a log: read by the format that is named by the first byte, whether or not they look
 * like it; dated, reported, written as a recording.
 */
#include <stdint.h>
#include <unistd.h>

#include "import/import.h"
#include "import/walk.h"
#include "import/write.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Ticks rise, and every row of the log is found again by walking, at its place. */
static void check(const struct tg_readings *g)
{
	struct tg_walk w;
	uint32_t ticks = 0;

	for (uint32_t i = 1; i < g->n_ticks; i++)
		require(g->tick[i].utc_ns >= g->tick[i - 1].utc_ns);
	tg_walk_begin(&w, g);
	while (tg_walk_next(&w)) {
		require(w.tick == ticks++);
		for (size_t i = 0; i < w.n; i++) {
			const struct tg_log_item *item = &g->item[w.row[i].item];
			double place = w.row[i].value[g->n_columns];

			require(place == TG_ASIDE || (size_t)place == i);
			require(item->first <= w.tick && w.tick <= item->last);
		}
	}
	require(ticks == g->n_ticks);
	tg_walk_end(&w);
}

static void write_recording(const struct tg_import *im)
{
	struct tg_buf left_out = TG_BUF_INIT;
	struct tg_err err = { 0 };
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/dev/shm/tg-fuzz-import-%d.tacho", (int)getpid());
	unlink(path);
	r = tg_import_write(im, path, "fuzz", &left_out, &err);
	require(r == 0 || err.text[0]);
	unlink(path);
	tg_buf_release(&left_out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tg_import_options options = { .zone = "CET-1CEST,M3.5.0,M10.5.0/3",
		.match = "a" };
	const struct tg_log_format *const *format;
	struct tg_buf report = TG_BUF_INIT;
	struct tg_import *im;
	size_t n;

	format = tg_formats(&n);
	if (!size || data[0] - 'a' >= (int)n || data[0] < 'a')
		return 0;
	require(tg_import_new(&im, &options, NULL) == 0);
	tg_import_add_as(im, format[data[0] - 'a'], "log", data + 1, size - 1);
	tg_import_add_bytes(im, "other", data + 1, size - 1, NULL);
	tg_import_settle(im);
	for (size_t i = 0; i < im->n; i++) {
		for (size_t p = 0; p < im->log[i]->n_parts; p++)
			check(&im->log[i]->part[p].grid);
		if (im->log[i]->has_processes)
			check(&im->log[i]->processes.grid);
	}
	tg_import_report(im, &report);
	write_recording(im);
	tg_buf_release(&report);
	tg_import_free(im);
	return 0;
}
