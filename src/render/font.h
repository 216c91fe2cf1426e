/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one font, built into the executable (meson option `font`), so that a picture is the same on a
 * machine without fonts. fontconfig is never called. Used for measuring in all pictures and for
 * drawing in PNG. Characters that it lacks measure and draw as its box for missing glyphs.
 */
#ifndef TG_RENDER_FONT_H
#define TG_RENDER_FONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct tg_font;
struct FT_FaceRec_;

/* Never NULL. Where FreeType refuses the built-in file, widths are estimates and nothing draws. */
struct tg_font *tg_font_new(void);
void tg_font_free(struct tg_font *f);

/* FreeType's face, or NULL; borrowed. */
struct FT_FaceRec_ *tg_font_face(const struct tg_font *f);

/* Advance of one character, in units of the font size. */
double tg_font_advance(const struct tg_font *f, uint32_t cp, bool bold);

/* Width of a text in pixels at `size`. */
double tg_font_width(const struct tg_font *f, const char *s, double size, bool bold);

/*
 * Append `s` as one clean line of at most `width` pixels, cut with "…" where it is longer; nothing
 * when not even one character fits. Clean: bytes that are no UTF-8 become U+FFFD; control
 * characters, line separators and direction overrides become blanks (they could hide or reorder
 * what stands beside them, and XML forbids some). Reads no more of `s` than fits.
 */
void tg_font_fit(const struct tg_font *f, const char *s, double size, bool bold, double width,
	struct tg_buf *out);

/* The same cleaning for at most `most` characters, for places without a width. */
void tg_text_clean(const char *s, size_t most, struct tg_buf *out);

#endif
