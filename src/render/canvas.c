/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/canvas.h"

#include "base/mem.h"

double tg_canvas_fit(struct tg_canvas *cv, const struct tg_font *font, const struct tg_label *at,
	const char *s, double width)
{
	struct tg_buf text = TG_BUF_INIT;
	double w = 0;

	if (s)
		tg_font_fit(font, s, at->size, at->bold, width, &text);
	if (text.len) {
		w = tg_font_width(font, text.data, at->size, at->bold);
		cv->text(cv, at, text.data);
	}
	tg_buf_release(&text);
	return w;
}
