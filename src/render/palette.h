/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours by what they mean. A hue is one colour in light and dark, with a contrast of at least 3:1
 * on white and on #111 (a test computes it), so that a thin line is seen in either theme.
 */
#ifndef TG_RENDER_PALETTE_H
#define TG_RENDER_PALETTE_H

#include <stdint.h>

#include "render/chart.h"

enum tg_ink {
	TG_INK_HUE, /* TG_INK_HUE + enum tg_hue */
	TG_INK_FAILED = TG_INK_HUE + TG_HUE_OTHER + 1,
	TG_INK_TEXT, /* what is read first */
	TG_INK_MUTED, /* axis labels, notes, context */
	TG_INK_GRID, /* rules and shades; always with an opacity */
	TG_INK_BACK,
	TG_N_INKS,
};

/* Contrast of 4.25:1 on white and 4.44:1 on #111; no grey can have 4.5 on both. */
#define TG_GREY_BOTH "#777b82"

/* 0xRRGGBB for a light background, as PNG has it. */
uint32_t tg_ink_light(enum tg_ink ink);

/* 0xRRGGBB for a dark background; hues are the same. */
uint32_t tg_ink_dark(enum tg_ink ink);

/* "#rrggbb" of a hue. */
const char *tg_hue_hex(enum tg_hue hue);

#endif
