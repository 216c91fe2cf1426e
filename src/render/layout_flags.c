/* SPDX-License-Identifier: BSD-3-Clause */
/* Named moments: where their lines are, and which names there is room for. */
#include <math.h>

#include "render/layout.h"

#include "base/mem.h"

#define NAME_MOST  240 /* a longer one would keep many others out */
#define NAME_LEAST 24 /* less of one that must be cut says nothing */

bool tg_flag_is_drawn(const struct tg_flag *f, double t_end)
{
	return isfinite(f->t) && f->t >= 0 && f->t <= t_end;
}

/* Right of its line; left, where it would end beyond the plots; else what fits of it. */
static void place_name(
	struct tg_layout *l, struct tg_flag_box *box, const char *name, double *taken)
{
	double right = l->right - box->x - TG_FLAG_GAP, left = box->x - TG_FLAG_GAP - l->left;
	double most = fmin(NAME_MOST, fmax(right, left)), width, start;
	struct tg_buf text = TG_BUF_INIT;

	if (most >= NAME_LEAST)
		tg_font_fit(l->font, name, TG_SIZE_SMALL, false, most, &text);
	width = tg_font_width(l->font, text.data, TG_SIZE_SMALL, false);
	box->left = width > right;
	start = box->left ? box->x - TG_FLAG_GAP - width : box->x + TG_FLAG_GAP;
	box->name_x = box->left ? start + width : start;
	if (text.len && start >= *taken) {
		box->name = tg_buf_detach(&text);
		*taken = start + width + TG_FLAG_GAP;
	}
	tg_buf_release(&text);
}

double tg_layout_flags(struct tg_layout *l, double y)
{
	const struct tg_chart *c = l->chart;
	double taken = 0;

	if (!c->n_panels)
		return y;
	l->flag = tg_xcalloc(c->n_flags, sizeof(*l->flag));
	for (size_t i = 0; i < c->n_flags; i++) {
		struct tg_flag_box *box = &l->flag[l->n_flags];

		if (!tg_flag_is_drawn(&c->flag[i], l->t_end))
			continue;
		*box = (struct tg_flag_box){ .of = i, .x = tg_layout_x(l, c->flag[i].t) };
		place_name(l, box, c->flag[i].name ? c->flag[i].name : "", &taken);
		box->top = box->name ? 0 : TG_FLAG_HEIGHT - TG_FLAG_TICK;
		l->n_flags++;
	}
	if (!l->n_flags)
		return y;
	l->flag_y = y + 6;
	return l->flag_y + TG_FLAG_HEIGHT;
}

void tg_layout_flags_release(struct tg_layout *l)
{
	for (size_t i = 0; i < l->n_flags; i++)
		free(l->flag[i].name);
	free(l->flag);
}
