/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/font.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_ADVANCES_H

#include "base/utf8.h"

#include "base/mem.h"

/* from font.S */
extern const unsigned char tg_font_data[], tg_font_data_end[];

#define ELLIPSIS 0x2026

/* A bold line is the plain one with fatter strokes; each character takes this much more. */
#define BOLD_EXTRA 0.03

struct tg_font {
	FT_Library library;
	FT_Face face; /* NULL: the file is no font */
	double unit; /* 1 / units per em */
	double ascii[2][95]; /* advances of U+0020..U+007E, plain and bold */
};

static double measure(const struct tg_font *f, uint32_t cp, bool bold)
{
	FT_Fixed advance;

	if (!f->face ||
		FT_Get_Advance(f->face, FT_Get_Char_Index(f->face, cp), FT_LOAD_NO_SCALE, &advance))
		return 0.6;
	return (double)advance * f->unit + (bold ? BOLD_EXTRA : 0);
}

struct tg_font *tg_font_new(void)
{
	struct tg_font *f = tg_xcalloc(1, sizeof(*f));

	if (!FT_Init_FreeType(&f->library) &&
		!FT_New_Memory_Face(f->library, tg_font_data,
			(FT_Long)(tg_font_data_end - tg_font_data), 0, &f->face))
		f->unit = f->face->units_per_EM ? 1.0 / f->face->units_per_EM : 0;
	for (uint32_t i = 0; i < 95; i++) {
		f->ascii[0][i] = measure(f, 0x20 + i, false);
		f->ascii[1][i] = measure(f, 0x20 + i, true);
	}
	return f;
}

void tg_font_free(struct tg_font *f)
{
	if (!f)
		return;
	if (f->face)
		FT_Done_Face(f->face);
	if (f->library)
		FT_Done_FreeType(f->library);
	free(f);
}

struct FT_FaceRec_ *tg_font_face(const struct tg_font *f)
{
	return f->face;
}

double tg_font_advance(const struct tg_font *f, uint32_t cp, bool bold)
{
	return cp >= 0x20 && cp < 0x7f ? f->ascii[bold][cp - 0x20] : measure(f, cp, bold);
}

static uint32_t clean(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029)
		return ' ';
	if ((cp >= 0x200e && cp <= 0x200f) || (cp >= 0x202a && cp <= 0x202e) ||
		(cp >= 0x2066 && cp <= 0x2069))
		return ' ';
	return (cp & 0xfffe) == 0xfffe ? 0xfffd : cp; /* no characters, says Unicode; XML agrees */
}

/* The clean character at *s, which moves on. 0 at the end. */
static uint32_t next(const char **s)
{
	uint32_t cp = 0xfffd;
	size_t n;

	if (!**s)
		return 0;
	/* A NUL ends the text, so no more than four bytes are looked at. */
	n = tg_utf8_decode(*s, strnlen(*s, 4), &cp);
	*s += n ? n : 1;
	return clean(cp);
}

static void put(struct tg_buf *out, uint32_t cp)
{
	char bytes[4];

	tg_buf_add(out, bytes, tg_utf8_encode(cp, bytes));
}

double tg_font_width(const struct tg_font *f, const char *s, double size, bool bold)
{
	double w = 0;

	for (uint32_t cp; (cp = next(&s));)
		w += tg_font_advance(f, cp, bold);
	return w * size;
}

void tg_font_fit(const struct tg_font *f, const char *s, double size, bool bold, double width,
	struct tg_buf *out)
{
	double dots = tg_font_advance(f, ELLIPSIS, bold) * size;
	size_t cut = out->len; /* where "…" still fits */
	double w = 0;

	for (uint32_t cp; (cp = next(&s));) {
		double a = tg_font_advance(f, cp, bold) * size;

		if (w + a > width) {
			bool any = dots <= width;

			out->len = cut;
			while (any && out->len && out->data[out->len - 1] == ' ')
				out->len--;
			out->data[out->len] = '\0';
			if (any)
				put(out, ELLIPSIS);
			return;
		}
		w += a;
		put(out, cp);
		if (w + dots <= width)
			cut = out->len;
	}
}

void tg_text_clean(const char *s, size_t most, struct tg_buf *out)
{
	for (uint32_t cp; (cp = next(&s));) {
		if (!most--) {
			put(out, ELLIPSIS);
			return;
		}
		put(out, cp);
	}
}
