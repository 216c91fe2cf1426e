/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the sample chart as FOLDER/chart.{svg,vl.json,png,txt}, for the golden files and for tests
 * in other languages. Usage: draw_sample FOLDER [BUCKETS [WIDTH [SCALE]]]
 */
#include "sample_chart.h"

#include <fcntl.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
	struct tg_buf svg = TG_BUF_INIT, vega = TG_BUF_INIT, png = TG_BUF_INIT, text = TG_BUF_INIT;
	struct tg_chart c;
	struct tg_err err;
	bool ok;

	if (argc < 2)
		return 2;
	sample_chart(&c, argc > 2 ? strtoul(argv[2], NULL, 10) : 310);
	c.width = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
	tg_chart_svg(&c, "tg1", &svg);
	tg_chart_vega(&c, &vega);
	tg_chart_text(&c, &text);
	if (tg_chart_png(&c, argc > 4 ? (double)strtol(argv[4], NULL, 10) : 1, &png, &err)) {
		fprintf(stderr, "draw_sample: %s\n", err.text);
		return 1;
	}
	ok = put_file(argv[1], "chart.svg", &svg) && put_file(argv[1], "chart.vl.json", &vega) &&
	     put_file(argv[1], "chart.png", &png) && put_file(argv[1], "chart.txt", &text);
	tg_buf_release(&svg);
	tg_buf_release(&vega);
	tg_buf_release(&png);
	tg_buf_release(&text);
	tg_chart_free(&c);
	return ok ? 0 : 1;
}
