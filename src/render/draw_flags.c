/* SPDX-License-Identifier: BSD-3-Clause */
/* Named moments onto a canvas. */
#include <math.h>

#include "render/draw.h"

#include "base/mem.h"

void tg_flags_draw(const struct tg_layout *l, struct tg_canvas *cv)
{
	struct tg_pen pen = { .ink = TG_INK_MUTED, .opacity = 0.6, .role = "flag" };

	cv->begin(cv, "flags", NULL);
	for (size_t i = 0; i < l->n_flags; i++) {
		const struct tg_flag_box *box = &l->flag[i];
		const char *name = l->chart->flag[box->of].name;
		double x = floor(box->x - 0.5);
		struct tg_label at = { .x = box->name_x,
			.y = l->flag_y + 11,
			.size = TG_SIZE_SMALL,
			.ink = TG_INK_TEXT,
			.anchor = box->left ? TG_ANCHOR_END : TG_ANCHOR_START };

		cv->rect(cv, x, l->flag_y + box->top, 1, TG_FLAG_HEIGHT - box->top, 0, &pen, name);
		/* not through the titles between them */
		for (size_t k = 0; k < l->chart->n_panels; k++)
			cv->rect(cv, x, l->panel[k].top, 1, l->panel[k].bottom - l->panel[k].top, 0,
				&pen, name);
		if (box->name)
			cv->text(cv, &at, box->name);
	}
	cv->end(cv);
}
