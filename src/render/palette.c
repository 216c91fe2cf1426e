/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/palette.h"

#include "base/mem.h"

/* After Okabe and Ito, whose orange and sky blue are too light for lines on white: darkened. */
static const struct {
	uint32_t light, dark;
	const char *hex;
} inks[TG_N_INKS] = {
	[TG_INK_HUE + TG_HUE_CPU] = { 0x1a79b7, 0x1a79b7, "#1a79b7" },
	[TG_INK_HUE + TG_HUE_MEMORY] = { 0x00916a, 0x00916a, "#00916a" },
	[TG_INK_HUE + TG_HUE_READ] = { 0x1f8fc4, 0x1f8fc4, "#1f8fc4" },
	[TG_INK_HUE + TG_HUE_WRITE] = { 0xc07a00, 0xc07a00, "#c07a00" },
	[TG_INK_HUE + TG_HUE_RECEIVE] = { 0xb0508f, 0xb0508f, "#b0508f" },
	[TG_INK_HUE + TG_HUE_SEND] = { 0x8a7a00, 0x8a7a00, "#8a7a00" },
	[TG_INK_HUE + TG_HUE_GPU] = { 0xd55e00, 0xd55e00, "#d55e00" },
	[TG_INK_HUE + TG_HUE_OTHER] = { 0x777b82, 0x777b82, TG_GREY_BOTH },
	[TG_INK_FAILED] = { 0xd1383d, 0xd1383d, "#d1383d" },
	[TG_INK_TEXT] = { 0x24292f, 0xe4e7eb, "#24292f" },
	[TG_INK_MUTED] = { 0x5c636b, 0xa3aab3, "#5c636b" },
	[TG_INK_GRID] = { 0x5c636b, 0xa3aab3, "#5c636b" },
	[TG_INK_BACK] = { 0xffffff, 0x16181b, "#ffffff" },
};

uint32_t tg_ink_light(enum tg_ink ink)
{
	return inks[ink].light;
}

uint32_t tg_ink_dark(enum tg_ink ink)
{
	return inks[ink].dark;
}

const char *tg_hue_hex(enum tg_hue hue)
{
	return inks[TG_INK_HUE + (unsigned)hue].hex;
}
