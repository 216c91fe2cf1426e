/* SPDX-License-Identifier: BSD-3-Clause */
/* A PNG file of 8-bit palette pixels (ISO 15948), nothing else. */
#ifndef TG_RENDER_PNG_FILE_H
#define TG_RENDER_PNG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TG_PNG_COLOURS 64

/*
 * Append the file. `pixel` has width * height palette indices, `colour` is 0xRRGGBB, `density` in
 * pixels per metre. Blocking: deflate of the pixels.
 */
void tg_png_write(struct tg_buf *out, const uint8_t *pixel, uint32_t width, uint32_t height,
	const uint32_t *colour, size_t n_colours, uint32_t density);

/*
 * Turn 0xXXRRGGBB pixels into at most TG_PNG_COLOURS colours: those of `keep` that occur, exactly,
 * and the most frequent shades of six bits a channel; the others go to the nearest. Returns how
 * many; fills `index` (one a pixel) and `colour` (room for TG_PNG_COLOURS). n_keep is at most that.
 */
size_t tg_png_quantize(const uint32_t *rgb, size_t n, const uint32_t *keep, size_t n_keep,
	uint8_t *index, uint32_t *colour);

#endif
