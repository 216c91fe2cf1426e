/* SPDX-License-Identifier: BSD-3-Clause */
/* `chart`: one picture into a file, or onto the screen of a notebook. */
#include <errno.h>

#include "command/run.h"
#include "report/picture.h"

#include "base/mem.h"

static int write_chart(
	struct tg_command *c, const struct tg_chart *chart, const char *output, const char *input)
{
	struct tg_buf data = TG_BUF_INIT;
	int rc = TG_WORD_OK;

	if (tg_ends_with(output, ".svg")) {
		tg_chart_svg(chart, "tg1", &data);
	} else if (tg_ends_with(output, ".json")) {
		tg_chart_vega(chart, &data);
	} else if (tg_chart_png(chart, 2, &data, &c->err) < 0) {
		rc = TG_WORD_FAILED;
	}
	if (rc == TG_WORD_OK)
		rc = tg_write_result(c, output, input, data.data, data.len);
	if (rc == TG_WORD_OK)
		tg_tell_written(c, "Drawn", output);
	tg_buf_release(&data);
	return rc;
}

int tg_show_chart(struct tg_command *c, const struct tg_chart *chart)
{
	struct tg_buf vega = TG_BUF_INIT, png = TG_BUF_INIT, text = TG_BUF_INIT;
	struct tg_display display = { 0 };
	int rc = tg_chart_png(chart, 1, &png, &c->err);

	if (rc == 0) {
		tg_chart_vega(chart, &vega);
		tg_chart_text(chart, &text);
		display.vega = vega.data;
		display.text = text.data;
		display.png = png.data;
		display.png_len = png.len;
		c->out.show(c->out.ctx, &display);
	}
	tg_buf_release(&vega);
	tg_buf_release(&png);
	tg_buf_release(&text);
	return rc < 0 ? TG_WORD_FAILED : TG_WORD_OK;
}

static int check_output(struct tg_command *c, const char *output)
{
	if (!output && c->where == TG_IN_NOTEBOOK)
		return TG_WORD_OK;
	if (output && (tg_ends_with(output, ".svg") || tg_ends_with(output, ".png") ||
			      tg_ends_with(output, ".vl.json")))
		return TG_WORD_OK;
	tg_err_set(&c->err, -EINVAL,
		"Where to? Say -o with a name that ends in .svg, .png or "
		".vl.json");
	return TG_WORD_USAGE;
}

int tg_run_chart(struct tg_command *c, int argc, char **argv)
{
	const char *selection = NULL, *output = NULL, *panels = NULL, *smooth = "0";
	const struct tg_span **span = NULL;
	struct tg_picture picture = { 0 };
	struct tg_chart chart = { 0 };
	struct tg_recording *r = NULL;
	bool node = false;
	const struct tg_option option[] = {
		{ "span", 's', &selection, NULL },
		{ "panel", 'p', &panels, NULL },
		{ "smooth", 0, &smooth, NULL },
		{ "node", 0, NULL, &node },
		{ "output", 'o', &output, NULL },
	};
	int rc;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	if (argc > 2) {
		tg_err_set(&c->err, -EINVAL, "A chart shows one recording");
		return TG_WORD_USAGE;
	}
	rc = check_output(c, output);
	if (rc == TG_WORD_OK)
		rc = tg_take_smooth(c, smooth, &picture.smooth_s);
	if (rc == TG_WORD_OK)
		rc = tg_open(c, argc > 1 ? argv[1] : NULL, &r);
	if (rc != TG_WORD_OK)
		return rc;
	rc = tg_choose(c, r, selection, "all", &span, &picture.n_spans);
	if (rc == TG_WORD_FAILED && !selection)
		rc = tg_choose(c, r, NULL, "kind=run", &span, &picture.n_spans);
	picture.recording = r;
	picture.span = span;
	picture.panels = panels;
	picture.node = node;
	picture.buckets = output ? TG_PICTURE_BUCKETS : TG_PICTURE_BUCKETS_SAVED;
	if (rc == TG_WORD_OK) {
		int drawn = tg_picture_draw(&picture, &chart, &c->err);

		rc = drawn == -EINVAL ? TG_WORD_USAGE : drawn < 0 ? TG_WORD_FAILED : TG_WORD_OK;
	}
	if (rc == TG_WORD_OK)
		rc = output ? write_chart(c, &chart, output, r->path) : tg_show_chart(c, &chart);
	tg_tell_damage(c, r);
	tg_chart_free(&chart);
	free(span);
	tg_recording_close(r);
	return rc;
}
