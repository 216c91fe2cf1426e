/* SPDX-License-Identifier: BSD-3-Clause */
/* Named moments onto a canvas. */
#include <math.h>

#include "render/draw.h"

#include "base/mem.h"

void tg_flags_draw(const struct tg_layout *l, struct tg_canvas *cv)
{
	double bottom = l->panel[l->chart->n_panels - 1].bottom;
	struct tg_pen pen = { .ink = TG_INK_MUTED, .opacity = 0.6, .role = "flag" };

	cv->begin(cv, "flags", NULL);
	for (size_t i = 0; i < l->n_flags; i++) {
		const struct tg_flag_box *box = &l->flag[i];
		double top = l->flag_y + box->top;
		struct tg_label at = { .x = box->name_x,
			.y = l->flag_y + 11,
			.size = TG_SIZE_SMALL,
			.ink = TG_INK_TEXT,
			.anchor = box->left ? TG_ANCHOR_END : TG_ANCHOR_START };

		cv->rect(cv, floor(box->x - 0.5), top, 1, bottom - top, 0, &pen,
			l->chart->flag[box->of].name);
		if (box->name)
			cv->text(cv, &at, box->name);
	}
	cv->end(cv);
}
