/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the sample charts as FOLDER/{chart,cells,devices}.{svg,vl.json,png,txt}, for the golden
 * files and for tests in other languages; the last from a recording. Usage: draw_sample FOLDER
 * [BUCKETS [WIDTH [SCALE]]]
 */
#include "sample_chart.h"

#include "run_devices.h"

#include <fcntl.h>

#include "analyze/select.h"
#include "report/picture.h"

#include "base/mem.h"

static bool put_file(const char *folder, const char *name, const struct tg_buf *data)
{
	struct tg_buf path = TG_BUF_INIT;
	bool ok = false;
	int fd;

	tg_buf_addf(&path, "%s/%s", folder, name);
	fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0) {
		ok = write(fd, data->data, data->len) == (ssize_t)data->len;
		ok = !close(fd) && ok;
	}
	if (!ok)
		fprintf(stderr, "draw_sample: cannot write %s\n", path.data);
	tg_buf_release(&path);
	return ok;
}

/* Writes FOLDER/NAME.{svg,vl.json,png,txt}; frees the chart. */
static bool draw(const char *folder, const char *name, struct tg_chart *c, double scale)
{
	static const char *const ending[] = { "svg", "vl.json", "txt", "png" };
	struct tg_err err;
	bool ok = true;

	for (size_t i = 0; i < TG_ARRAY_SIZE(ending); i++) {
		struct tg_buf out = TG_BUF_INIT;
		char file[32];

		snprintf(file, sizeof(file), "%s.%s", name, ending[i]);
		if (i == 0)
			tg_chart_svg(c, "tg1", &out);
		else if (i == 1)
			tg_chart_vega(c, &out);
		else if (i == 2)
			tg_chart_text(c, &out);
		else if (tg_chart_png(c, scale, &out, &err))
			fprintf(stderr, "draw_sample: %s\n", err.text);
		ok = put_file(folder, file, &out) && ok;
		tg_buf_release(&out);
	}
	tg_chart_free(c);
	return ok;
}

static bool devices_chart(struct tg_chart *c)
{
	const char *path = run_path("devices.tacho");
	struct tg_picture picture = { .panels = "cpu,run-queue,faults,disks,nfs,nfs-rtt,lustre,"
						"infiniband,power",
		.buckets = 100 };
	struct tg_select select = { 0 };
	const struct tg_span **span;
	struct tg_recording *r;
	struct tg_err err = { 0 };
	bool ok;

	devices_write(path);
	if (tg_recording_open(&r, path, &err) < 0 || tg_select_parse(&select, "all", &err) < 0)
		return false;
	picture.recording = r;
	picture.n_spans = (size_t)tg_select_spans(&select, r, &span, &err);
	picture.span = span;
	ok = tg_picture_draw(&picture, c, &err) == 0;
	free(span);
	tg_select_release(&select);
	tg_recording_close(r);
	unlink(path);
	rmdir(run_dir());
	return ok;
}

int main(int argc, char **argv)
{
	double scale = argc > 4 ? (double)strtol(argv[4], NULL, 10) : 1;
	int width = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
	struct tg_chart chart, cells, devices;

	if (argc < 2)
		return 2;
	sample_chart(&chart, argc > 2 ? strtoul(argv[2], NULL, 10) : 310);
	sample_cells(&cells);
	if (!devices_chart(&devices))
		return 1;
	chart.width = cells.width = devices.width = width;
	return draw(argv[1], "chart", &chart, scale) && draw(argv[1], "cells", &cells, scale) &&
			       draw(argv[1], "devices", &devices, scale)
		       ? 0
		       : 1;
}
