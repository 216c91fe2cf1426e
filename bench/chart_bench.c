/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured half of bench/chart: six panels of N points each, bucketed to pixels, written as
 * SVG, PNG, Vega-Lite. Reads N doubles a panel (native, one panel after the other) from a file, so
 * that other programs draw the same. Prints one JSON object: CPU milliseconds, the best of
 * `repeat`, and bytes. Bucketing is part of each time. Usage: chart_bench FILE POINTS REPEAT FOLDER
 */
#include <fcntl.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "render/chart.h"

#include "base/mem.h"

#define PANELS  6
#define COLUMNS 900 /* buckets: one a pixel */
#define STEP    0.1 /* seconds between points */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fill_buckets(struct tg_series *s, const double *value, size_t n)
{
	s->n_buckets = TG_MIN((size_t)COLUMNS, n);
	s->bucket = tg_xcalloc(s->n_buckets, sizeof(*s->bucket));
	for (size_t i = 0; i < s->n_buckets; i++) {
		size_t from = i * n / s->n_buckets, to = (i + 1) * n / s->n_buckets;
		double min = value[from], max = min, sum = 0;

		for (size_t k = from; k < to; k++) {
			min = value[k] < min ? value[k] : min;
			max = value[k] > max ? value[k] : max;
			sum += value[k];
		}
		s->bucket[i] = (struct tg_bucket){ STEP * (double)from, STEP * (double)to, min, max,
			sum / (double)(to - from) };
	}
}

static void describe(struct tg_chart *c, const double *value, size_t n)
{
	static const struct {
		const char *title, *unit;
		enum tg_hue hue;
	} panel[PANELS] = { { "CPU", "cores", TG_HUE_CPU }, { "Memory", "GB", TG_HUE_MEMORY },
		{ "Disk read", "MB/s", TG_HUE_READ }, { "Disk write", "MB/s", TG_HUE_WRITE },
		{ "Network", "MB/s", TG_HUE_RECEIVE }, { "GPU", "%", TG_HUE_GPU } };

	*c = (struct tg_chart){ .t_end = STEP * (double)n };
	c->headline = tg_xstrdup("Six panels");
	c->x_label = tg_xstrdup("since the start");
	for (int i = 0; i < 8; i++)
		tg_chart_band(c, "[1] cell", c->t_end * i / 8, c->t_end * (i + 1) / 8, false);
	for (size_t i = 0; i < PANELS; i++) {
		struct tg_panel *p = tg_chart_panel(c, panel[i].title, panel[i].unit);

		fill_buckets(
			tg_panel_series(p, "mean", panel[i].hue, TG_STYLE_BAND), value + i * n, n);
	}
}

static int put_file(const char *folder, const char *name, const struct tg_buf *data)
{
	struct tg_buf path = TG_BUF_INIT;
	int fd, r = -1;

	tg_buf_addf(&path, "%s/%s", folder, name);
	fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0) {
		r = write(fd, data->data, data->len) == (ssize_t)data->len ? 0 : -1;
		close(fd);
	}
	tg_buf_release(&path);
	return r;
}

int main(int argc, char **argv)
{
	static const char *const name[] = { "svg", "png", "vega" };
	struct tg_buf out = TG_BUF_INIT;
	double *value;
	size_t n, size;
	long repeat;
	int fd;

	if (argc != 5)
		return 2;
	n = strtoul(argv[2], NULL, 10);
	repeat = strtol(argv[3], NULL, 10);
	size = PANELS * n * sizeof(*value);
	value = tg_xmalloc(size);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, value, size) != (ssize_t)size) {
		fprintf(stderr, "chart_bench: cannot read %zu bytes of %s\n", size, argv[1]);
		return 1;
	}
	close(fd);
	printf("{");
	for (int kind = 0; kind < 3; kind++) {
		double best = INFINITY;

		for (long i = 0; i < repeat; i++) {
			double start = cpu_ms();
			struct tg_chart c;

			tg_buf_clear(&out);
			describe(&c, value, n);
			if (kind == 0)
				tg_chart_svg(&c, "b", &out);
			else if (kind == 1 && tg_chart_png(&c, 1, &out, NULL))
				return 1;
			else if (kind == 2)
				tg_chart_vega(&c, &out);
			tg_chart_free(&c);
			best = fmin(best, cpu_ms() - start);
		}
		printf("%s\"%s\": {\"ms\": %.3f, \"bytes\": %zu}", kind ? ", " : "", name[kind],
			best, out.len);
		if (put_file(argv[4],
			    kind == 0   ? "bench.svg"
			    : kind == 1 ? "bench.png"
					: "bench.vl.json",
			    &out))
			return 1;
	}
	printf("}\n");
	tg_buf_release(&out);
	free(value);
	return 0;
}
