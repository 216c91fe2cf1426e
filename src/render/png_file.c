/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/png_file.h"

#include <zlib.h>

#include "base/mem.h"

#define SLOTS_BITS 15
#define SLOTS      (1u << SLOTS_BITS)
/* A picture of some lines has a thousand shades; beyond this, new ones go to the nearest. */
#define SLOTS_USED (SLOTS / 2)
/* Blends that differ in less than these bits are one shade: nobody sees it, and all is faster. */
#define SHADE 0xfcfcfcu
#define LEVEL 8 /* of zlib: 9 takes more than twice the time for one per cent */

struct slot {
	uint32_t rgb;
	uint32_t count; /* 0: free */
	uint32_t index;
};

static void put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static void put_chunk(struct tg_buf *out, const char *type, const void *data, size_t len)
{
	unsigned char n[4];
	uLong crc = crc32(crc32(0, (const Bytef *)type, 4), data, (uInt)len);

	put32(n, (uint32_t)len);
	tg_buf_add(out, n, 4);
	tg_buf_add(out, type, 4);
	tg_buf_add(out, data, len);
	put32(n, (uint32_t)crc);
	tg_buf_add(out, n, 4);
}

void tg_png_write(struct tg_buf *out, const uint8_t *pixel, uint32_t width, uint32_t height,
	const uint32_t *colour, size_t n_colours, uint32_t density)
{
	unsigned char head[13] = { [8] = 8, [9] = 3 }; /* 8 bits, palette */
	unsigned char phys[9] = { [8] = 1 }; /* per metre */
	unsigned char plte[3 * TG_PNG_COLOURS];
	size_t line = (size_t)width + 1;
	unsigned char *raw = tg_xmalloc(line * height), *packed;
	uLongf n_packed = compressBound(line * height);

	tg_buf_add(out, "\x89PNG\r\n\x1a\n", 8);
	put32(head, width);
	put32(head + 4, height);
	put_chunk(out, "IHDR", head, sizeof(head));
	for (size_t i = 0; i < n_colours; i++) {
		plte[3 * i] = (unsigned char)(colour[i] >> 16);
		plte[3 * i + 1] = (unsigned char)(colour[i] >> 8);
		plte[3 * i + 2] = (unsigned char)colour[i];
	}
	put_chunk(out, "PLTE", plte, 3 * n_colours);
	put32(phys, density);
	put32(phys + 4, density);
	put_chunk(out, "pHYs", phys, sizeof(phys));

	for (size_t y = 0; y < height; y++) {
		raw[y * line] = 0; /* filter: none, the best for palettes */
		memcpy(raw + y * line + 1, pixel + y * width, width);
	}
	packed = tg_xmalloc(n_packed);
	/* Cannot fail: the room is compressBound() and zlib's own memory is small. */
	if (compress2(packed, &n_packed, raw, line * height, LEVEL) != Z_OK)
		n_packed = 0;
	put_chunk(out, "IDAT", packed, n_packed);
	put_chunk(out, "IEND", "", 0);
	free(packed);
	free(raw);
}

/* The slot of a shade; its `rgb` is the first colour that came. */
static struct slot *find(struct slot *table, uint32_t rgb)
{
	uint32_t i = ((rgb & SHADE) * 2654435761u) >> (32 - SLOTS_BITS);

	while (table[i].count && ((table[i].rgb ^ rgb) & SHADE))
		i = (i + 1) & (SLOTS - 1);
	return &table[i];
}

static int by_count(const void *a, const void *b)
{
	const struct slot *p = *(struct slot *const *)a, *q = *(struct slot *const *)b;

	if (p->count != q->count)
		return p->count < q->count ? 1 : -1;
	return p->rgb < q->rgb ? -1 : p->rgb > q->rgb;
}

static uint32_t nearest(uint32_t rgb, const uint32_t *colour, size_t n)
{
	uint32_t best = 0;
	int least = 1 << 20;

	for (size_t i = 0; i < n; i++) {
		int r = (int)(rgb >> 16 & 255) - (int)(colour[i] >> 16 & 255);
		int g = (int)(rgb >> 8 & 255) - (int)(colour[i] >> 8 & 255);
		int b = (int)(rgb & 255) - (int)(colour[i] & 255);
		int d = 2 * r * r + 4 * g * g + 3 * b * b;

		if (d < least) {
			least = d;
			best = (uint32_t)i;
		}
	}
	return best;
}

size_t tg_png_quantize(const uint32_t *rgb, size_t n, const uint32_t *keep, size_t n_keep,
	uint8_t *index, uint32_t *colour)
{
	struct slot *table = tg_xcalloc(SLOTS, sizeof(*table));
	struct slot **used = tg_xcalloc(SLOTS_USED, sizeof(struct slot *));
	size_t n_used = 0, n_colours;

	for (size_t i = 0; i < n_keep; i++) {
		struct slot *s = find(table, keep[i]);

		if (!s->count)
			used[n_used++] = s;
		s->rgb = keep[i];
		s->count = 1;
	}
	for (size_t i = 0; i < n;) {
		uint32_t c = rgb[i] & 0xffffff;
		size_t run = i + 1;
		struct slot *s = find(table, c);

		while (run < n && (rgb[run] & 0xffffff) == c)
			run++;
		if (!s->count && n_used < SLOTS_USED) {
			s->rgb = c;
			used[n_used++] = s;
			s->count = 1;
		}
		if (s->count)
			s->count += (uint32_t)(run - i);
		i = run;
	}
	for (size_t i = 0; i < n_keep; i++) {
		struct slot *s = find(table, keep[i]);

		s->count = s->count > 1 ? UINT32_MAX : 0;
	}
	qsort(used, n_used, sizeof(struct slot *), by_count);
	while (n_used && !used[n_used - 1]->count)
		n_used--; /* kept for nothing */
	n_colours = TG_MIN(n_used, TG_PNG_COLOURS);
	for (size_t i = 0; i < n_colours; i++)
		colour[i] = used[i]->rgb;
	for (size_t i = 0; i < n_used; i++)
		used[i]->index =
			(uint32_t)(i < n_colours ? i : nearest(used[i]->rgb, colour, n_colours));
	for (size_t i = 0; i < n;) {
		uint32_t c = rgb[i] & 0xffffff;
		struct slot *s = find(table, c);
		uint8_t k = (uint8_t)(s->count ? s->index : nearest(c, colour, n_colours));

		do
			index[i++] = k;
		while (i < n && (rgb[i] & 0xffffff) == c);
	}
	free(used);
	free(table);
	return n_colours;
}
